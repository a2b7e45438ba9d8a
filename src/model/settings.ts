import { AGENT_NAMES } from './agent-names.ts'
import type { Problem } from './problem.ts'
import type { StandingIntent } from './standing.ts'

export const SETTINGS_FILE = 'casefile.md'
/** Of `parallel`. */
export const MAX_PARALLEL = 16
export const MAX_SETTINGS_BYTES = 256 * 1024

/** The settings in `casefile.md`. Every key is optional. */
export interface Settings {
  /** The provider of new sessions. */
  provider: string
  /** Milliseconds. */
  timeout: { plan: number; work: number; step: number; retries: number }
  /** Names of environment variables for steps. Ignored until trusted, see `trust.ts`. */
  env: readonly string[]
  /** Commands of the runbook provider if a case has none. */
  steps: readonly string[]
  /** The command that runs the project's tests; null if the project's own files say it. */
  tests: string | null
  /** What must be proved in a new case that says nothing about it, one item each. */
  checklist: readonly string[]
  /** Providers defined in the file, by name. Ignored until trusted. */
  providers: ReadonlyMap<string, ProviderSettings>
  /** Names of providers with an invalid definition, which is ignored. */
  faulty: readonly string[]
  /** Where notifications go. Ignored until trusted. */
  notify: readonly NotifyTarget[]
  /** Whether plans can be approved only with a signature; see `approval-statement.ts`. */
  signApprovals: boolean
  /** Files and folders that the programs of a run do not see. */
  hide: readonly string[]
  /** Folders that they may also write to; null for the usual caches. Ignored until trusted. */
  cache: readonly string[] | null
  /** Whether runs are held back from the rest of the machine. Anything but `mounts` is ignored until trusted. */
  sandbox: SandboxSetting
  /** Tools that only read, for the gate of agents in a terminal; `*` at the end is any rest. Ignored until trusted. */
  readingTools: readonly string[]
  /** The first words of commands that such an agent may run before its plan is approved. Ignored until trusted. */
  readingCommands: readonly string[]
  /** What needs no separate approval. Ignored until trusted. */
  standing: readonly StandingIntent[]
  /** How many isolated sessions may work at the same time. */
  parallel: number
  /** Whether sessions work in a git worktree of their own, unless a case or a request says otherwise. */
  isolation: Isolation
  memoryRoot: string | null
  /** The body of the file: instructions for agents. */
  instructions: string
  problems: Problem[]
  /** The line number of each key. */
  lines: ReadonlyMap<string, number>
}

/** With `hosts`, a run reaches these on the network, and no others. */
export type SandboxSetting = 'mounts' | 'none' | { hosts: readonly string[] }

/** A command without `work` only plans, and its plan must be a runbook. */
export type ProviderSettings =
  | {
      kind: 'command'
      plan: string[]
      work: string[] | null
      prompt: PromptBy
      /** Undefined for `plain`. */
      stream?: StreamName
    }
  | { kind: 'acp'; command: string[]; planMode: string | null; workMode: string | null }
  | { kind: 'preset'; preset: string; args: string[] }

/** How a command gets its prompt. */
export const PROMPT_BY = ['stdin', 'argument', 'file'] as const
export type PromptBy = (typeof PROMPT_BY)[number]

/** The output format of a command: markdown, or the events of a known agent. */
export const STREAMS = ['plain', ...AGENT_NAMES] as const
export type StreamName = (typeof STREAMS)[number]

export const DEFAULT_SETTINGS: Settings = {
  provider: 'runbook',
  timeout: { plan: 30 * 60_000, work: 2 * 3_600_000, step: 10 * 60_000, retries: 5 * 60_000 },
  env: [],
  steps: [],
  tests: null,
  checklist: [],
  providers: new Map(),
  faulty: [],
  notify: [],
  signApprovals: false,
  hide: [],
  cache: null,
  sandbox: 'mounts',
  readingTools: [],
  readingCommands: [],
  standing: [],
  parallel: 2,
  isolation: 'none',
  memoryRoot: null,
  instructions: '',
  problems: [],
  lines: new Map(),
}

/** Where the work of a session happens: in the working folder, or in a separate git worktree. */
export const ISOLATIONS = ['none', 'worktree'] as const
export type Isolation = (typeof ISOLATIONS)[number]

export const NOTIFY_KINDS = ['desktop', 'ntfy', 'slack', 'webhook'] as const
export type NotifyKind = (typeof NOTIFY_KINDS)[number]

export interface NotifyTarget {
  kind: NotifyKind
  /** As written: `${NAME}` is a variable of the service's environment. Empty for the desktop. */
  url: string
}

/** The variables that a URL names. */
export function variablesIn(url: string): string[] {
  return [...url.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name!)
}

/** The built-in provider, which casefile.md cannot redefine. */
export const OWN_PROVIDER = 'runbook'
