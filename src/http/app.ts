import { Hono } from 'hono'
import { gateOf } from '../model/case-folder.ts'
import { createKeyedMutex } from '../workspace/keyed-mutex.ts'
import { unknownRoute } from './allowed-methods.ts'
import { caseRoutes } from './case-routes.ts'
import type { ServiceEnv } from './context.ts'
import { jsonWithETag } from './etag.ts'
import type { StreamRegistry } from './event-stream.ts'
import { eventsRoute } from './events-route.ts'
import { guard } from './guard.ts'
import { memoryRoutes } from './memory-routes.ts'
import type { HttpNeeds } from './needs.ts'
import { caseId } from './params.ts'
import { problemHandler } from './problem-json.ts'
import { proofRoutes } from './proof-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { streamRoute } from './stream-route.ts'
import { systemRoutes } from './system-routes.ts'
import { caseAddress, globalAddress } from './webhook-address.ts'
import { webhookRoutes } from './webhook-routes.ts'

interface AppOptions {
  /** The port that a Host header must name. */
  port: () => number
  streams: StreamRegistry
}

/** The whole HTTP side as one function of the service. */
export function createApp(service: HttpNeeds, { port, streams }: AppOptions): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.use(guard(port))
  app.use(async (c, next) => {
    const { eventLog } = service
    const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)
    // where events cannot be kept just now, nothing is changed that they would have to tell
    if (!isRead && eventLog.failure) await eventLog.flushed()
    await next()
    // the events of a request are on the disk before its answer goes out (design §5)
    if (!isRead) await eventLog.flushed()
  })
  app.route('/', systemRoutes(service))
  app.get('/events', (c) => eventsRoute(service, streams, c))
  app.get('/cases/:id/gate', async (c) => {
    return jsonWithETag(c, gateOf(await service.store.read(caseId(c))))
  })
  app.get('/cases/:id/sessions/:sid/stream', (c) => streamRoute(service, streams, c))
  app.route('/cases/:id/sessions', sessionRoutes(service))
  app.route('/cases/:id/proof', proofRoutes(service))
  app.route('/cases/:id/memory', memoryRoutes(service))
  const turns = createKeyedMutex()
  app.route('/webhooks', webhookRoutes(service, globalAddress(service), turns))
  app.route('/cases/:id/webhooks', webhookRoutes(service, caseAddress(service), turns))
  app.route('/cases', caseRoutes(service))
  app.notFound(unknownRoute(app))
  app.onError(problemHandler(service.log))
  return app
}
