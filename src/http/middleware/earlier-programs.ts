import type { MiddlewareHandler } from 'hono'
import type { ServiceEnv } from '../context.ts'
import { header, wantsPage } from './error-format.ts'

/**
 * Another program may have served at this address before and left a service worker in the browser, which would act as
 * the console. A browser asks for the worker's script again at each visit: it gets one that removes itself.
 */
const LAST_WORKER = `addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(leave()))
async function leave() {
  await clients.claim()
  await registration.unregister()
  for (const client of await clients.matchAll({ type: 'window' })) await client.navigate(client.url)
}
`

const CLEARING = '"cache", "storage"'

/** Removes what an earlier program left, with the first page that a browser opens here, and keeps no worker at all. */
export function clearEarlierPrograms(): MiddlewareHandler<ServiceEnv> {
  return (c, next) => {
    if (c.req.header('service-worker') === 'script') {
      const headers = {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'no-store',
      }
      return Promise.resolve(c.body(LAST_WORKER, 200, headers))
    }
    // the ports of one name share their cookies; the browser's port may be a forwarded one
    const port = /:(\d+)$/.exec(header(c, 'host') ?? '')?.[1] ?? '80'
    const mark = `casefile-${port}=cleared`
    if (wantsPage(c) && !c.req.header('cookie')?.includes(mark)) {
      c.env?.outgoing?.setHeader('clear-site-data', CLEARING)
      const kept = 'Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict'
      c.env?.outgoing?.setHeader('set-cookie', `${mark}; ${kept}`)
    }
    return next()
  }
}
