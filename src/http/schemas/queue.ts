import * as z from 'zod'
import { count, id, time } from '../../model/schemas.ts'
import type { JsonOf } from './primitives.ts'

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

export type QueuePlaceJson = JsonOf<typeof queuePlace>
