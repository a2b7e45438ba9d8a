import * as z from 'zod'
import { CASE_STATES } from '../../model/case-state.ts'
import { SLUG, SLUG_RULE, TIME, UUID } from '../../model/words.ts'

/** The parts of requests and responses. */
export const id = z.string().regex(UUID).meta({ format: 'uuid' })
export const time = z
  .string()
  .regex(TIME)
  .meta({ format: 'date-time' })
  .describe('ISO 8601 in UTC, with milliseconds.')
export const hash = z.string().regex(/^[0-9a-f]{64}$/)
export const count = z.int().min(0)
export const caseState = z.enum(CASE_STATES).meta({ id: 'CaseState' })

/** An id in a request body. */
export const sentId = z.string().regex(UUID, 'expected a UUID in lower case')
export const providerName = z.string().regex(SLUG, `expected ${SLUG_RULE}`)

/** What a schema describes, as a TypeScript type: read-only, because responses are made from shared values. */
export type JsonOf<Schema extends z.ZodType> = ReadonlyJson<z.infer<Schema>>

type ReadonlyJson<T> = T extends object ? { readonly [Key in keyof T]: ReadonlyJson<T[Key]> } : T
