import { basename } from 'node:path'
import { Hono } from 'hono'
import type { Pages } from '../http/app.ts'
import type { ServiceEnv } from '../http/context.ts'
import type { HttpDeps, Inbox } from '../http/deps.ts'
import { NEEDS_YOU } from '../model/state-groups.ts'
import { visibleText } from '../rendering/hidden-characters.ts'
import { recentConversations } from './agents/recent-conversations.ts'
import { agentsRoutes } from './agents/routes.tsx'
import { loadAssets } from './assets.ts'
import { caseRoutes } from './case/routes.tsx'
import { changesRoutes } from './changes/routes.tsx'
import type { AddPage, PageDeps, Routes } from './deps.ts'
import { helpRoutes } from './help/routes.tsx'
import { inboxRoutes } from './inbox/routes.tsx'
import { listRoutes } from './list/routes.tsx'
import { logRoutes } from './log/routes.tsx'
import { memoryRoutes } from './memory/routes.tsx'
import { newCaseRoutes } from './new-case/routes.tsx'
import { proofRoutes } from './proof/routes.tsx'
import { searchRoutes } from './search/routes.tsx'
import { sessionRoutes } from './session/routes.tsx'
import type { IsSilent } from './session/silent-logs.ts'
import { setupRoutes } from './setup/routes.tsx'
import { createErrorPage } from './shell/error-page.tsx'
import { pageHeaders, pageResponse } from './shell/page-response.ts'

const ALL: readonly Routes[] = [
  listRoutes,
  searchRoutes,
  newCaseRoutes,
  caseRoutes,
  proofRoutes,
  memoryRoutes,
  sessionRoutes,
  logRoutes,
  changesRoutes,
  agentsRoutes,
  setupRoutes,
  helpRoutes,
]

/**
 * The operator's pages. They only read. Their script sends every change to the JSON endpoints, so the same rules
 * apply to people and programs. To add a page: a folder with its routes, and a line here.
 */
export function pages(service: HttpDeps, isSilent: IsSilent, inbox: Inbox | null = null): Pages {
  const assets = loadAssets(visibleText(basename(service.layout.root)), {
    hasAgents: () => recentConversations(service).length > 0,
    hasInbox: () => inbox?.hasOthers() ?? false,
    waiting: waitingCount(service),
  })
  const deps: PageDeps = { service, assets, isSilent }
  const app = new Hono<ServiceEnv>()
  app.use('/assets/*', pageHeaders())
  app.route('/', assets.routes)
  app.route('/', inboxRoutes(deps, inbox))
  const get: AddPage = (path, page, forms) =>
    app.get(path, pageHeaders(forms), async (c) => {
      const made = await page(c)
      return made instanceof Response ? made : pageResponse(c, made)
    })
  for (const addRoutes of ALL) addRoutes(deps, get, app)
  return { pages: app, errorPage: createErrorPage(assets) }
}

/** Counting is slow while a start has thousands of cases to store, so a count serves until something has happened. */
const COUNT_MS = 1_000

function waitingCount({ lists, eventLog }: HttpDeps): () => number {
  let last = { event: -1, at: 0, count: 0 }
  return () => {
    const now = performance.now()
    if (last.event !== eventLog.last || now - last.at > COUNT_MS) {
      last = { event: eventLog.last, at: now, count: lists.count({ needs: NEEDS_YOU }) }
    }
    return last.count
  }
}
