import * as z from 'zod'
import { count } from '../../model/schemas.ts'
import { ISOLATIONS } from '../../model/settings.ts'
import { WORKTREE_STATES } from '../../worktrees/worktree-view.ts'
import type { JsonOf } from './primitives.ts'

const commit = z
  .string()
  .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
  .describe('A commit of git.')

const facts = {
  branch: z.string(),
  base: commit.describe('The commit that it began from.'),
  head: commit
    .nullable()
    .describe('The last commit of the branch; null while the session executes, or if it is gone.'),
  onto: z
    .string()
    .nullable()
    .describe('The branch of the working folder, which the work is merged into.'),
  behind: count.describe('Commits of `onto` that the branch does not have.'),
  ahead: count.describe('Commits of the branch that `onto` does not have.'),
  conflicts: z
    .array(z.string())
    .describe('Files that cannot be merged, as both branches changed them; at most 100.'),
  uncommitted: z.array(z.string()).describe('Files that no commit has; at most 100.'),
  ignored: z
    .array(z.string())
    .describe('Files and folders that git ignores, which go when it is discarded; at most 100.'),
  path: z.string().nullable().describe('The folder; null if it is not on this machine.'),
  state: z
    .enum(WORKTREE_STATES)
    .describe(
      '`kept`: it can be applied or discarded. `applied`: `onto` has all its commits. `missing`: it is not on this machine.',
    ),
  is_running: z.boolean().describe('Whether the session executes in it.'),
  reason: z
    .string()
    .nullable()
    .describe('Why git cannot say what is not committed; null if it can.'),
}

const COMMITS = {
  base: '2b3a4c5d6e7f8091a2b3c4d5e6f708198f9c6e1d',
  head: '8f9c6e1d2b3a4c5d6e7f8091a2b3c4d5e6f70819',
}
const KEPT = {
  branch: 'casefile/login-times-out-under-load-1',
  ...COMMITS,
  onto: 'main',
  behind: 1,
  ahead: 2,
  conflicts: [] as string[],
  uncommitted: [] as string[],
  ignored: ['node_modules/'],
  path: '/home/ada/.local/state/casefile/6f1c2b3a4d5e6f70/worktrees/1a6976d2-9465-43b0-aeaa-34814a49b922',
  state: 'kept' as const,
  is_running: false,
  reason: null,
}

export const worktree = z.object(facts).meta({ id: 'Worktree', examples: [KEPT] })

/** What every session has. */
export const isolationFacts = {
  isolation: z
    .enum(['worktree'])
    .nullable()
    .describe('`worktree`: it works in a separate git worktree.'),
  worktree: worktree
    .nullable()
    .describe('Null before its run begins, and for a session without one.'),
}

export const isolationChoice = z
  .enum(ISOLATIONS)
  .optional()
  .describe(
    '`worktree`: work in a separate git worktree. By default as the case says, or else casefile.md.',
  )

const head = commit
  .optional()
  .describe('The `head` that you saw. The request fails if the branch has another one.')

export const seenHead = z
  .object({ head })
  .meta({ id: 'SeenHead', examples: [{ head: COMMITS.head }] })

export const applied = z
  .object({ commit: commit.describe('The commit that the working folder is at now.') })
  .meta({ id: 'Applied', examples: [{ commit: '70819f9c6e1d2b3a4c5d6e7f8091a2b3c4d5e6f7' }] })

export const discarded = z
  .object({
    branch_kept: z
      .string()
      .nullable()
      .describe('The branch, if it has commits that no other branch has; null if it went too.'),
    commits_kept: count.describe('How many commits only that branch has.'),
  })
  .meta({
    id: 'Discarded',
    examples: [{ branch_kept: KEPT.branch, commits_kept: 2 }],
  })

export type WorktreeJson = JsonOf<typeof worktree>
export type AppliedJson = JsonOf<typeof applied>
export type DiscardedJson = JsonOf<typeof discarded>
