import type { PlanStep } from './plan-step.ts'

/**
 * The smallest plan: what should be done in one sentence, and its limits. Unlike in other plans, nothing is allowed
 * that is not named: what is not in `paths` may not be written, and beside `commands` only what reads may run.
 */
export interface Intent {
  intent: string
  /** Globs, relative to the working folder. */
  paths: readonly string[]
  /** The first words of the commands that may run. Those of `proof` may run, too. */
  commands: readonly string[]
  /** Commands that the service runs when the agent stops. */
  proof: readonly string[]
}

export const MAX_INTENT = 500

/** A command of `proof`, as a step. */
export function proofStep(command: string, line: number, id: string): PlanStep {
  return {
    id,
    language: 'sh',
    script: command,
    timeoutMs: null,
    cwd: '.',
    expect: [0],
    continue: false,
    proof: 'test',
    baseline: false,
    line,
    isEntry: true,
  }
}

const BLOCK =
  /^ {0,3}(?:#{1,6}(?:\s|$)|[-*+]\s|\d+[.)]\s|>|```|~~~|<|\||[=-]{3,}\s*$|!\[)|^ {4}|^\t/m

/** Why a text cannot be the sentence of an intent; null if it can. */
export function wrongSentence(text: string): string | null {
  if (text === '') return 'say in one sentence what should be done'
  if (/\n[ \t]*\n/.test(text) || BLOCK.test(text)) {
    return 'an intent is one sentence below its frontmatter, and nothing else: for more, write a plan without proof: and put each check into a block "sh run proof=test"'
  }
  return text.length > MAX_INTENT
    ? `at most ${MAX_INTENT} characters are allowed in an intent`
    : null
}
