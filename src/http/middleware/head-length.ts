import type { Next } from 'hono'
import type { ServiceContext } from '../context.ts'

/** Gives the answer to a HEAD the Content-Length of the GET. A stream has none, and stays unread. */
export async function withLength(c: ServiceContext, next: Next): Promise<void> {
  await next()
  if (c.res.body === null) return
  const { headers } = c.res
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  if (headers.has('content-length') || isStream) return
  const { byteLength } = await c.res.arrayBuffer()
  headers.set('content-length', String(byteLength))
}
