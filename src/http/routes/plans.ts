import { Hono } from 'hono'
import { sessionOf } from '../../model/case-folder.ts'
import { planHistory, savedAt } from '../../sessions/plan-history.ts'
import type { ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { jsonWithETag } from '../etag.ts'
import { caseId, sessionId } from '../params.ts'
import { serializeSession } from '../serializers.ts'

/** `/cases/:id/sessions/:sid/plans`: every plan that the session had, oldest first. */
export function planRoutes(service: HttpDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.get('/', async (c) => {
    const folder = await service.store.read(caseId(c))
    const session = sessionOf(folder, sessionId(c))
    const json = await serializeSession(service, folder, session)
    const present = { plan: json.plan, savedAt: savedAt(service, json) }
    return jsonWithETag(c, await planHistory(service.plans, session, present))
  })
  return app
}
