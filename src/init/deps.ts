import type { MemoryKind } from './git-memory.ts'

export interface InitOptions {
  root: string
  /** How git is to keep the cases; asked for where it is not given. */
  memory?: MemoryKind
  /** Whether to install the hook; asked for where it is not given. */
  hook?: boolean
  /** Take the defaults in place of asking. */
  yes?: boolean
}

/** The operator, where there is a terminal to ask on. */
export interface Operator {
  chooseKind(): Promise<MemoryKind>
  wantsHook(path: string): Promise<boolean>
}

export interface InitDeps {
  say(line: string): void
  /** Null where nobody can be asked. */
  operator: Operator | null
  /** The program's own path, for a hook that finds it on no PATH. */
  program: string
}

export const DEFAULT_KIND: MemoryKind = 'with-code'
