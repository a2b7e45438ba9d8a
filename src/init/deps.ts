import type { MemoryKind } from '../git/memory-kind.ts'

/** What `casefile init` sets, besides how git keeps the cases. What is not given stays as it is. */
export interface SetupChoice {
  /** The id of an agent, or none. */
  agent?: string | undefined
  inTerminal?: boolean | undefined
  /** A command, or none. */
  tests?: string | undefined
  sign?: boolean | undefined
}

export interface InitOptions extends SetupChoice {
  root: string
  /** How git should store the cases; asked for if not given. */
  memory?: MemoryKind
  /** Whether to install the git hooks; asked for if not given. */
  hook?: boolean
  /** Use the defaults instead of asking. */
  yes?: boolean
}

/** Asks the operator on a terminal. */
export interface Operator {
  chooseKind(): Promise<MemoryKind>
  wantsHooks(paths: readonly string[]): Promise<boolean>
}

export interface InitDeps {
  /** Null without a terminal. */
  operator: Operator | null
  /** The program's own path, for a hook that does not find it on the PATH. */
  program: string
  environment: NodeJS.ProcessEnv
  /** For what goes on nevertheless. */
  warn(line: string): void
}

export const DEFAULT_KIND: MemoryKind = 'with-code'
