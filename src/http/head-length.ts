import type { MiddlewareHandler } from 'hono'
import type { ServiceEnv } from './context.ts'

/** Gives the answer to a HEAD the Content-Length of the GET. A stream has none, and stays unread. */
export function headLength(): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    if (c.req.method !== 'HEAD') return next()
    await next()
    if (c.res.body === null) return
    const { headers } = c.res
    const isStream = headers.get('content-type')?.startsWith('text/event-stream')
    if (headers.has('content-length') || isStream) return
    const { byteLength } = await c.res.arrayBuffer()
    headers.set('content-length', String(byteLength))
  }
}
