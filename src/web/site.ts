import type { Hono } from 'hono'
import { createApp } from '../http/app.ts'
import type { ServiceEnv } from '../http/context.ts'
import type { HttpDeps, Inbox } from '../http/deps.ts'
import { requestListener } from '../http/request-listener.ts'
import type { StreamRegistry } from '../http/sse/stream-registry.ts'
import { notLoaded } from '../model/app-error.ts'
import { trackSilentLogs } from './session/silent-logs.ts'

interface SiteOptions {
  port: () => number
  hasLocalhost: () => boolean
  streams: StreamRegistry
  inbox: Inbox | null
  hasPages: boolean
}

export interface Site {
  fetch: Hono<ServiceEnv>['fetch']
  /** For node's server. */
  listener: ReturnType<typeof requestListener>
}

/** The whole HTTP application: the API, and the pages if there are any. */
export function createSite(
  service: HttpDeps,
  { port, hasLocalhost, streams, inbox, hasPages }: SiteOptions,
): Site {
  const isSilent = trackSilentLogs(service.outputs) // also of runs before the first page
  const loadPages = async () =>
    (await import('./pages.ts').catch(notLoaded)).pages(service, isSilent, inbox)
  const { fetch } = createApp(service, {
    port,
    hasLocalhost,
    streams,
    inbox,
    ...(hasPages ? { loadPages } : {}),
  })
  return { fetch, listener: requestListener(fetch, service.log) }
}
