import * as z from 'zod'
import { FILTER_NAMES, type FilterName } from '../../model/case-fields.ts'
import { filteredValues } from '../../model/triage-row.ts'
import { type Filters, MAX_QUERY_LENGTH, parseQuery, type SearchQuery } from '../../search/query.ts'
import type { HttpDeps } from '../deps.ts'
import { endpoint } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import { knownState } from '../params.ts'
import { caseFilters, NEVER_EMPTY, wholeNumber } from '../schemas/query.ts'
import { type FoundCaseJson, foundCase } from '../schemas/search.ts'

/** The number of cases in a response. */
export const SEARCH_LIMIT = { default: 20, max: 100 }

const limit = ({ default: usual, max }: typeof SEARCH_LIMIT) =>
  wholeNumber(1, max)
    .optional()
    .meta({
      description: `Maximum number of results, 1 to ${max}; ${usual} by default.`,
      examples: [usual],
    })

export const searchQuery = {
  q: z
    .string('expected a word to look for, or a filter such as state:OPEN')
    .max(MAX_QUERY_LENGTH, `expected at most ${MAX_QUERY_LENGTH} characters`)
    .register(NEVER_EMPTY, { content: /\S/ })
    .meta({
      description:
        'Words, phrases in `"quotation marks"`, and filters such as `state:RESOLVED`, `type:bug` or `tag:auth`; at least one of them.',
      examples: ['salt'],
    }),
  ...caseFilters,
  limit: limit(SEARCH_LIMIT),
}

export const searchEndpoints = [
  endpoint({
    route: 'GET /search',
    id: 'searchCases',
    tag: 'Cases',
    summary: 'Search cases, sessions, memory and proof',
    description: 'Searches their full text. Each result has the lines that contain the words.',
    query: searchQuery,
    responses: {
      200: {
        description: 'Cases, best match first.',
        json: z.array(foundCase),
        headers: ['X-Total-Count'],
      },
    },
    errors: ['unknown_state'],
    async handle({ c, service, query }) {
      const { total, found } = await search(service, query)
      return answerJson(c, found, 200, { 'x-total-count': String(total) })
    },
  }),
]

export interface SearchParams extends Partial<Record<FilterName, string[] | undefined>> {
  q?: string | undefined
  limit?: number | undefined
}

/** The results of `GET /search`, and how many cases match in total. */
export async function search(
  service: Pick<HttpDeps, 'search' | 'catalog' | 'refresher'>,
  { limit = SEARCH_LIMIT.default, ...params }: SearchParams,
): Promise<{ total: number; found: FoundCaseJson[] }> {
  const query = searchFor(params)
  await service.refresher.freshenAll()
  const { total, hits } = await service.search.find(query, limit)
  const found = hits.flatMap(({ id, ...hit }): FoundCaseJson[] => {
    const row = service.catalog.row(id)
    if (!row) return [] // deleted in the meantime
    const { title, updated_at, needs } = row
    return [{ id, title, ...filteredValues(row), updated_at, needs, ...hit }]
  })
  return { total, found }
}

/** A case must match both the filters in `q` and the other query parameters. */
function searchFor({ q = '', ...params }: SearchParams): SearchQuery {
  const { filters: inText, ...text } = parseQuery(q)
  const filters: Filters = {}
  for (const name of FILTER_NAMES) {
    const beside = params[name]
    const within = inText[name]
    const both = beside?.length
      ? beside.filter((value) => !within || within.includes(value))
      : within
    if (name === 'state') [...(beside ?? []), ...(within ?? [])].forEach(knownState)
    if (both) filters[name] = both
  }
  return { ...text, filters }
}
