import { FILTER_NAMES } from '../../model/case-fields.ts'
import { Refusal } from '../../model/refusal.ts'
import { filteredValues, type TriageRow } from '../../model/triage-row.ts'
import { type CaseSummary, type Filters, parseQuery, type SearchQuery } from '../../search/query.ts'
import type { Hit } from '../../search/search.ts'
import { type Query, queryOf, valuesOf } from '../case-filter.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { withFreshCatalog } from '../fresh-catalog.ts'
import { answerJson } from '../json-body.ts'
import { knownState } from '../params.ts'

/** A case as the search gives it. */
export type FoundCase = CaseSummary & Hit

/** Of how many cases are given. */
export const SEARCH_LIMIT = { otherwise: 20, most: 100 }

/** `GET /search`: the cases that a query means, the best first, with the lines that say so. */
export async function searchRoute(service: HttpDeps, c: ServiceContext): Promise<Response> {
  const query = queryOf(c)
  const { total, found } = await searched(service, wantedQuery(query), limitOf(query, SEARCH_LIMIT))
  return answerJson(c, found, 200, { 'x-total-count': String(total) })
}

export function searched(
  service: Pick<HttpDeps, 'search' | 'catalog' | 'synchronizer'>,
  query: SearchQuery,
  limit: number,
): Promise<{ total: number; found: FoundCase[] }> {
  return withFreshCatalog(service, async () => {
    const { total, hits } = await service.search.find(query, limit)
    const found = hits.flatMap(({ id, ...hit }) => {
      const row = service.catalog.row(id) // deleted meanwhile
      return row ? { id, ...summaryOf(row), ...hit } : []
    })
    return { total, found }
  })
}

function summaryOf(row: TriageRow): CaseSummary {
  return {
    title: row.title,
    ...filteredValues(row),
    updated_at: row.updated_at,
  }
}

/** The query with the filters beside it: both must fit. */
export function wantedQuery(query: Query): SearchQuery {
  const { filters: inText, ...text } = parseQuery(query('q') ?? '')
  const filters: Filters = {}
  for (const name of FILTER_NAMES) {
    const beside = valuesOf(query, name)
    const within = inText[name]
    const both = beside?.length
      ? beside.filter((value) => !within || within.includes(value))
      : within
    if (name === 'state') [...(beside ?? []), ...(within ?? [])].forEach(knownState)
    if (both) filters[name] = both
  }
  return { ...text, filters }
}

export function limitOf(query: Query, { otherwise, most }: typeof SEARCH_LIMIT): number {
  const text = query('limit')
  if (text === undefined) return otherwise
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= most) return limit
  const came = JSON.stringify(text.slice(0, 60).toWellFormed())
  const message = `expected a whole number from 1 to ${most}; got ${came}`
  throw new Refusal('bad_request', `limit: ${message}.`, { errors: [{ path: 'limit', message }] })
}
