import { Hono, type Next } from 'hono'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { FILTER_NAMES } from '../model/case-fields.ts'
import { gateOf } from '../model/case-folder.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import type { HttpDeps } from './deps.ts'
import { jsonWithETag } from './etag.ts'
import { unknownRoute } from './middleware/allowed-methods.ts'
import { withLength } from './middleware/head-length.ts'
import { knownQuery, PAGING, TRIAGE_FILTERS } from './middleware/known-query.ts'
import { originCheck } from './middleware/origin-check.ts'
import { caseId } from './params.ts'
import { problemHandler } from './problem-json.ts'
import type { RefusalPage } from './refusal-page.ts'
import { artifactRoutes } from './routes/artifacts.ts'
import { caseRoutes } from './routes/cases.ts'
import { eventsRoute } from './routes/events.ts'
import { memoryRoutes } from './routes/memory.ts'
import { planRoutes } from './routes/plans.ts'
import { proofRoutes } from './routes/proof.ts'
import { providerRoutes } from './routes/providers.ts'
import { searchRoute } from './routes/search.ts'
import { streamRoute } from './routes/session-stream.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { similarRoute } from './routes/similar.ts'
import { systemRoutes } from './routes/system.ts'
import { triageRoute } from './routes/triage.ts'
import { caseAddress, globalAddress } from './routes/webhook-address.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { createBroadcast } from './sse/broadcast.ts'
import type { StreamRegistry } from './sse/stream-registry.ts'

interface AppOptions {
  /** The port that a Host header must name. */
  port: () => number
  streams: StreamRegistry
  /** What people open in a browser, behind the same check. */
  pages?: Hono<ServiceEnv>
  /** Shows them a refusal; without it each is JSON. */
  refusalPage?: RefusalPage
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** What is answered while the files are still being read, */
const EARLY = new Set(['/health', '/version', '/openapi.json'])
/** and what has to wait until each further change makes an event. */
const LIVE = new Set(['/events'])

/** The whole HTTP side as one function of the service. */
export function createApp(
  service: HttpDeps,
  { port, streams, pages, refusalPage }: AppOptions,
): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.use(originCheck(port, refusalPage))
  app.use((c, next) => {
    const isReady = service.start.stage() === 'begun' || EARLY.has(c.req.path)
    return isReady ? next() : afterStart(service, c, next)
  })
  app.use((c, next) => {
    const { method } = c.req
    if (method === 'HEAD') return withLength(c, next)
    return READS.has(method) ? next() : withEvents(service, next)
  })
  const broadcast = createBroadcast(service.eventLog)
  app.route('/', systemRoutes(service))
  app.get('/triage', knownQuery(...TRIAGE_FILTERS, ...PAGING), (c) => triageRoute(service, c))
  app.get('/search', knownQuery(...FILTER_NAMES, 'q', 'limit'), (c) => searchRoute(service, c))
  app.get('/events', knownQuery('after', 'case', 'output'), (c) =>
    eventsRoute(service, { registry: streams, broadcast }, c),
  )
  app.get('/cases/:id/gate', async (c) => {
    return jsonWithETag(c, gateOf(await service.store.read(caseId(c))))
  })
  app.get('/cases/:id/similar', knownQuery('limit'), (c) => similarRoute(service, c))
  app.get('/cases/:id/sessions/:sid/stream', knownQuery('after'), (c) =>
    streamRoute(service, streams, c),
  )
  app.route('/cases/:id/sessions/:sid/plans', planRoutes(service))
  app.route('/cases/:id/sessions/:sid/artifacts', artifactRoutes(service))
  app.route('/cases/:id/sessions', sessionRoutes(service))
  app.route('/cases/:id/proof', proofRoutes(service))
  app.route('/cases/:id/memory', memoryRoutes(service))
  const turns = createKeyedMutex()
  app.route('/webhooks', webhookRoutes(service, globalAddress(service), turns))
  app.route('/cases/:id/webhooks', webhookRoutes(service, caseAddress(service), turns))
  app.route('/cases', caseRoutes(service))
  if (service.dev) app.route('/providers', providerRoutes(service, streams))
  if (pages) app.route('/', pages)
  app.notFound(unknownRoute(app, refusalPage))
  app.onError(problemHandler(service.log))
  return app
}

/** For a request that came before all is known that it needs. */
async function afterStart({ start }: HttpDeps, c: ServiceContext, next: Next): Promise<void> {
  const isRead = READS.has(c.req.method) && !LIVE.has(c.req.path)
  await (isRead ? start.indexed : start.begun)
  await next()
}

/** For a request that changes something. */
async function withEvents({ eventLog }: HttpDeps, next: Next): Promise<void> {
  // nothing is changed while its events could not be stored
  if (eventLog.failure) await eventLog.flushed()
  await next()
  // the events of a request are on the disk before its answer goes out
  await eventLog.flushed()
}
