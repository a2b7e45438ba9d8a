import * as z from 'zod'
import { AppError, type FieldError } from '../../model/app-error.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { nearestName } from './nearest-name.ts'

type RawIssue = z.core.$ZodRawIssue

/** A request may have very many errors; the first ones say enough. */
const MOST_ERRORS = 20

/**
 * The value as the schema returns it. Throws `bad_request` with an entry for each wrong field: what was expected (the
 * schema's own message if it has one) and what came. An unknown case state has an error code of its own.
 */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): T {
  return parse(schema, value, () => [])
}

/**
 * The body of a request as the schema returns it. If it is rejected, the error also names its unknown fields, because a
 * misspelt name is often the cause; otherwise they are ignored.
 */
export function parseBody<T>(schema: z.ZodType<T>, body: Readonly<Record<string, unknown>>): T {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : null
  return parse(schema, body, () => (known ? unknownFields(Object.keys(body), known) : []))
}

function parse<T>(schema: z.ZodType<T>, value: unknown, unknown: () => FieldError[]): T {
  const result = schema.safeParse(value, { error: expectation, reportInput: true })
  if (result.success) return result.data
  const { issues } = result.error
  const others = unknown()
  if (issues.length === 1) throwIfUnknownState(issues[0]!, others)
  const wrong = issues.filter((issue) => !isOfWhole(issue)).map(toFieldError)
  const whole = issues.filter(isOfWhole).map(({ message }) => `${message}.`)
  const shown = [...wrong.slice(0, 1), ...others.slice(0, 1)]
  const more = wrong.length + others.length - shown.length
  const sentences = [...whole, ...shown.map(sentence)]
  if (more > 0) sentences.push(`${more} more in "errors".`)
  const errors = [...wrong.slice(0, MOST_ERRORS), ...others]
  throw new AppError('bad_request', sentences.join(' '), { errors })
}

/** Whether it is about no field, but about the body as a whole. */
function isOfWhole({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'custom' && path.length === 0
}

function toFieldError({ path, message, input }: z.core.$ZodIssue): FieldError {
  return { path: fieldPath(path), message: `${message}; ${gotten(input)}` }
}

function unknownFields(names: readonly string[], known: readonly string[]): FieldError[] {
  const unknown = names.filter((name) => !known.includes(name)).slice(0, MOST_ERRORS)
  return unknown.map((name) => {
    const nearest = nearestName(name, known)
    const instead = nearest ? `did you mean ${nearest}?` : `the fields are ${known.join(', ')}`
    return { path: fieldPath([name]), message: `not a known field; ${instead}` }
  })
}

function sentence({ path, message }: FieldError): string {
  const text = `${path || 'The request'}: ${message}`
  return text.endsWith('?') ? text : `${text}.`
}

/** Throws `unknown_state` if the issue is a name that is no case state. */
export function throwIfUnknownState(
  issue: z.core.$ZodIssue,
  others: readonly FieldError[] = [],
): void {
  const { code, input } = issue
  if (code !== 'invalid_value' || typeof input !== 'string') return
  if (issue.values.join() === CASE_STATES.join()) throw unknownState(input, others)
}

/** `others` are errors of the same request. */
export function unknownState(state: string, others: readonly FieldError[] = []): AppError {
  const came = `"${state.slice(0, 60)}"`
  const message = `got ${came}, expected one of ${CASE_STATES.join(', ')}`
  const errors = [{ path: 'state', message }, ...others]
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
