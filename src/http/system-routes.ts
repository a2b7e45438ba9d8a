import { Hono } from 'hono'
import type { ServiceEnv } from './context.ts'
import { healthOf } from './health.ts'
import type { HttpNeeds } from './needs.ts'

/** `/health` and `/version` (specification §4.7). */
export function systemRoutes(service: HttpNeeds): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/health', async (c) => c.json(await healthOf(service)))

  app.get('/version', (c) => {
    const { version, commit } = service.build
    return c.json({ version, commit, node: process.version, started_at: service.startedAt })
  })

  return app
}
