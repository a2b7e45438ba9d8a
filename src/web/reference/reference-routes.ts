import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { bytesWithETag } from '../../http/etag.ts'
import type { PageDeps } from '../deps.ts'
import { API_REFERENCE } from '../shell/addresses.ts'
import { pageHeaders } from '../shell/page-response.ts'

/** The page of the API reference. It takes a while to build, so it is built at the first request and kept. */
export function referenceRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  const made = new Map<string, string>()
  app.get(API_REFERENCE, pageHeaders(), async (c) => {
    const { origin } = new URL(c.req.url)
    let html = made.get(origin)
    if (html === undefined) {
      const { referenceHtml } = await import('./reference-page.tsx')
      html = await referenceHtml({ service, assets, origin })
      made.set(origin, html)
    }
    return bytesWithETag(c, html, 'text/html; charset=utf-8')
  })
  return app
}
