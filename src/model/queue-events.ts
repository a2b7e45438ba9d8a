import * as z from 'zod'
import { lineOf, say } from './event-line.ts'
import { entry, given, optional } from './event-row.ts'
import { count, id } from './schemas.ts'

const session = z.object({ case_id: id, session_id: id, number: count, title: z.string() })

/** The events of approved sessions that wait for their working folder. */
export const QUEUE_EVENTS = {
  queued: entry(
    {
      waits_for: session
        .nullable()
        .describe(
          'The session that it waits for, and the title of its case; null if it just ended.',
        ),
      head: given.nullable().describe('The commit that is checked out; null before the first one.'),
      branch: optional(given),
      uncommitted: optional(count).describe('The number of uncommitted files.'),
      comments: optional(z.array(given)).describe('The comments that were sent with the approval.'),
    },
    {
      line: ({ waits_for }) => {
        if (!waits_for) return lineOf('plain', 'waits in line')
        const { number, title } = waits_for as Record<string, unknown>
        return lineOf('plain', `waits in line, after session ${say(number)} of “${say(title)}”`)
      },
      example: {
        waits_for: {
          case_id: 'c12d54ae-1933-4631-a05f-aecf75428827',
          session_id: '1a6976d2-9465-43b0-aeaa-34814a49b922',
          number: 1,
          title: 'Sign-in fails with a fresh token',
        },
        head: '3f1c9a5d0b7e4f2a8c6d1e0f9b8a7c6d5e4f3a2b',
        branch: 'main',
        uncommitted: 2,
      },
    },
  ),
} as const
