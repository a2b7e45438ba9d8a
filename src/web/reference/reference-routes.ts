import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { bytesWithETag } from '../../http/etag.ts'
import type { PageDeps } from '../deps.ts'
import { API_REFERENCE } from '../shell/addresses.ts'
import { pageHeaders } from '../shell/page-response.ts'

/** The page that shows the API; made when it is first asked for, and then the same as long as the service runs. */
export function referenceRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  const made = new Map<string, string>()
  app.get(API_REFERENCE, pageHeaders(), async (c) => {
    const { origin } = new URL(c.req.url)
    let html = made.get(origin)
    if (html === undefined) {
      const { referenceHtml } = await import('./reference-html.tsx')
      html = await referenceHtml({ service, assets, origin })
      made.set(origin, html)
    }
    return bytesWithETag(c, html, 'text/html; charset=utf-8')
  })
  return app
}
