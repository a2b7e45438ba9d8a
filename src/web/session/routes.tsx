import type { ServiceContext } from '../../http/context.ts'
import { caseId } from '../../http/params.ts'
import { diffLayout } from '../changes/page.tsx'
import type { Routes } from '../deps.ts'
import { sessionPage } from '../shell/addresses.ts'
import { loadSessionPage, PLAN_VIEWS, type SessionQuery } from './data.ts'
import { findSession } from './find-session.ts'
import { SessionPage } from './page.tsx'

/** `/case/:id/session/:number`; `latest` and the id of a session redirect there. */
export const sessionRoutes: Routes = (deps, get) => {
  const { service, assets } = deps
  get('/case/:id/session/:number', async (c) => {
    const contents = await service.store.read(caseId(c))
    const name = c.req.param('number')
    const session = findSession(contents, name)
    if (String(session.number) !== name) {
      const { search } = new URL(c.req.url)
      return c.redirect(sessionPage(contents.case.id, session.number) + search)
    }
    const data = await loadSessionPage(deps, contents, session, queryOf(c))
    return <SessionPage data={data} assets={assets} />
  })
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
