import type { RequestListener } from 'node:http'
import { createApp } from '../http/app.ts'
import type { HttpDeps } from '../http/deps.ts'
import { requestListener } from '../http/request-listener.ts'
import type { StreamRegistry } from '../http/sse/stream-registry.ts'
import { pages } from './pages.ts'

interface SiteOptions {
  port: () => number
  streams: StreamRegistry
  hasPages: boolean
}

/** Everything that is answered: the endpoints, and the pages for people. */
export function siteListener(
  service: HttpDeps,
  { port, streams, hasPages }: SiteOptions,
): RequestListener {
  const app = createApp(service, { port, streams, ...(hasPages ? pages(service) : {}) })
  return requestListener(app.fetch, service.log)
}
