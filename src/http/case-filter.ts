import { FILTER_NAMES, type FilterName } from '../model/case-fields.ts'
import type { CaseJson } from '../model/case-json.ts'
import type { CaseFilters } from '../state/case-filters.ts'
import type { Catalog } from '../workspace/catalog.ts'

/** The filters of a list of cases, as its query has them. */
export interface CaseQuery extends Partial<Record<FilterName, string[] | undefined>> {
  /** Words, each of which must be in the title or the description, or begin the id. */
  q?: string | undefined
}

/** The filters for the database. The words of `q` are looked for in all cases, and become the ids of those that have them. */
export function filtersFor({ allJson }: Pick<Catalog, 'allJson'>, query: CaseQuery): CaseFilters {
  const filters: CaseFilters = {}
  for (const name of FILTER_NAMES) {
    const values = query[name]
    if (values?.length) filters[name] = values
  }
  const words = wordsOf(query.q ?? '')
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
