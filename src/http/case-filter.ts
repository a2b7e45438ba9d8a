import { FILTER_NAMES, type FilterName } from '../model/case-fields.ts'
import { parseQuery } from '../search/query.ts'
import type { Search } from '../search/search.ts'
import type { CaseFilters } from '../workspace/index/lists.ts'

/** The filters of a list of cases, from its query. */
export interface CaseQuery extends Partial<Record<FilterName, string[] | undefined>> {
  /** A query of the search. A case must have all of its words. */
  q?: string | undefined
}

/** The filters for the database. `q` is searched as `GET /search` does, and becomes the ids of the cases that match. */
export async function filtersFor(
  search: Pick<Search, 'matching'>,
  query: CaseQuery,
): Promise<CaseFilters> {
  const filters: CaseFilters = {}
  for (const name of FILTER_NAMES) {
    const values = query[name]
    if (values?.length) filters[name] = values
  }
  if (query.q !== undefined && query.q !== '')
    filters.id = await search.matching(parseQuery(query.q))
  return filters
}
