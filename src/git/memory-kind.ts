/**
 * How git stores the memory root: in the code's repository, in its own repository, or as a worktree of a branch
 * without shared history.
 */
export const MEMORY_KINDS = ['with-code', 'own-repo', 'orphan-worktree'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]
