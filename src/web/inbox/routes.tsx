import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import type { Inbox } from '../../http/deps.ts'
import { ownInbox } from '../../http/inbox-items.ts'
import type { PageDeps } from '../deps.ts'
import { INBOX } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { InboxPage } from './page.tsx'

/** The page of `GET /inbox`: a browser gets it at the same address. */
export function inboxRoutes({ service, assets }: PageDeps, inbox: Inbox | null): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  app.get(INBOX, pageHeaders(), async (c) => {
    const base = new URL(c.req.url).origin
    const list = await (inbox ? inbox.read(base) : ownInbox(service, base))
    return pageResponse(c, <InboxPage assets={assets} list={list} base={base} />)
  })
  return app
}
