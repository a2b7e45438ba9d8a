import * as z from 'zod'
import { CHANGE_KINDS } from '../../git/uncommitted.ts'
import { SESSION_STATES } from '../../model/session-state.ts'
import { caseIdParam, sessionIdParam } from './params.ts'
import { exampleOf, type JsonOf } from './primitives.ts'

const change = z.object({
  file: z.string().describe('Relative to the working folder.'),
  kind: z.enum(CHANGE_KINDS),
  left_by: z
    .object({
      case_id: z.string(),
      session_id: z.string(),
      number: z.int(),
      title: z.string(),
      state: z.enum(SESSION_STATES),
    })
    .nullable()
    .describe(
      'The last session that has the file in its diff, if it was not changed after that session; else null.',
    ),
})

/** What is not committed in the working folder of a case. */
export const uncommitted = z
  .object({
    branch: z.string().nullable().describe('Null for a detached HEAD, or without a repository.'),
    head: z.string().nullable().describe('The commit; null without one.'),
    changes: z.array(change).describe('At most 500.'),
    is_cut: z.boolean().describe('Whether there are more changes than these.'),
    reason: z.string().nullable().describe('Why the changes are not known; null if they are.'),
  })
  .meta({
    id: 'Uncommitted',
    examples: [
      {
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
    ],
  })

export type UncommittedJson = JsonOf<typeof uncommitted>
