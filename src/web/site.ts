import type { Hono } from 'hono'
import { createApp } from '../http/app.ts'
import type { ServiceEnv } from '../http/context.ts'
import type { HttpDeps } from '../http/deps.ts'
import type { StreamRegistry } from '../http/sse/stream-registry.ts'
import { pages } from './pages.ts'

interface SiteOptions {
  port: () => number
  hasLocalhost: () => boolean
  streams: StreamRegistry
  hasPages: boolean
}

/** The whole HTTP application: the API, and the pages if there are any. */
export function siteApp(
  service: HttpDeps,
  { port, hasLocalhost, streams, hasPages }: SiteOptions,
): Hono<ServiceEnv> {
  return createApp(service, { port, hasLocalhost, streams, ...(hasPages ? pages(service) : {}) })
}
