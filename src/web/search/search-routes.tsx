import { Hono } from 'hono'
import { queryOf } from '../../http/case-filter.ts'
import type { ServiceEnv } from '../../http/context.ts'
import { PROBLEMS } from '../../http/problem-json.ts'
import { limitOf, searched, wantedQuery } from '../../http/routes/search.ts'
import { Refusal } from '../../model/refusal.ts'
import type { PageNeeds } from '../needs.ts'
import { SEARCH } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { MOST_RESULTS, RESULTS_STEP, type SearchOutcome, SearchPage } from './search-page.tsx'

const LIMIT = { otherwise: RESULTS_STEP, most: MOST_RESULTS }

/** The page of the full text search, which has the results of `GET /search`. */
export function searchRoutes({ service, assets }: PageNeeds): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.get(SEARCH, pageHeaders({ forms: 'self' }), async (c) => {
    const q = c.req.query('q')?.trim() ?? ''
    const asked = queryOf(c)
    const query = (name: string) => (name === 'q' ? q : asked(name))
    const outcome = q === '' ? null : await outcomeOf(query)
    const page = <SearchPage assets={assets} q={q} outcome={outcome} />
    const response = await pageResponse(c, page)
    if (outcome === null || !('refused' in outcome)) return response
    return new Response(response.body, { status: 400, headers: response.headers })
  })
  return app

  async function outcomeOf(query: (name: string) => string | undefined): Promise<SearchOutcome> {
    try {
      return await searched(service, wantedQuery(query), limitOf(query, LIMIT))
    } catch (error) {
      if (!(error instanceof Refusal) || PROBLEMS[error.code].status !== 400) throw error
      return { refused: (error.errors[0]?.message ?? error.message).replace(/\.$/, '') }
    }
  }
}
