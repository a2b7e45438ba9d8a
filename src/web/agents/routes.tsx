import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import type { PageDeps } from '../deps.ts'
import { AGENTS } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { loadAgents } from './data.ts'
import { AgentsPage } from './page.tsx'

/** The agents that people run in terminals themselves. */
export function agentsRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.get(AGENTS, pageHeaders(), async (c) => {
    return pageResponse(c, <AgentsPage assets={assets} {...(await loadAgents(service))} />)
  })
  return app
}
