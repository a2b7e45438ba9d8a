import type * as z from 'zod'
import { AppError, type FieldError } from '../../model/app-error.ts'
import { CASE_STATES } from '../../model/case-state.ts'

type RawIssue = z.core.$ZodRawIssue

/** A request may have very many errors; the first ones say enough. */
const MOST_ERRORS = 20

/**
 * The value as the schema returns it. Throws `bad_request` with an entry for each wrong field: what was expected (the
 * schema's own message if it has one) and what came. An unknown case state has an error code of its own.
 */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: expectation, reportInput: true })
  if (result.success) return result.data
  const all = result.error.issues
  if (all.length === 1) throwIfUnknownState(all[0]!)
  const errors: FieldError[] = all.slice(0, MOST_ERRORS).map((issue) => ({
    path: fieldPath(issue.path),
    message: `${issue.message}; ${gotten(issue.input)}`,
  }))
  const first = `${errors[0]?.path || 'The request'}: ${errors[0]?.message}.`
  const more = all.length > 1 ? ` ${all.length - 1} more in "errors".` : ''
  throw new AppError('bad_request', first + more, { errors })
}

/** Throws `unknown_state` if the issue is a name that is no case state. */
export function throwIfUnknownState(issue: z.core.$ZodIssue): void {
  const { code, input } = issue
  if (code !== 'invalid_value' || typeof input !== 'string') return
  if (issue.values.join() === CASE_STATES.join()) throw unknownState(input)
}

export function unknownState(state: string): AppError {
  const came = `"${state.slice(0, 60)}"`
  const message = `got ${came}, expected one of ${CASE_STATES.join(', ')}`
  const errors = [{ path: 'state', message }]
  return new AppError('unknown_state', `There is no case state ${came}.`, { errors })
}

/** Such as `steps[0].timeout`; empty for the root. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`
    const name = shortened(String(key), 60)
    if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
}

function gotten(value: unknown): string {
  return value === undefined ? 'it is missing' : `got ${shown(value)}`
}

function shown(value: unknown): string {
  const text = shortened(JSON.stringify(beginningOf(value, 4)) ?? String(value), 60)
  if (value === null || typeof value === 'boolean') return text
  const type = Array.isArray(value) ? 'array' : typeof value
  return `the ${type} ${text}`
}

/** Cuts deep nesting, which would overflow the stack. */
function beginningOf(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return '…'
  if (Array.isArray(value)) return value.slice(0, 30).map((each) => beginningOf(each, levels - 1))
  const entries = Object.entries(value).slice(0, 30)
  return Object.fromEntries(entries.map(([key, each]) => [key, beginningOf(each, levels - 1)]))
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}

/** For schemas without a message of their own. It knows only the checks that our schemas use. */
function expectation(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${NOUNS[issue.expected] ?? issue.expected}`
    case 'too_big':
      return `expected at most ${issue.maximum} ${UNITS[issue.origin] ?? ''}`.trimEnd()
    case 'invalid_value':
      return issue.values.length > 2
        ? `expected one of ${issue.values.join(', ')}`
        : `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    default:
      return 'expected another value'
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'items' }
