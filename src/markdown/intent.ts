import { type Intent, proofStep, wrongSentence } from '../model/intent.ts'
import type { PlanStep, StepError } from '../model/plan-step.ts'
import type { PlanScope } from '../model/scope.ts'
import { lineAt, linesOf } from './lines.ts'
import type { PlanFront, ScopeReading } from './plan-scope.ts'
import { type YamlValue, yamlText } from './yaml-scalar.ts'

/** Writes an intent as the text of a plan. */
export function intentPlan({ intent, paths, commands, proof }: Intent): string {
  const lists = Object.entries({ paths, commands, proof }).map(([key, entries]) =>
    entries.length === 0 ? `${key}: []` : [`${key}:`, ...entries.map(item)].join('\n'),
  )
  return ['---', ...lists, '---', '', intent.trim().replace(/\s+/g, ' ')].join('\n')
}

const item = (entry: YamlValue) => `  - ${yamlText(entry)}`

export interface IntentReading {
  intent: Intent
  scope: PlanScope
  steps: PlanStep[]
  errors: StepError[]
}

/** Reads a plan as an intent: one whose frontmatter has the key `proof`. Null if it is another plan. */
export function readIntent(
  plan: string,
  front: PlanFront,
  { scope, proof, errors }: ScopeReading,
): IntentReading | null {
  if (proof === null) return null
  const sentence = plan.slice(front.end).trim().replace(/\r\n?/g, '\n')
  const intent = {
    intent: sentence,
    paths: scope.paths ?? [],
    commands: scope.commands ?? [],
    proof: [...new Set(proof.entries)],
  }
  const wrong = wrongSentence(sentence)
  const body = lineAt(plan, front.end + /^\s*/.exec(plan.slice(front.end))![0].length)
  const found = [
    ...errors,
    ...front.others.map(({ name, line }) => ({
      line,
      message: `"${name}" has no meaning in an intent: its keys are paths, commands and proof`,
    })),
    ...(wrong === null ? [] : [{ line: body, message: wrong }]),
  ]
  if (intent.paths.length + intent.commands.length + intent.proof.length === 0) {
    found.push({ line: 1, message: 'the intent allows nothing: name paths or commands' })
  }
  const lines = [...linesOf(plan)].map(({ text }) => text)
  const steps = intent.proof.map((command, at) => {
    const line = lines.findIndex((text, index) => index >= proof.line - 1 && text.includes(command))
    const id = intent.proof.length === 1 ? 'proof' : `proof-${at + 1}`
    return proofStep(command, line < 0 ? proof.line : line + 1, id)
  })
  const allowed = { paths: intent.paths, commands: [...intent.commands, ...intent.proof] }
  return { intent, scope: allowed, steps, errors: found.sort((a, b) => a.line - b.line) }
}
