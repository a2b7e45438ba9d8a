import { cutSteps } from '../markdown/cut-step.ts'
import { trimLines } from '../markdown/lines.ts'
import { isStep, mayHaveSteps, nearSteps } from '../markdown/near-step.ts'
import { outline } from '../markdown/outline.ts'
import { parsedMarkdown } from '../markdown/parser-pool.ts'
import { fenceFor } from '../markdown/sections.ts'
import { RUNBOOK_FILE } from '../model/memory-name.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import type { PlanRequest, PlanResult } from './contract.ts'
import { findTests, type ProjectTests } from './project-tests.ts'

/** What a plan without an agent can be made from. */
export interface RunbookParts {
  /** The text of the case's runbook.md; undefined if it has none. */
  runbook: string | undefined
  description: string
  /** The steps of casefile.md. */
  steps: readonly string[]
}

export type RunbookSource = 'runbook' | 'description' | 'steps'

/** A plan from the first of these that exists; null if there is nothing to plan with. */
export async function findRunbook({
  runbook,
  description,
  steps,
}: RunbookParts): Promise<{ source: RunbookSource; plan: string } | null> {
  const written = trimLines(runbook ?? '')
  if (written !== '') return { source: 'runbook', plan: await withoutHypothesis(written) }
  const fences = await fencesOf(description)
  if (fences !== null) return { source: 'description', plan: fences }
  return steps.length > 0 ? { source: 'steps', plan: stepsPlan(steps) } : null
}

/** Makes a plan without an agent. If there is nothing to plan with, the plan says so and has no steps. */
export async function planRunbook(request: PlanRequest): Promise<PlanResult> {
  const { description, id } = request.case
  const runbook = request.memory.get(RUNBOOK_FILE)
  const found = await findRunbook({ runbook, description, steps: request.steps })
  const stated = (await statedHypothesis(runbook ?? '')) ?? (await statedHypothesis(description))
  if (found === null) {
    const tests = await findTests(request.workdir, { tests: request.tests ?? null })
    return { hypothesis: stated ?? NO_PLAN_HYPOTHESIS, plan: nothingToPlan(id, tests) }
  }
  return {
    hypothesis: stated ?? noHypothesis(PLAN_SOURCES[found.source]),
    plan: found.plan,
  }
}

/** What a session has for a hypothesis if the text that its plan comes from states none. */
export function noHypothesis(source: string): string {
  return `No hypothesis: the plan comes from ${source}.`
}

/** What people call where a plan comes from. */
export const PLAN_SOURCES: Record<RunbookSource, string> = {
  runbook: RUNBOOK_FILE,
  description: "the case's description",
  steps: `the steps in ${SETTINGS_FILE}`,
}

/** Names what the plan of a session was made from, without an agent. `files` are those that it was planned with. */
export function sourceOfPlan(files: unknown, plan: string): string {
  if (Array.isArray(files) && files.includes(RUNBOOK_FILE)) return PLAN_SOURCES.runbook
  return plan.startsWith(STEPS_INTRODUCTION) ? PLAN_SOURCES.steps : PLAN_SOURCES.description
}

const STEPS_INTRODUCTION = `Run the steps from ${SETTINGS_FILE}.`

const NO_PLAN_HYPOTHESIS = 'None: there is nothing to plan with.'

function nothingToPlan(id: string, tests: ProjectTests | null): string {
  const name = id.slice(0, 8)
  return [
    'Nothing to plan with: the case has no runbook.md, its description has no `run` fences, and casefile.md has no `steps`. Approving this runs nothing. What you can do:',
    `- Let an agent plan: set one up with \`casefile init --agent claude\`, then \`casefile start ${name}\`.`,
    `- Write the steps yourself: put a runbook.md into the folder of the case, then \`casefile start ${name}\`.`,
    tests === null
      ? `- Just run the tests of the project: say how with \`casefile init --tests "make check"\`, then \`casefile start ${name} --run-tests\`.`
      : `- Just run the tests of the project: \`casefile start ${name} --run-tests\`.`,
  ].join('\n')
}

/** With a step that is wrong, the plan is the whole description, which then cannot be approved. */
async function fencesOf(description: string): Promise<string | null> {
  if (!mayHaveSteps(description)) return null
  const parsed = await parsedMarkdown(description)
  if (!parsed) return null
  const fences = parsed.fences.filter(isStep)
  const cut = fences.length > 0 ? cutSteps(parsed.fences) : []
  if (cut.length > 0 || nearSteps(description, parsed).length > 0) {
    return withoutHypothesis(trimLines(description))
  }
  if (fences.length === 0) return null
  const blocks = fences.map(({ lang, meta, value }) => block(`${lang} ${meta}`, value))
  return ['Run the steps that the description gives.', ...blocks].join('\n\n')
}

function stepsPlan(steps: readonly string[]): string {
  const blocks = steps.map((step, index) => block(`sh run id=step-${index + 1}`, step))
  return [STEPS_INTRODUCTION, ...blocks].join('\n\n')
}

/** A runbook.md that runs the tests of a project. */
export function testsRunbook(tests: ProjectTests): string {
  const { source } = tests
  const step = testsStep(tests)
  const hypothesis = `None: this plan only runs the tests, with the command ${source === SETTINGS_FILE ? 'of `tests` in casefile.md' : `found in ${source}`}.`
  return `Run the project's own tests (${source}).\n\n${step}\n\n## Hypothesis\n\n${hypothesis}\n`
}

/** A step of a plan that runs the tests of a project. */
export function testsStep({ id, script, report }: ProjectTests): string {
  return block(`sh run id=${id} proof=${report ?? 'test'}`, script)
}

function block(info: string, script: string): string {
  const fence = fenceFor(script)
  return `${fence}${info}\n${script}\n${fence}`
}

/** What the section `## Hypothesis` of a text says; null if there is none. */
export async function statedHypothesis(text: string): Promise<string | null> {
  const found = await findHypothesis(text)
  const stated = found && text.slice(found.next, found.end).trim()
  return stated || null
}

/** The text itself if nothing else is in it. If all the rest is below `## Plan`, that heading goes too. */
async function withoutHypothesis(text: string): Promise<string> {
  const found = await findHypothesis(text)
  if (!found) return text
  const rest = trimLines(text.slice(0, found.start) + text.slice(found.end))
  const [first, ...others] = ((await parsedMarkdown(rest))?.headings ?? []).filter(
    ({ depth }) => depth <= 2,
  )
  const [heading] = (await outline(rest, ['Plan'])) ?? []
  const isAll = heading?.start === 0 && first?.start === 0 && others.length === 0
  return (isAll && trimLines(rest.slice(heading.next))) || rest || text
}

async function findHypothesis(text: string) {
  const [heading] = (await outline(text, ['Hypothesis'])) ?? []
  if (!heading) return null
  const parsed = await parsedMarkdown(text)
  const next = parsed?.headings.find(({ start, depth }) => start >= heading.next && depth <= 2)
  return { start: heading.start, next: heading.next, end: next?.start ?? text.length }
}
