import type { Case } from '../model/case.ts'
import type { EventFields } from '../model/events.ts'
import type { PlanStep } from '../model/plan-step.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { UsageCounts } from '../model/usage.ts'
import type { Sandbox } from './enclosure/sandbox.ts'
import type { TimeLimits } from './time-limits.ts'

/**
 * Plans and executes sessions. The service owns states and files; a runner only reports. Aborting a request's
 * signal cancels it: the method then ends the processes it started, and settles.
 */
export interface Runner {
  kind: 'runbook' | 'command' | 'acp'
  capabilities: Capabilities
  /** Rejects with a `RunnerFailure` if there is no plan. */
  plan(request: PlanRequest): Promise<PlanResult>
  execute(request: WorkRequest): Promise<WorkResult>
}

export interface Capabilities {
  /** Whether planning starts a program, which gets a prompt. */
  isAgent: boolean
  /** Whether it can execute a plan that is not a runbook. */
  executesAny: boolean
}

/**
 * A run that ended without a result. The message is a sentence for the operator; the service itself did nothing
 * wrong.
 */
export class RunnerFailure extends Error {
  override name = 'RunnerFailure'
}

export interface PlanRequest {
  case: Case
  /** The case's memory files by name. */
  memory: ReadonlyMap<string, string>
  /** Commands from casefile.md. */
  steps: readonly string[]
  /** How casefile.md says that the tests are run. */
  tests?: string | null
  /** The folder to plan for. */
  workdir: string
  /** The operator's note: what a revision should change. */
  note?: string | undefined
  signal: AbortSignal
  /** Set if the runner's capabilities say `isAgent`; else null. */
  agent: AgentRun | null
}

export interface PlanResult {
  hypothesis: string
  plan: string
}

/** What an agent is run with, in both modes. */
export interface AgentRun {
  prompt: string
  /** A new UUID, for agents that accept an id for a new conversation. */
  newId: string
  /** The conversation that a revision resumes; null for a new one. */
  resume: ResumedConversation | null
  /** The whole environment except for the preset's additions: nothing is inherited from this process. */
  env: Record<string, string>
  /** A folder for this run that the agent can see, with prompt and policy files. */
  folder: string
  sandbox: Sandbox
  /** Real paths of folders that the agent may never touch, such as the memory root. */
  closed?: readonly string[]
  limits: TimeLimits
  /** When the request's signal will abort, for the audit trail. */
  timeoutMs?: number
  /** How long it may do nothing but retry its model request. */
  retriesMs?: number
  report: RunReport
}

export interface ResumedConversation {
  /** The agent's id of its conversation. */
  session: string
  /**
   * Call this before another attempt if the agent no longer has the conversation. Ends all processes of the run and
   * returns a new folder that replaces `folder`.
   */
  restartFresh(): Promise<string>
}

export interface WorkRequest {
  /** The approved text from memory, even if the file has changed since. */
  plan: string
  /** Whether a standing intent approved it. */
  isStanding?: boolean
  workdir: string
  env: Record<string, string>
  stepTimeoutMs: number
  limits: TimeLimits
  sandbox: Sandbox
  signal: AbortSignal
  report: RunReport
  /** Set if the runner's capabilities say `isAgent`; else null. */
  agent: AgentRun | null
}

export interface RunReport {
  /** Resolves when the start is on disk. The previous step's end may still be pending; it is written first. */
  stepStarted(step: StepStart, timeoutMs: number): Promise<void>
  /** The program of the step, which runs only after that. */
  processStarted(pid: number): Promise<void> | void
  /** Output for a person to read. */
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void
  /** The program's original output, if `output` gets a readable version of it. */
  raw(bytes: Buffer): void
  /** Removes secrets. Call this before a text is cut, because half a secret is not recognized. */
  clean(text: string): string
  stepFinished(outcome: StepOutcome): Promise<void>
  /** Adds a line to the audit trail and so to the event stream. Resolves when it is on disk. */
  note(note: AgentNote): Promise<void>
}

/** A step of a plan, or an agent's whole run. */
export type StepStart = Pick<PlanStep, 'id' | 'cwd' | 'proof'> &
  Partial<Pick<PlanStep, 'language' | 'baseline' | 'expect'>> & {
    /** Whether `raw` will be called, too. */
    hasRaw?: boolean
  }

/** What an agent does, as recorded in the audit trail. Texts may have any length; the report shortens them. */
export type AgentNote =
  | NewTrailLine<
      | 'agent_started'
      | 'agent_session'
      | 'agent_transcript'
      | 'tool_call'
      | 'denied'
      | 'asked'
      | 'agent_retry'
      | 'agent_plan'
    >
  | (NewTrailLine<'agent_usage'> & {
      fields: UsageCounts
      /** Which numbers cover the whole conversation, including earlier runs. */
      cumulative: 'tokens' | 'cost' | null
    })

export type AgentFacts = EventFields<'agent_started'>

export interface ToolFacts {
  tool: string
  kind?: string
  title?: string
}

export interface StepOutcome {
  exit: number | null
  signal: string | null
  timedOut: boolean
  /** Its turn ended well, but it did not exit, so the service ended it: `exit` is 0 then. */
  endedByService?: boolean
  startError?: string
  durationMs: number
}

/** `reason` says why it failed, as a sentence without its period. */
export type WorkResult = { ok: true } | { ok: false; reason: string }

/** The agent's part of a request. Throws if it is missing, which is a bug of the caller. */
export function agentOf({ agent }: Pick<PlanRequest, 'agent'>): AgentRun {
  if (agent) return agent
  throw new TypeError('an agent was asked to run without a prompt')
}
