import { FILTER_NAMES, type FilterName } from '../model/case-fields.ts'
import type { CaseJson } from '../model/case-json.ts'
import type { CaseFilters } from '../state/case-filters.ts'
import type { Catalog } from '../workspace/catalog.ts'

/** The filters of a list of cases, from its query. */
export interface CaseQuery extends Partial<Record<FilterName, string[] | undefined>> {
  /** Words; each must be in the title or the description, or begin the id. */
  q?: string | undefined
}

/** The filters for the database. The words of `q` are searched in all cases, and become the ids of the matches. */
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

/** A shorter text is only a word. */
const ID_BEGINNING = /^[0-9a-f-]{4,36}$/

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}

/** A cheap check of the JSON text: most cases fail it, and need no parsing. */
function mayHaveWords(json: string, words: readonly string[]): boolean {
  const text = json.toLowerCase()
  return words.every((word) => text.includes(JSON.stringify(word).slice(1, -1)))
}

/** Whether each word is in the title or the description, or begins the id. */
function hasWords({ id, title, description }: CaseJson, words: readonly string[]): boolean {
  const text = `${title}\n${description}`.toLowerCase()
  return words.every(
    (word) => text.includes(word) || (ID_BEGINNING.test(word) && id.startsWith(word)),
  )
}
