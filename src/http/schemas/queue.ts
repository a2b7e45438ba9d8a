import * as z from 'zod'
import { count, id, time } from '../../model/schemas.ts'
import { caseIdParam, RESOLVED, sessionIdParam } from './params.ts'
import { exampleOf, type JsonOf } from './primitives.ts'

export const waitsFor = z
  .object({
    case_id: id,
    session_id: id,
    number: count,
    title: z.string().describe('Of its case.'),
  })
  .meta({ id: 'WaitsFor' })

const place = {
  since: time.describe('When it was approved.'),
  position: z.int().min(1).describe('1 is the next one for its folder.'),
  waits_for: waitsFor
    .nullable()
    .describe('The session that works now, or waits longer; null if it is about to start.'),
}

/** The place in line of a session. */
export const queuePlace = z.object(place).meta({ id: 'QueuePlace' })

export const queueEntry = z
  .object({
    case_id: id,
    session_id: id,
    number: count,
    title: z.string().describe('Of its case.'),
    folder: z.string().describe('Relative to the workspace where it lies in it.'),
    isolated: z.boolean().describe('Whether it waits for one of `parallel` isolated sessions.'),
    ...place,
  })
  .meta({
    id: 'QueueEntry',
    examples: [
      {
        case_id: exampleOf(caseIdParam),
        session_id: exampleOf(sessionIdParam),
        number: 1,
        title: 'Sign-in fails with a fresh token',
        folder: '.',
        isolated: false,
        since: '2026-11-20T10:00:00.000Z',
        position: 1,
        waits_for: {
          case_id: RESOLVED.id,
          session_id: RESOLVED.sid,
          number: 1,
          title: 'Two users share one password hash',
        },
      },
    ],
  })

export type QueuePlaceJson = JsonOf<typeof queuePlace>
export type QueueEntryJson = JsonOf<typeof queueEntry>
