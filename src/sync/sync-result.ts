import type { MemoryKind } from '../git/memory-kind.ts'
import type { BrokenFile } from './broken-files.ts'
import type { CaseName } from './memory-commit.ts'
import type { MergeReport } from './memory-merge.ts'
import type { StopCode } from './sync-stop.ts'

/**
 * `in_sync`: the remote has all that is here, and the reverse. `conflicts`: the same, but a person must look at
 * something. `stopped`: nothing was pushed.
 */
export const SYNC_STATES = ['in_sync', 'conflicts', 'stopped'] as const

export interface SyncResult extends MergeReport {
  state: (typeof SYNC_STATES)[number]
  dry_run: boolean
  /** Why it stopped, and what to do; null if it did not. */
  code: StopCode | null
  reason: string | null
  at: string
  kind: MemoryKind | null
  branch: string | null
  /** Such as `origin/main`. */
  upstream: string | null
  /** The commit of this clone's changes; null if there were none. */
  committed: { commit: string; files: number; cases: CaseName[] } | null
  received: { commits: number; cases: CaseName[] }
  sent: { commits: number; cases: CaseName[] }
  /** Files of the record that came from the remote and cannot be read. */
  broken: BrokenFile[]
  /** Changed files in the memory root that are code, which only their author may share. */
  left: string[]
}

/** Where the record is, as far as this clone knows without asking the remote. */
export interface SyncStatus {
  kind: MemoryKind | null
  branch: string | null
  upstream: string | null
  /** Why a sync would stop, in a sentence. */
  reason: string | null
  /** Commits that the remote does not have. */
  ahead: number
  /** Commits of the remote that are not in this branch. */
  behind: number
  /** Files that differ from the last commit. */
  uncommitted: number
  last: SyncResult | null
}
