import { CASE_STATES, type CaseState, isCaseState } from '../model/case-state.ts'
import { Refusal } from '../model/refusal.ts'
import { UUID } from '../model/words.ts'
import type { ServiceContext } from './context.ts'

/** The case's id; a text that is none names no case (404) and never reaches a path. */
export function caseId(c: ServiceContext): string {
  return idParam(c, 'id', 'case')
}

export function sessionId(c: ServiceContext): string {
  return idParam(c, 'sid', 'session')
}

export function proofId(c: ServiceContext): string {
  return idParam(c, 'pid', 'proof')
}

/** The name of a memory file, decoded once; one that is not well encoded would mean another file than it says. */
export function memoryFilename(c: ServiceContext, name: 'filename' | 'file' = 'filename'): string {
  const written = c.req.url.split(/[?#]/, 1)[0]!.split('/').at(-1)!
  if (!isWellEncoded(written)) {
    const message = `expected a percent-encoded UTF-8 name; got "${written.slice(0, 120)}"`
    const errors = [{ path: 'filename', message }]
    throw new Refusal('invalid_filename', `filename: ${message}.`, { errors })
  }
  return c.req.param(name) ?? ''
}

function isWellEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** `name`: below a case, whose id is `:id`, that of the webhook is `:webhook_id` (specification §4.5). */
export function webhookId(c: ServiceContext, name: 'id' | 'webhook_id'): string {
  return idParam(c, name, 'webhook')
}

/** The case that a query names with `case=`, there or not; null where it names none. */
export function caseInQuery(c: ServiceContext): string | null {
  const id = c.req.query('case')
  if (id === undefined || UUID.test(id)) return id ?? null
  const message = `expected the UUID of a case in lower case; got "${id.slice(0, 80)}"`
  const errors = [{ path: 'case', message }]
  throw new Refusal('bad_request', `case: ${message}.`, { errors })
}

/** Whether what steps print is wanted: `output=no` leaves it out. */
export function outputInQuery(c: ServiceContext): boolean {
  const word = c.req.query('output')
  if (word === undefined) return true
  if (word === 'no') return false
  const message = `expected no, which leaves out what steps print; got "${word.slice(0, 80)}"`
  const errors = [{ path: 'output', message }]
  throw new Refusal('bad_request', `output: ${message}.`, { errors })
}

/** A case's state from a body or a query; refuses with `unknown_state`. */
export function knownState(state: string): CaseState {
  if (isCaseState(state)) return state
  const came = `"${state.slice(0, 60)}"`
  const message = `got ${came}, expected one of ${CASE_STATES.join(', ')}`
  const errors = [{ path: 'state', message }]
  throw new Refusal('unknown_state', `There is no case state ${came}.`, { errors })
}

function idParam(c: ServiceContext, name: string, what: string): string {
  const id = c.req.param(name) ?? ''
  if (UUID.test(id)) return id
  throw new Refusal(
    'not_found',
    `There is no ${what} "${id.slice(0, 80)}": expected a UUID in lower case.`,
  )
}
