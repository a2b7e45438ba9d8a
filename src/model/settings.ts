import type { Problem } from './problem.ts'

export const SETTINGS_FILE = 'casefile.md'
export const MAX_SETTINGS_BYTES = 256 * 1024

/** What `casefile.md` says; every key is optional. */
export interface Settings {
  /** The default for new sessions. */
  provider: string
  /** Milliseconds. */
  timeout: { plan: number; work: number; step: number; retries: number }
  /** Names of variables to pass on to steps: count only once trusted, see `trust.ts`. */
  env: readonly string[]
  /** Commands of the runbook runner where a case says nothing. */
  steps: readonly string[]
  /** What the file defines, by name: counts only once trusted. */
  providers: ReadonlyMap<string, ProviderSettings>
  /** Names of providers that it defines with a mistake: they count for nothing. */
  faulty: readonly string[]
  memoryRoot: string | null
  /** The body: standing instructions to agents. */
  instructions: string
  problems: Problem[]
  /** The line of each key that is set. */
  lines: ReadonlyMap<string, number>
}

/** A command without `work` only plans: what it plans has to be a runbook. */
export type ProviderSettings =
  | {
      kind: 'command'
      plan: string[]
      work: string[] | null
      prompt: PromptBy
      /** Not there for `plain`. */
      stream?: StreamName
    }
  | { kind: 'acp'; command: string[]; planMode: string | null; workMode: string | null }
  | { kind: 'preset'; preset: string; args: string[] }

/** How a command gets its prompt. */
export const PROMPT_BY = ['stdin', 'argument', 'file'] as const
export type PromptBy = (typeof PROMPT_BY)[number]

/** What a command prints: markdown, or the events of a known agent. */
export const STREAMS = ['plain', 'claude', 'codex', 'gemini', 'opencode', 'copilot'] as const
export type StreamName = (typeof STREAMS)[number]

export const DEFAULT_SETTINGS: Settings = {
  provider: 'runbook',
  timeout: { plan: 30 * 60_000, work: 2 * 3_600_000, step: 10 * 60_000, retries: 5 * 60_000 },
  env: [],
  steps: [],
  providers: new Map(),
  faulty: [],
  memoryRoot: null,
  instructions: '',
  problems: [],
  lines: new Map(),
}

/** The service's own provider, which no file may redefine. */
export const OWN_PROVIDER = 'runbook'
