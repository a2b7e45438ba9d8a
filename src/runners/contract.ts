import type { Case } from '../model/case.ts'
import type { PlanStep } from '../model/plan-step.ts'

/**
 * What plans and executes a session. The service owns states and files; a runner only reports
 * (design §6). Each method ends early, and resolves, when its signal is aborted.
 */
export interface Runner {
  kind: string
  plan(request: PlanRequest): Promise<PlanResult>
  execute(request: WorkRequest): Promise<WorkResult>
}

export interface PlanRequest {
  case: Case
  /** The case's memory files by name. */
  memory: ReadonlyMap<string, string>
  /** Commands from casefile.md. */
  steps: readonly string[]
  workdir: string
  /** What the operator wants changed, after a revision. */
  note?: string | undefined
  signal: AbortSignal
}

export interface PlanResult {
  hypothesis: string
  plan: string
}

export interface WorkRequest {
  /** The approved text, from memory: what the file says meanwhile does not matter. */
  plan: string
  workdir: string
  env: Record<string, string>
  stepTimeoutMs: number
  /** A folder of ours that exists, for files of no lasting value. */
  scratch: string
  signal: AbortSignal
  report: WorkReport
}

export interface WorkReport {
  /** Resolves when the start is on disk. */
  stepStarted(step: PlanStep, timeoutMs: number): Promise<void>
  processStarted(pid: number): Promise<void>
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void
  stepFinished(outcome: StepOutcome): Promise<void>
}

export interface StepOutcome {
  exit: number | null
  signal: string | null
  timedOut: boolean
  startError?: string
  durationMs: number
}

/** `reason` says in a sentence why it did not end well. */
export type WorkResult = { ok: true } | { ok: false; reason: string }
