import type { Intent } from '../model/intent.ts'
import { DURATION_RULE, parseDuration } from '../model/name-patterns.ts'
import {
  baselineId,
  isStepLanguage,
  type PlanStep,
  STEP_LANGUAGES,
  STEP_PROOFS,
  type StepError,
  type StepLanguage,
  type StepProof,
} from '../model/plan-step.ts'
import { REPORT_NAMES, reportFacts } from '../model/report-formats.ts'
import type { PlanScope } from '../model/scope.ts'
import { cutSteps } from './cut-step.ts'
import { readIntent } from './intent.ts'
import { isStep, mayHaveSteps, nearSteps } from './near-step.ts'
import type { Parsed, ParsedFence } from './parse.ts'
import { parsedMarkdown } from './parser-pool.ts'
import {
  combineScope,
  type ListedScope,
  mayListScope,
  readListedScope,
  readPlanFront,
} from './plan-scope.ts'

/** A script is passed to its interpreter as one argument, which the kernel limits to 128 KiB. */
const MAX_SCRIPT_BYTES = 96 * 1024
/** Each step adds two audit lines, with the end of its output. */
const MAX_STEPS = 200

export interface PlanReading {
  steps: PlanStep[]
  /** Any error makes the whole plan invalid, so that nothing runs. */
  errors: StepError[]
  /**
   * Whether the plan can be executed without an agent: it has steps, and no top-level list or other fence, which
   * would describe further work. The lists of its scope do not count.
   */
  isRunbook: boolean
  /** What the plan limits its work to (docs/plans.md#scope). Incomplete if there are errors. */
  scope: PlanScope
  scopeErrors: StepError[]
  /** Null if it is another plan. */
  intent: Intent | null
}

/**
 * Reads the steps of a plan: every fence with `run` as the first word after its language (docs/plans.md#steps),
 * and its scope. Anything unclear is an error with its line, never a step that runs differently.
 */
export async function readPlan(plan: string): Promise<PlanReading> {
  const front = readPlanFront(plan)
  const intent = readIntent(plan, front, combineScope(front))
  if (intent) return { ...intent, isRunbook: false, scopeErrors: intent.errors }
  const body = withoutFront(plan, front.end)
  const needsParser = mayHaveSteps(body) || mayListScope(body)
  const parsed = needsParser ? await parsedMarkdown(body) : NOTHING
  if (!parsed) {
    const { scope } = combineScope(front)
    const errors = [{ line: 1, message: 'the plan takes more than 2 s to parse' }]
    return { ...failed(errors), scope, scopeErrors: errors, intent: null }
  }
  const listed = readListedScope(body, parsed)
  const { scope, errors: scopeErrors } = combineScope(front, listed)
  const reading = readSteps(plan, parsed, listed)
  return {
    ...reading,
    errors: [...scopeErrors, ...reading.errors],
    scope,
    scopeErrors,
    intent: null,
  }
}

const NOTHING: Parsed = {
  headings: [],
  items: [],
  lines: [],
  fences: [],
  blocks: [],
  topLevelLists: [],
}

/** Replaces the frontmatter by blanks, so that offsets and lines stay what they are. */
function withoutFront(plan: string, end: number): string {
  return plan.slice(0, end).replace(/[^\r\n]/g, ' ') + plan.slice(end)
}

type StepReading = Omit<PlanReading, 'scope' | 'scopeErrors' | 'intent'>

function readSteps(plan: string, parsed: Parsed, { sections }: ListedScope): StepReading {
  const fences = parsed.fences.filter(isStep)
  if (fences.length > MAX_STEPS) {
    const message = `the plan has ${fences.length} steps; at most ${MAX_STEPS} are run in one session`
    return failed([{ line: fences[MAX_STEPS]!.line, message }])
  }
  const nul = plan.indexOf('\0') // remark replaces it by U+FFFD, so the script that runs would differ
  if (nul >= 0 && fences.length > 0) {
    const line = plan.slice(0, nul).split(/\r\n|\n|\r/).length
    return failed([{ line, message: 'the plan contains a NUL character' }])
  }
  const read = fences.map((fence, index) => readStep(fence, index + 1))
  const steps = read.flatMap((each) => (each.step ? [each.step] : []))
  const nearly = nearSteps(plan, parsed)
  const others = parsed.fences.some((fence) => fence.topLevel && !isStep(fence))
  const lists = parsed.topLevelLists.filter(
    (start) => !sections.some(({ from, to }) => from <= start && start < to),
  )
  return {
    steps,
    errors: [
      ...read.flatMap((each) => each.errors),
      ...doubles(steps),
      ...nearly,
      ...(fences.length > 0 ? cutSteps(parsed.fences) : []),
    ],
    isRunbook: fences.length > 0 && lists.length === 0 && !others,
  }
}

function failed(errors: StepError[]): StepReading {
  return { steps: [], errors, isRunbook: false }
}

type Options = Partial<Omit<PlanStep, 'language' | 'script' | 'line'>>
type OptionReader = (value: string) => Options | string

