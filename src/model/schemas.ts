import * as z from 'zod'
import { CASE_STATES, SESSION_TYPES } from './case-state.ts'
import { TIME, UUID } from './name-patterns.ts'
import { PROBLEM_CODES } from './problem.ts'
import { SESSION_STATES } from './session-state.ts'

/** Values of events, requests and responses. A schema with an `id` is a component of the API description. */

export const id = z.string().regex(UUID).meta({ format: 'uuid' })
export const time = z
  .string()
  .regex(TIME)
  .meta({ format: 'date-time' })
  .describe('ISO 8601 in UTC, with milliseconds.')
export const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 in hex.')
export const count = z.int().min(0)

export const caseState = z.enum(CASE_STATES).meta({
  id: 'CaseState',
  description:
    'RESOLVED requires verified proof. NON_ISSUE, WONT_FIX and COMPRESSED are closed without proof, WATCHLIST is parked. In NEEDS_USER_INPUT, the reason of the case is a question to a person.',
})
export const sessionState = z.enum(SESSION_STATES).meta({
  id: 'SessionState',
  description:
    '`plan_ready`: the plan waits for approval. `complete`: all steps went as planned. A session has ended if it is `failed` or `abandoned`, or `complete` with proof.',
})
export const sessionType = z.enum(SESSION_TYPES).meta({
  id: 'SessionType',
  description: 'The aim that the agent gets. It also decides how the state of the case changes.',
})
export const problemCode = z.enum(PROBLEM_CODES).meta({
  id: 'ProblemCode',
  description: '`docs/problems.md` explains each code.',
})
export const runMode = z.enum(['plan', 'work']).meta({
  id: 'RunMode',
  description: 'Whether the agent planned or carried out the plan.',
})
