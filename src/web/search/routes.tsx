import type { ServiceContext } from '../../http/context.ts'
import { ERRORS } from '../../http/errors.ts'
import { search, searchQuery } from '../../http/routes/search.ts'
import { parseQuery } from '../../http/schemas/parse-query.ts'
import { wholeNumber } from '../../http/schemas/query.ts'
import { AppError } from '../../model/app-error.ts'
import type { Routes } from '../deps.ts'
import { SEARCH } from '../shell/addresses.ts'
import { pageResponse } from '../shell/page-response.ts'
import { MOST_RESULTS, RESULTS_STEP, type SearchOutcome, SearchPage } from './page.tsx'

/** "Show more" raises the limit, so the page allows more than the endpoint. */
const pageQuery = { ...searchQuery, limit: wholeNumber(1, MOST_RESULTS).optional() }

/** The full-text search, with the results of `GET /search`. */
export const searchRoutes: Routes = ({ service, assets }, get) => {
  get(
    SEARCH,
    async (c) => {
      const q = c.req.query('q')?.trim() ?? ''
      const outcome = q === '' ? null : await outcomeOf(c)
      const page = <SearchPage assets={assets} q={q} outcome={outcome} />
      const response = await pageResponse(c, page)
      if (outcome === null || !('error' in outcome)) return response
      return new Response(response.body, { status: 400, headers: response.headers })
    },
    'self',
  )

  async function outcomeOf(c: ServiceContext): Promise<SearchOutcome> {
    const sent = Object.entries(c.req.queries()).filter(([name]) => name in pageQuery)
    try {
      const query = parseQuery(pageQuery, Object.fromEntries(sent))
      return await search(service, { ...query, limit: query.limit ?? RESULTS_STEP })
    } catch (error) {
      if (!(error instanceof AppError) || ERRORS[error.code].status !== 400) throw error
      return { error: (error.errors[0]?.message ?? error.message).replace(/\.$/, '') }
    }
  }
}
