import { Hono } from 'hono'
import type { ServiceContext, ServiceEnv } from '../../http/context.ts'
import { caseId } from '../../http/params.ts'
import { diffLayout } from '../changes/page.tsx'
import type { PageDeps } from '../deps.ts'
import { sessionPage } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { loadSessionPage, PLAN_VIEWS, type SessionQuery } from './data.ts'
import { findSession } from './find-session.ts'
import { SessionPage } from './page.tsx'
import type { IsSilent } from './silent-logs.ts'

/** `/case/:id/session/:number`; `latest` and the id of a session redirect there. */
export function sessionRoutes(
  needs: Pick<PageDeps, 'service' | 'assets'> & { isSilent: IsSilent },
): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  const { service, assets } = needs
  app.get('/case/:id/session/:number', pageHeaders(), async (c) => {
    const contents = await service.store.read(caseId(c))
    const name = c.req.param('number')
    const session = findSession(contents, name)
    if (String(session.number) !== name) {
      const { search } = new URL(c.req.url)
      return c.redirect(sessionPage(contents.case.id, session.number) + search)
    }
    const data = await loadSessionPage(needs, contents, session, queryOf(c))
    return pageResponse(c, <SessionPage data={data} assets={assets} />)
  })
  return app
}

function queryOf(c: ServiceContext): SessionQuery {
  const view = PLAN_VIEWS.find((each) => each === c.req.query('view')) ?? 'rendered'
  const against = c.req.query('against') ?? ''
  const trail = c.req.query('trail') ?? ''
  return {
    view,
    against: /^[0-9a-f]{8,64}$/.test(against) ? against : null,
    diff: diffLayout(c.req.query('diff')),
    trailPage: /^[1-9]\d{0,5}$/.test(trail) ? Number(trail) : null,
    withOutput: c.req.query('output') !== 'none',
  }
}
