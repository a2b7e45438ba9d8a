import type { Next } from 'hono'
import type { ServiceContext } from '../context.ts'

/** Sets the Content-Length of a HEAD response to that of the GET. A stream has none, and is not read. */
export async function withLength(c: ServiceContext, next: Next): Promise<void> {
  await next()
  if (c.res.body === null) return
  const { headers } = c.res
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  if (headers.has('content-length') || isStream) return
  const { byteLength } = await c.res.arrayBuffer()
  headers.set('content-length', String(byteLength))
}
