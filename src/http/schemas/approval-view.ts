import * as z from 'zod'
import { CHANGE_KINDS } from '../../git/uncommitted.ts'
import { hash, sessionState } from '../../model/schemas.ts'
import { caseIdParam, PLAN, sessionIdParam } from './params.ts'
import { exampleOf, type JsonOf, lineNumber } from './primitives.ts'
import { waitsFor } from './queue.ts'
import { revision } from './session.ts'

/** What will hold the programs of a session. */
const walls = z
  .object({
    guard: z
      .enum(['mount', 'comparison'])
      .nullable()
      .describe(
        '`mount`: read-only mounts. `comparison`: the case files are compared before and after. Null if it is not known.',
      ),
    reason: z
      .string()
      .nullable()
      .describe('Why there are no mounts, or why it is not known; null with mounts.'),
    writes: z
      .array(z.string())
      .nullable()
      .describe('What the programs can write to, for people; null if nothing limits that.'),
    hides: z.array(z.string()).nullable().describe('What they do not see.'),
    hosts: z
      .array(z.string())
      .nullable()
      .describe('The only hosts that they can reach; null if nothing limits that.'),
    text: z.string().describe('All of this in words, as the console shows it.'),
  })
  .meta({ id: 'Walls' })

const change = z.object({
  file: z.string().describe('Relative to the working folder.'),
  kind: z.enum(CHANGE_KINDS),
  left_by: waitsFor
    .extend({ state: sessionState })
    .nullable()
    .describe(
      'The last session that has the file in its diff, if it was not changed after that session; else null.',
    ),
})

/** What is not committed in the folder where a plan would run. */
const folder = z
  .object({
    branch: z.string().nullable().describe('Null for a detached HEAD, or without a repository.'),
    head: z.string().nullable().describe('The commit; null without one.'),
    changes: z.array(change).describe('At most 500.'),
    is_cut: z.boolean().describe('Whether there are more changes than these.'),
    reason: z.string().nullable().describe('Why the changes are not known; null if they are.'),
  })
  .meta({ id: 'WorkingFolder' })

export const withPlans = z
  .literal('true', { error: 'expected true' })
  .optional()
  .describe('Whether the answer has `plans`.')

export const soonSeen = z
  .literal('true', { error: 'expected true' })
  .optional()
  .describe(
    'For programs that announce a plan: while the console is in use, waits up to a second for a page that is about to show it.',
  )

/** What an operator must see before they approve a plan. */
export const approvalView = z
  .object({
    plan_sha256: hash.nullable().describe('SHA-256 of the present plan; null without one.'),
    plan_unchanged: z
      .boolean()
      .describe('Whether the plan is identical to the one that was sent back for changes.'),
    plans: z
      .array(revision)
      .optional()
      .describe(
        'Each plan that the session had, oldest first, with the request that it answers. Missing without `plans=true`.',
      ),
    seen: z
      .boolean()
      .describe(
        'Whether a person has seen the present plan (`POST …/seen`). A restart of the service forgets it.',
      ),
    summary: z.string().describe('What an approval starts, in words.'),
    plan_errors: z
      .array(z.object({ line: lineNumber, message: z.string() }))
      .describe('What must change in the plan before it can be approved.'),
    objection: z
      .string()
      .nullable()
      .describe('Why an approval would fail, whatever the plan says; null if it would not.'),
    needs_signature: z
      .boolean()
      .describe('Whether `sign_approvals` of casefile.md asks for a signature.'),
    walls: walls.describe('What will hold the programs of the plan.'),
    folder: folder.describe(
      'The folder where the plan would run. A run starts from these files; only a session with `isolation` does not have what is not committed.',
    ),
    busy: waitsFor
      .extend({
        is_waiting: z.boolean().describe('Whether it waits in line itself.'),
        limit: z
          .int()
          .nullable()
          .describe('How many isolated sessions may work at a time, if the plan waits for that.'),
        can_wait: z.boolean().describe('Whether an approval may have `queue`: that needs git.'),
      })
      .nullable()
      .describe('The session that the approved plan would have to wait for; null if none.'),
    agent_files: z
      .array(
        z.object({
          file: z.string().describe('Relative to the working folder.'),
          trusted: z.boolean(),
        }),
      )
      .describe('Files of the project that its agent acts on without asking, such as hooks.'),
  })
  .meta({
    id: 'ApprovalView',
    examples: [
      {
        plan_sha256: PLAN.plan_sha256,
        plan_unchanged: false,
        plans: [exampleOf(revision)],
        seen: false,
        summary: 'Casefile runs these 2 steps in order; no agent is involved.',
        plan_errors: [],
        objection: null,
        needs_signature: false,
        walls: {
          guard: 'mount',
          reason: null,
          writes: ['the working folder', 'temporary folders', '~/.npm'],
          hides: ['the memory root', '~/.ssh'],
          hosts: null,
          text: 'The programs can write only to: the working folder, temporary folders, ~/.npm; cannot see: the memory root, ~/.ssh; network: open.',
        },
        folder: {
          branch: 'main',
          head: '4f2c1d9e7a5b3c8d6e0f1a2b3c4d5e6f7a8b9c0d',
          changes: [
            {
              file: 'src/token.js',
              kind: 'modified',
              left_by: {
                case_id: exampleOf(caseIdParam),
                session_id: exampleOf(sessionIdParam),
                number: 2,
                title: 'A plan whose tests fail',
                state: 'failed',
              },
            },
            { file: 'notes.txt', kind: 'untracked', left_by: null },
          ],
          is_cut: false,
          reason: null,
        },
        busy: null,
        agent_files: [],
      },
    ],
  })

export type ApprovalViewJson = JsonOf<typeof approvalView>
