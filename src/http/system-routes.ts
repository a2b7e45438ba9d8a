import { Hono } from 'hono'
import type { ServiceEnv } from './context.ts'
import type { HttpNeeds } from './needs.ts'

/** `/health` and `/version` (specification §4.7). */
export function systemRoutes(service: HttpNeeds): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/health', async (c) => {
    await service.freshness.list()
    const { problems } = await service.settings()
    return c.json({
      status: 'ok',
      cases: service.catalog.ids().length,
      problems: [...problems, ...service.scan.strangers()],
    })
  })

  app.get('/version', (c) => {
    const { version, commit } = service.build
    return c.json({ version, commit, node: process.version, started_at: service.startedAt })
  })

  return app
}
