import type { AgentRetry } from '../model/agent-retry.ts'
import type { Case } from '../model/case.ts'
import type { PlanStep } from '../model/plan-step.ts'
import type { UsageCounts } from '../model/usage.ts'
import type { Guard } from './process/guard.ts'

/**
 * What plans and executes a session. The service owns states and files; a runner only reports.
 * Aborting a request's signal cancels it: the method then ends the processes that it
 * started, and settles.
 */
export interface Runner {
  kind: 'runbook' | 'command' | 'acp'
  capabilities: Capabilities
  /** Rejects with a `RunnerFailure` where no plan comes of it. */
  plan(request: PlanRequest): Promise<PlanResult>
  execute(request: WorkRequest): Promise<WorkResult>
}

export interface Capabilities {
  /** Whether a program of its own plans: it is given a prompt, and a copy of the working folder. */
  isAgent: boolean
  /** Whether it executes a plan that is no runbook. */
  executesAny: boolean
}

/** A run that ended without a result, in a sentence for the operator: no fault of the service. */
export class RunnerFailure extends Error {
  override name = 'RunnerFailure'
}

export interface PlanRequest {
  case: Case
  /** The case's memory files by name. */
  memory: ReadonlyMap<string, string>
  /** Commands from casefile.md. */
  steps: readonly string[]
  /** The folder to plan for; to an agent, its copy. */
  workdir: string
  /** What the operator wants changed, after a revision. */
  note?: string | undefined
  signal: AbortSignal
  /** For a runner whose capabilities say `isAgent`; null for others. */
  agent: AgentRun | null
}

export interface PlanResult {
  hypothesis: string
  plan: string
}

/** What an agent is run with, in both modes. */
export interface AgentRun {
  prompt: string
  /** A new UUID, for agents that take the id of their conversation from outside. */
  newId: string
  /** Where a revision goes back to; null for a new conversation. */
  resume: Resumption | null
  /** All of its environment but what its preset adds: nothing of this process is inherited. */
  env: Record<string, string>
  /** A folder of ours, for this run alone, that the agent sees: prompt and policy files. */
  folder: string
  guard: Guard
  /** Real paths of folders that it is never allowed to touch when it asks: the memory root. */
  closed?: readonly string[]
  /** After which the request's signal is aborted: for the trail. */
  timeoutMs?: number
  /** So long may it do nothing but ask its model again and again. */
  retriesMs?: number
  report: RunReport
}

export interface Resumption {
  /** The agent's own id of its conversation. */
  session: string
  /**
   * To be called before another attempt, where the agent does not know the conversation any more: ends
   * all that the run has started, and gives a new folder in place of `folder`, which may no longer be ours.
   */
  anew(): Promise<string>
}

export interface WorkRequest {
  /** The approved text, from memory: what the file says meanwhile does not matter. */
  plan: string
  workdir: string
  env: Record<string, string>
  stepTimeoutMs: number
  /** A folder of ours that exists, for files of no lasting value. */
  scratch: string
  guard: Guard
  signal: AbortSignal
  report: RunReport
  /** For a runner whose capabilities say `isAgent`; null for others. */
  agent: AgentRun | null
}

export interface RunReport {
  /**
   * Resolves when the start is on disk. The end of the step before may still be on its way there: it
   * comes first.
   */
  stepStarted(step: StepStart, timeoutMs: number): Promise<void>
  /** Resolves when the id is on disk. The program begins only then. */
  processStarted(pid: number): Promise<void>
  /** What a person is shown. */
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void
  /** What the program itself sent, where that is made readable for the output. */
  raw(bytes: Buffer): void
  /** A text without secrets. What shortens a text has to call it before: half a secret is not found. */
  clean(text: string): string
  stepFinished(outcome: StepOutcome): Promise<void>
  /** A line of the trail, and so of the stream. Resolves when it is on disk. */
  note(note: AgentNote): Promise<void>
}

/** A step of a plan, or an agent's whole run. */
export type StepStart = Pick<PlanStep, 'id' | 'cwd' | 'proof'> &
  Partial<Pick<PlanStep, 'language'>> & {
    /** There will be a raw stream beside its output. */
    hasRaw?: boolean
  }

/** What an agent does, in the words of the trail. Texts may be of any length: the report bounds them. */
export type AgentNote =
  | { event: 'agent_started'; fields: AgentFacts }
  | { event: 'agent_session'; fields: { agent_session: string } }
  | { event: 'tool_call'; fields: ToolFacts & { status?: string } }
  | { event: 'denied'; fields: ToolFacts & { reason: string } }
  | { event: 'agent_retry'; fields: AgentRetry }
  | { event: 'agent_plan'; fields: { entries: { content: string; status: string }[] } }
  | {
      event: 'agent_usage'
      fields: UsageCounts & { mode: AgentFacts['mode']; model: string | null }
      /** Which numbers count the whole conversation, the runs before this one too. */
      cumulative: 'tokens' | 'cost' | null
    }

export interface AgentFacts {
  mode: 'plan' | 'work'
  /** The words of the command, `{prompt}` in place of the prompt. */
  command: string[]
  version?: string
  /** What is known against this version. */
  warning?: string
  /** How the agent's own mode to plan in was set, and read back. */
  plan_mode?: string
  /** The mode that it says it works in. */
  work_mode?: string
}

export interface ToolFacts {
  tool: string
  kind?: string
  title?: string
}

export interface StepOutcome {
  exit: number | null
  signal: string | null
  timedOut: boolean
  /** Its turn had ended well, it did not exit by itself, and the service ended it: `exit` is 0 then. */
  endedByService?: boolean
  startError?: string
  durationMs: number
}

/** `reason` says in a sentence, without its full stop, why it did not end well. */
export type WorkResult = { ok: true } | { ok: false; reason: string }

/** The agent's side of a request; a runner that needs one is never asked without. */
export function agentOf({ agent }: Pick<PlanRequest, 'agent'>): AgentRun {
  if (agent) return agent
  throw new TypeError('an agent was asked to run without a prompt')
}
