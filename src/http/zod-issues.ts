import type { z } from 'zod'
import { type FieldError, Refusal } from '../model/refusal.ts'

type RawIssue = z.core.$ZodRawIssue
type Issue = z.core.$ZodIssue

/** One request may be wrong in very many places; the first ones say enough. */
const MOST_ERRORS = 20

/**
 * The value as the schema gives it, or `bad_request` with an entry for each wrong field: what was
 * expected (the schema's own message where it has one) and what came.
 */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: expectation, reportInput: true })
  if (result.success) return result.data
  const all = result.error.issues.flatMap((issue) => flattened(issue, []))
  const errors = all.slice(0, MOST_ERRORS)
  const first = `${errors[0]?.path || 'The request'}: ${errors[0]?.message}.`
  const more = all.length > 1 ? ` ${all.length - 1} more in "errors".` : ''
  throw new Refusal('bad_request', first + more, { errors })
}

/** As in `steps[0].timeout`; empty for the root. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`
    const name = shortened(String(key), 60)
    if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
}

/** A union says what is wrong in the one form that fits by type; else, that none does. */
function flattened(issue: Issue, parents: PropertyKey[]): FieldError[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'invalid_union') {
    const near = issue.errors.filter((branch) => !branch.every(isWrongType))
    if (near.length === 1) return near[0]!.flatMap((inner) => flattened(inner, path))
  }
  return [{ path: fieldPath(path), message: `${issue.message}; ${came(issue)}` }]
}

function isWrongType(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0
}

function came(issue: Issue): string {
  if (issue.code === 'unrecognized_keys') return `got ${issue.keys.map(shown).join(', ')}`
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
    const owner = issue.input as Record<string, unknown> | undefined
    return gotten(owner?.[issue.discriminator])
  }
  return gotten(issue.input)
}

function gotten(value: unknown): string {
  return value === undefined ? 'it is missing' : `got ${shown(value)}`
}

function shown(value: unknown): string {
  const text = shortened(JSON.stringify(value) ?? String(value), 60)
  if (value === null || typeof value === 'boolean') return text
  const type = Array.isArray(value) ? 'array' : typeof value
  return `the ${type} ${text}`
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}

/** Asked by zod only where the schema has no message of its own. */
function expectation(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${NOUNS[issue.expected] ?? issue.expected}`
    case 'too_small':
      return `expected ${bound(issue, issue.exact ? 'exactly' : issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`
    case 'too_big':
      return `expected ${bound(issue, issue.exact ? 'exactly' : issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`
    case 'invalid_format':
      return `expected ${formatted(issue)}`
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return 'expected no other names than the documented ones'
    case 'invalid_union': {
      const branches = (issue.errors ?? []).flatMap((branch) => branch[0]?.message ?? [])
      const forms = branches.map((message) => message.replace(/^expected /, ''))
      return forms.length > 0 ? `expected ${forms.join(' or ')}` : 'expected one of the known forms'
    }
    case 'invalid_key':
      return 'expected another name'
    case 'invalid_element':
      return 'expected another element'
    case 'custom':
      return 'expected another value'
    default:
      return issue satisfies never
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  datetime: 'a time as in 2026-01-31T09:30:00.000Z',
  date: 'a date as in 2026-01-31',
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' }

function bound(issue: { origin: string }, words: string, limit: number | bigint): string {
  const unit = UNITS[issue.origin]
  if (unit === undefined) return `${words} ${limit}`
  return `${words} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`
}

function formatted(issue: RawIssue & { code: 'invalid_format' }): string {
  if (issue.pattern !== undefined && FORMATS[issue.format] === undefined) {
    return `text that matches ${issue.pattern}`
  }
  const detail = issue.prefix ?? issue.suffix ?? issue.includes
  const noun = FORMATS[issue.format] ?? `text in the format ${issue.format}`
  return detail === undefined ? noun : `${noun} ${JSON.stringify(detail)}`
}
