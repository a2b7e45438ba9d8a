import type { MemoryKind } from '../workspace/git/memory-kind.ts'

export interface InitOptions {
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
  say(line: string): void
  /** Null without a terminal. */
  operator: Operator | null
  /** Only says what would be written. */
  isDry?: boolean
  /** The program's own path, for a hook that does not find it on the PATH. */
  program: string
}

export const DEFAULT_KIND: MemoryKind = 'with-code'
