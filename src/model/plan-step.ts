import { REPORT_NAMES, type ReportFormat } from './report-formats.ts'

export const STEP_LANGUAGES = ['sh', 'bash', 'js'] as const
export type StepLanguage = (typeof STEP_LANGUAGES)[number]

export function isStepLanguage(word: string): word is StepLanguage {
  return (STEP_LANGUAGES as readonly string[]).includes(word)
}

/** What a step proves by: a test report, the log of tests (which its exit code judges), or other output. */
export type StepProof = ReportFormat | 'test' | 'log'
export const STEP_PROOFS: readonly StepProof[] = [...REPORT_NAMES, 'test', 'log']

/** A fenced block marked `run` in a plan. It is executed once the plan is approved. */
export interface PlanStep {
  id: string
  language: StepLanguage
  script: string
  /** Null uses the workspace's step timeout. */
  timeoutMs: number | null
  /** Relative to the working folder, inside it. */
  cwd: string
  /** Exit codes after which the run continues. */
  expect: number[]
  /** Whether to continue after an unexpected exit code. */
  continue: boolean
  proof: StepProof | null
  /** Whether it also runs once before the work, so that the tests can be compared. Only with a report as proof. */
  baseline: boolean
  /** 1-based line of the block in the plan. */
  line: number
  /** It is a command of an intent, on its line of the frontmatter. */
  isEntry?: true
}

export interface StepError {
  line: number
  message: string
}

/** The lines of the plan that a step has, with both ends of its fence. */
export function linesOfStep({ line, script, isEntry }: PlanStep): number[] {
  if (isEntry) return [line]
  return Array.from({ length: script.split('\n').length + 2 }, (_, index) => line + index)
}

/** The id of the run of a step before the work, which names its artifacts. */
export function baselineId({ id }: Pick<PlanStep, 'id'>): string {
  return `${id}-before`
}
