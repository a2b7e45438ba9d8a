import { FILTER_NAMES } from '../model/case-fields.ts'
import type { CaseJson } from '../model/case-json.ts'
import type { CaseFilters } from '../state/case-filters.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { ServiceContext } from './context.ts'
import { knownState } from './params.ts'

/** The value of a query's field; undefined where it is not there. */
export type Query = (name: string) => string | undefined

/** What a query asks of cases. */
export interface CaseQuery {
  filters: CaseFilters
  /** Each is in the title or the description, or the id begins with it. */
  words: string[]
}

/** The filters of fields name values, as `state=A,B`, and `q=` words; null when none is given. */
export function caseQuery(query: Query): CaseQuery | null {
  const filters: CaseFilters = {}
  for (const name of FILTER_NAMES) {
    const values = valuesOf(query, name)
    if (name === 'state') values?.forEach(knownState)
    if (values?.length) filters[name] = values
  }
  const words = wordsOf(query('q') ?? '')
  return Object.keys(filters).length > 0 || words.length > 0 ? { filters, words } : null
}

/** The filters for the lists: the words are looked for in all cases, and name those that have them. */
export function filtersFor(
  { allJson }: Pick<Catalog, 'allJson'>,
  wanted: CaseQuery | null,
): CaseFilters {
  const { filters, words } = wanted ?? { filters: {}, words: [] }
  if (words.length === 0) return filters
  const ids: string[] = []
  for (const { id, json } of allJson())
    if (mayHaveWords(json, words) && hasWords(JSON.parse(json), words)) ids.push(id)
  return { ...filters, id: ids }
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

const LISTS = new Set<string>([...FILTER_NAMES, 'needs'])

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
