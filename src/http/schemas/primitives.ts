import * as z from 'zod'
import { CASE_STATES } from '../../model/case-state.ts'
import { TIME, UUID } from '../../model/words.ts'

/** The parts that answers are made of. */
export const id = z.string().regex(UUID).meta({ format: 'uuid' })
export const time = z
  .string()
  .regex(TIME)
  .meta({ format: 'date-time' })
  .describe('ISO 8601 in UTC, with milliseconds.')
export const hash = z.string().regex(/^[0-9a-f]{64}$/)
export const count = z.int().min(0)
export const caseState = z.enum(CASE_STATES).meta({ id: 'CaseState' })
