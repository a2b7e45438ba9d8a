import { Hono, type MiddlewareHandler, type Next } from 'hono'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import type { HttpDeps, Inbox } from './deps.ts'
import { type EndpointDeps, mount } from './endpoint.ts'
import { endpointsOf } from './endpoints.ts'
import { clearEarlierPrograms } from './middleware/earlier-programs.ts'
import {
  type ErrorPage,
  errorHandler,
  PATHS_WITH_PAGE,
  prefersHtml,
  redirectToPage,
} from './middleware/error-format.ts'
import { withLength } from './middleware/head-length.ts'
import { originCheck } from './middleware/origin-check.ts'
import { unknownRoute } from './middleware/unknown-route.ts'
import { createBroadcast } from './sse/broadcast.ts'
import type { StreamRegistry } from './sse/stream-registry.ts'

interface AppOptions {
  /** The port of the service. */
  port: () => number
  /** Whether `localhost` at this port leads nowhere else; by default it does. */
  hasLocalhost?: () => boolean
  streams: StreamRegistry
  inbox?: Inbox | null
  /** Loads the console, which is behind the same check; without it every error is JSON. */
  loadPages?: () => Promise<Pages>
}

export interface Pages {
  pages: Hono<ServiceEnv>
  /** Renders an error in a browser. */
  errorPage: ErrorPage
}

/** Only browsers send `Sec-Fetch-Site`. */
function noteConsoleAddress({ consoleAddress }: HttpDeps): MiddlewareHandler<ServiceEnv> {
  return (c, next) => {
    const { host, 'sec-fetch-site': site } = c.env?.incoming?.headers ?? {}
    if (site !== undefined && host) consoleAddress.url = `http://${host}`
    return next()
  }
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** These paths respond while the files are still being read. */
const EARLY = new Set(['/health', '/version', '/openapi.json'])
/** These paths wait until every further change makes an event. */
const LIVE = new Set(['/events'])

/** The HTTP app of a service. */
export function createApp(
  service: HttpDeps,
  { port, streams, inbox = null, loadPages, hasLocalhost }: AppOptions,
): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  const errorPage: ErrorPage | undefined =
    loadPages && (async (...error) => (await console()).errorPage(...error))
  app.use(originCheck(port, { page: errorPage, hasLocalhost }))
  if (loadPages) app.use(clearEarlierPrograms()).use(noteConsoleAddress(service))
  app.use((c, next) => {
    const isReady = service.start.stage() === 'begun' || EARLY.has(c.req.path)
    return isReady ? next() : afterStart(service, c, next)
  })
  app.use((c, next) => {
    const { method } = c.req
    if (method === 'HEAD') return withLength(c, next)
    return READS.has(method) ? next() : withEvents(service, next)
  })
  if (loadPages) for (const path of PATHS_WITH_PAGE) app.get(path, redirectToPage)
  const endpoints = endpointsOf(service)
  const deps: EndpointDeps = {
    ...service,
    streams,
    inbox,
    broadcast: createBroadcast(service.eventLog),
    webhookLocks: createKeyedMutex(),
    endpoints,
  }
  if (loadPages) app.get('/inbox', (c, next) => (prefersHtml(c) ? answerPage(c) : next())) // JSON at the same path
  for (const each of endpoints) mount(app, deps, each)
  const onError = errorHandler(service.log, errorPage)
  app.onError(onError)
  if (!loadPages) return app.notFound(unknownRoute(app))
  let opened: Promise<Pages> | undefined
  /** The console, once it is asked for: the pages, and what is neither a page nor an endpoint. */
  function console(): Promise<Pages> {
    opened ??= loadPages!().then((loaded) => {
      const all = new Hono<ServiceEnv>().route('/', app).route('/', loaded.pages)
      loaded.pages.notFound(unknownRoute(all, errorPage)).onError(onError)
      return loaded
    })
    return opened
  }
  async function answerPage(c: ServiceContext): Promise<Response> {
    const { pages } = await console()
    const { raw, method } = c.req
    return pages.fetch(method === 'HEAD' ? new Request(raw, { method: 'GET' }) : raw, c.env)
  }
  return app.all('*', answerPage)
}

/** Waits for the stage of the start that the request needs. */
async function afterStart({ start }: HttpDeps, c: ServiceContext, next: Next): Promise<void> {
  const isRead = READS.has(c.req.method) && !LIVE.has(c.req.path)
  await (isRead ? start.indexed : start.begun)
  await next()
}

/**
 * For a request that changes something: its events are on disk before the response is sent. While events cannot be
 * stored it is rejected, before it changes anything. If they fail after it has changed the files, it is answered as
 * made: `/health` says that they wait, and the next request is rejected.
 */
async function withEvents({ eventLog }: HttpDeps, next: Next): Promise<void> {
  if (eventLog.failure) await eventLog.flushed()
  await next()
  await eventLog.flushed().catch(() => {}) // the database logs the error
}
