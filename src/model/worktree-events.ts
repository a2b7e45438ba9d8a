import * as z from 'zod'
import { counted } from './amounts.ts'
import { lineOf, say } from './event-line.ts'
import { entry, given, optional, text } from './event-row.ts'
import { count } from './schemas.ts'

const commit = z
  .string()
  .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
  .describe('A commit of git.')
const aCommit = '8f9c6e1d2b3a4c5d6e7f8091a2b3c4d5e6f70819'

/** The events of a session that works in a separate git worktree. */
export const WORKTREE_EVENTS = {
  worktree_made: entry(
    {
      branch: given,
      base: commit,
      left_out: optional(z.array(text)).describe(
        'What .worktreeinclude names, and was not copied.',
      ),
    },
    {
      line: ({ branch, base }) =>
        lineOf(
          'quiet',
          `works in a worktree, on the branch ${say(branch)} from ${say(base).slice(0, 12)}`,
        ),
      example: { branch: 'casefile/sign-in-fails-2', base: aCommit },
    },
  ),
  worktree_committed: entry(
    {
      commit,
      commits: count,
      others: optional(z.array(text)).describe(
        'Branches made of what its other branches, tags and stashes led to.',
      ),
      reason: optional(text),
    },
    {
      line: ({ commit, commits, others, reason }) => {
        const made = `its branch has ${counted(Number(commits), 'new commit')} (${say(commit).slice(0, 12)})`
        const also = Array.isArray(others) ? `, and other work is on ${say(others.join(', '))}` : ''
        return reason === undefined
          ? lineOf('plain', made + also)
          : lineOf('warn', `${made}${also}; ${say(reason)}`)
      },
      example: { commit: aCommit, commits: 2 },
    },
  ),
} as const
