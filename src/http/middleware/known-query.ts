import type { MiddlewareHandler } from 'hono'
import { FILTER_NAMES } from '../../model/case-fields.ts'
import { type FieldError, Refusal } from '../../model/refusal.ts'
import type { ServiceEnv } from '../context.ts'

/** What `GET /cases` filters by; the other lists of cases take these too. */
export const CASE_FILTERS = [...FILTER_NAMES, 'q'] as const
export const TRIAGE_FILTERS = ['needs', 'named', ...CASE_FILTERS] as const
export const PAGING = ['limit', 'cursor'] as const

/** The query parameters of a route; a request with any other is refused, and one with an empty filter. */
export function knownQuery(...known: readonly string[]): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    checkQuery(Object.entries(c.req.queries()), known)
    await next()
  }
}

/** Refuses with `bad_request` a mistyped or empty filter: it would filter nothing, and all there is would fit. */
export function checkQuery(
  query: Iterable<readonly [name: string, values: readonly string[]]>,
  known: readonly string[],
): void {
  const errors: FieldError[] = []
  for (const [name, values] of query) {
    const message = known.includes(name) ? emptyMessage(name, values) : unknownMessage(name, known)
    if (message !== null) errors.push({ path: name.slice(0, 60), message })
  }
  const [first] = errors
  if (first) throw new Refusal('bad_request', `${first.path}: ${first.message}.`, { errors })
}

const NEVER_EMPTY: ReadonlySet<string> = new Set(TRIAGE_FILTERS)

function emptyMessage(name: string, values: readonly string[]): string | null {
  const content = name === 'q' ? /\S/ : /[^,\s]/ // a comma is a word that can be looked for
  if (!NEVER_EMPTY.has(name) || values.some((value) => content.test(value))) return null
  return 'expected a value; it is empty. Leave the parameter out, or give it one'
}

function unknownMessage(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known)
  const hint = nearest === null ? '' : `, perhaps you mean ${nearest}`
  return `unknown query parameter${hint}; this path takes ${known.join(', ')}`
}

/** The one that differs by the fewest letters, if they are few. */
function nearestOf(name: string, known: readonly string[]): string | null {
  const distances = known.map((each) => [distance(name.toLowerCase(), each), each] as const)
  const [letters, nearest] = distances.sort(([a], [b]) => a - b)[0] ?? [Infinity, null]
  return letters <= Math.max(1, Math.floor(name.length / 2)) ? nearest : null
}

/** How many letters must be put in, taken out or replaced to make one word the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from.slice(0, 40)].entries()) {
    const next = [at + 1]
    for (let index = 0; index < to.length; index++) {
      const replaced = row[index]! + (letter === to[index] ? 0 : 1)
      next.push(Math.min(replaced, row[index + 1]! + 1, next[index]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