/** How to read each option; a returned text is the expected value. */
const OPTIONS: Record<string, OptionReader> = {
  id: (value) =>
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(value)
      ? { id: value }
      : 'a word of letters, digits, "_" and "-" (at most 40)',
  timeout(value) {
    const timeoutMs = parseDuration(value)
    return timeoutMs === null ? DURATION_RULE : { timeoutMs }
  },
  cwd: (value) =>
    value.startsWith('/') || value.split(/[/\\]/).includes('..')
      ? 'a folder inside the working folder, such as packages/api'
      : { cwd: value },
  expect(value) {
    const codes = value.split(',')
    const known = codes.every((code) => /^\d{1,3}$/.test(code) && Number(code) < 256)
    return known ? { expect: codes.map(Number) } : 'exit codes from 0 to 255, such as 0,2'
  },
  continue: (value) =>
    value === 'true' || value === 'false' ? { continue: value === 'true' } : 'true or false',
  proof: (value) =>
    (STEP_PROOFS as readonly string[]).includes(value)
      ? { proof: value as StepProof }
      : STEP_PROOFS.join(', '),
  baseline: (value) =>
    ['', 'true', 'false'].includes(value)
      ? { baseline: value !== 'false' }
      : 'nothing after it, or true or false',
}

function readStep(
  fence: ParsedFence,
  position: number,
): { step: PlanStep | null; errors: StepError[] } {
  const errors: StepError[] = []
  const wrong = (message: string) => errors.push({ line: fence.line, message })
  const language = (fence.lang ?? '').toLowerCase()
  if (!isStepLanguage(language)) {
    wrong(`"${fence.lang}" cannot be run: expected ${STEP_LANGUAGES.join(', ')}`)
  }
  if (fence.value.trim() === '') wrong('the step is empty')
  if (Buffer.byteLength(fence.value) > MAX_SCRIPT_BYTES) wrong('the step is over 96 KiB')
  const options: Options = {}
  const seen = new Set<string>()
  for (const word of fence.meta!.trim().split(/\s+/).slice(1)) {
    const [, key = word, value = ''] = /^([^=]*)=(.*)$/.exec(word) ?? []
    const read = Object.hasOwn(OPTIONS, key) ? OPTIONS[key]! : null
    const option = read?.(value)
    if (!read) wrong(`unknown key "${key}": expected ${Object.keys(OPTIONS).join(', ')}`)
    else if (seen.has(key)) wrong(`${key} appears twice`)
    else if (typeof option === 'string') wrong(`${key}=${value}: expected ${option}`)
    else Object.assign(options, option)
    seen.add(key)
  }
  if (options.baseline && !reportFacts(options.proof ?? null)) {
    wrong(`baseline compares tests, so it needs a report: proof=${REPORT_NAMES.join(', ')}`)
  }
  if (options.proof === 'test' && language !== 'js') {
    const why = maskedExit(fence.value, language as StepLanguage)
    if (why) wrong(`proof=test is judged by its exit code, but ${why}`)
  }
  if (errors.length > 0) return { step: null, errors }
  const defaults = {
    id: `step-${position}`,
    timeoutMs: null,
    cwd: '.',
    expect: [0],
    continue: false,
    proof: null,
    baseline: false,
  }
  const script = fence.value.replace(/\r\n?/g, '\n') // a shell reads the CR as part of a word
  const step = {
    ...defaults,
    ...options,
    language: language as StepLanguage, // else there are errors
    script,
    line: fence.line,
  }
  return { step, errors }
}

/** Why the exit code of a script may not be that of the tests in it; null if nothing speaks for that. */
function maskedExit(script: string, language: StepLanguage): string | null {
  const code = script.replace(/'[^']*'|"(?:\\.|[^"\\])*"|\\[\s\S]|(?<=^|\s)#[^\n]*/g, 'x')
  if (/\|\|/.test(code)) return '|| hides that of its first command'
  if (/\|/.test(code) && language === 'sh') {
    return 'that of a pipe in sh is that of its last command: write to a file, or use bash'
  }
  if (/(?:^|\s)(?:set|shopt) \+/.test(code)) return 'set +e lets the step go on after a failure'
  if (/(?<![>&<])&(?![>&])/.test(code)) return 'a command behind & runs apart'
  if (/(?:^|[\n;(])[^\S\n]*(?:if|while|until|!)\s/.test(code))
    return 'a condition hides that of its command'
  const lines = code.trim().split('\n')
  return lines.slice(0, -1).some((line) => /&&/.test(line))
    ? '&& hides that of its first command where lines follow: write each command on its own line'
    : null
}

/** Reports steps whose names differ only in case, as artifacts are named by step. */
function doubles(steps: readonly PlanStep[]): StepError[] {
  const baselines = steps.filter(({ baseline }) => baseline).map(baselineId)
  const taken = steps
    .filter(({ id }) => baselines.some((other) => other.toLowerCase() === id.toLowerCase()))
    .map(({ id, line }) => ({
      line,
      message: `the id "${id}" is that of a run before the work, because a step has the key baseline`,
    }))
  return [...taken, ...doubleIds(steps)]
}

function doubleIds(steps: readonly PlanStep[]): StepError[] {
  return steps
    .filter((step, index) =>
      steps.slice(0, index).some((other) => other.id.toLowerCase() === step.id.toLowerCase()),
    )
    .map((step) => ({
      line: step.line,
      message: `the id "${step.id}" is taken by an earlier step`,
    }))
}
