import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { caseId } from '../../http/params.ts'
import type { PageDeps } from '../deps.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { loadCasePage, loadSimilarCases } from './data.ts'
import { CasePage } from './page.tsx'

/** The page of a case. */
export function caseRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/case/:id', pageHeaders(), async (c) => {
    const data = await loadCasePage(service, await service.store.read(caseId(c)))
    const similar = await loadSimilarCases(service, data, c.req.query('similar') !== undefined)
    return pageResponse(
      c,
      <CasePage
        data={data}
        similar={similar}
        isNotPlanned={c.req.query('not-planned') !== undefined}
        assets={assets}
      />,
    )
  })
  return app
}
