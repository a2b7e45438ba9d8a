import type { CaseJson } from '../model/case-json.ts'
import type { Digest } from '../workspace/catalog.ts'
import type { ServiceContext } from './context.ts'
import { knownState } from './params.ts'

/** The value of a query's field; undefined where it is not there. */
export type Query = (name: string) => string | undefined

/** `state=A,B`, `outcome=`, `type=`, `tag=` name values, `q=` words; null when none is given. */
export function caseFilter(query: Query): ((each: Digest) => boolean) | null {
  const values = (name: string) => valuesOf(query, name)
  const states = values('state')?.map(knownState)
  const [outcomes, types, tags] = [values('outcome'), values('type'), values('tag')]
  const words = wordsOf(query('q') ?? '')
  const has = (wanted: string[] | undefined, value: string | null) =>
    !wanted?.length || (value !== null && wanted.includes(value))
  if (![states, outcomes, types, tags].some((wanted) => wanted?.length) && !words.length)
    return null
  return ({ row, json }) =>
    has(states, row.state) &&
    has(outcomes, row.outcome) &&
    has(types, row.type) &&
    (!tags?.length || row.tags.some((tag) => tags.includes(tag))) &&
    (!words.length || (mayHaveWords(json, words) && hasWords(JSON.parse(json), words)))
}

/** Shorter, and what looks like the beginning of an id is a word like any other. */
const ID_BEGINNING = /^[0-9a-f-]{4,36}$/

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}

/** Most have not, and need no parsing: each word stands somewhere in the JSON, as JSON writes it. */
function mayHaveWords(json: string, words: readonly string[]): boolean {
  const text = json.toLowerCase()
  return words.every((word) => text.includes(JSON.stringify(word).slice(1, -1)))
}

/** Each word stands in the title or the description, or is how the id begins. */
function hasWords({ id, title, description }: CaseJson, words: readonly string[]): boolean {
  const text = `${title}\n${description}`.toLowerCase()
  return words.every(
    (word) => text.includes(word) || (ID_BEGINNING.test(word) && id.startsWith(word)),
  )
}

const LISTS = new Set(['state', 'outcome', 'type', 'tag', 'needs'])

/** Of a field that takes several values, each that it is given: many clients repeat it in place of the commas. */
export function queryOf(c: ServiceContext): Query {
  return (name) => (LISTS.has(name) ? c.req.queries(name)?.join(',') : c.req.query(name))
}

/** The values of a field that takes several, with commas. */
export function valuesOf(query: Query, name: string): string[] | undefined {
  return query(name)
    ?.split(',')
    .filter((value) => value !== '')
}
