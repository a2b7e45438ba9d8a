import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import type { PageDeps } from '../deps.ts'
import { FOUND_AGENTS, SETUP } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { SetupPage } from './page.tsx'

/** The page of the setup, and what its script waits for. */
export function setupRoutes({ assets, service: { setup } }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get(SETUP, pageHeaders(), async (c) => {
    const agents = setup.lastAgents()
    const found = agents && (await setup.status(agents))
    return pageResponse(c, <SetupPage assets={assets} found={found} />)
  })

  // pages that are loaded after the answer show what was found
  app.get(FOUND_AGENTS, pageHeaders(), async (c) => {
    await setup.findAgents({ again: c.req.query('again') !== undefined })
    return c.body(null, 204)
  })

  return app
}
