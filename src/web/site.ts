import type { RequestListener } from 'node:http'
import { createApp } from '../http/app.ts'
import type { HttpNeeds } from '../http/needs.ts'
import { requestListener } from '../http/request-listener.ts'
import type { StreamRegistry } from '../http/stream-registry.ts'
import { pages } from './pages.ts'

interface SiteOptions {
  port: () => number
  streams: StreamRegistry
  hasPages: boolean
}

/** Everything that is answered: the endpoints, and the pages for people. */
export function siteListener(
  service: HttpNeeds,
  { port, streams, hasPages }: SiteOptions,
): RequestListener {
  const app = createApp(service, { port, streams, ...(hasPages ? pages(service) : {}) })
  return requestListener(app.fetch, service.log)
}
