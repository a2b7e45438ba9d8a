import { join } from 'node:path'
import { Hono } from 'hono'
import { stampOf } from '../../files/safe-read.ts'
import type { ServiceEnv } from '../../http/context.ts'
import { readStats } from '../../http/routes/stats.ts'
import { SETTINGS_FILE } from '../../model/settings.ts'
import { UUID } from '../../model/words.ts'
import { startObjections } from '../../sessions/start-checks.ts'
import type { PageDeps } from '../deps.ts'
import { CASES, NEW_CASE } from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { providerChoices } from '../shell/provider-select.tsx'
import { filtersOf, pageOf, wordsOf } from './filters.ts'
import { ListPage } from './list-page.tsx'
import { listing } from './listing.ts'
import { NewCasePage } from './new-case-page.tsx'
import { rowFacts } from './row-facts.ts'

/** The list of cases, a page at a time, and the page of a new case. */
export function listRoutes({ service, assets, setup }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get(CASES, pageHeaders({ forms: 'self' }), async (c) => {
    const filters = filtersOf(c)
    const list = await listing(service, filters, pageOf(c))
    const facts = await rowFacts(
      service,
      list.groups.flatMap(({ rows }) => rows),
    )
    const words = wordsOf(service.lists)
    const settings = await service.settings()
    return pageResponse(
      c,
      <ListPage
        service={service}
        assets={assets}
        filters={filters}
        list={list}
        words={words}
        facts={facts}
        stats={readStats(service)}
        start={{
          isConfigured: await isConfigured(service),
          found: setup.last(),
          provider: settings.provider,
        }}
      />,
    )
  })

  app.get(NEW_CASE, pageHeaders(), async (c) => {
    await service.synchronizer.freshenAll()
    const words = wordsOf(service.lists)
    const settings = await service.settings()
    const place = { root: service.layout.root, workdir: null, settings }
    const agents = setup.last()?.agents ?? null
    const objections = await startObjections(place, service.agents)
    const start = {
      providers: providerChoices(settings, agents, objections),
      provider: settings.provider,
      areKnown: agents !== null,
      objections,
    }
    const parentId = c.req.query('parent') ?? ''
    const parent = UUID.test(parentId) ? service.catalog.folder(parentId)?.case : undefined
    return pageResponse(
      c,
      <NewCasePage assets={assets} words={words} start={start} parent={parent} />,
    )
  })
  return app
}

async function isConfigured({ layout }: PageDeps['service']): Promise<boolean> {
  return (await stampOf(join(layout.root, SETTINGS_FILE))) !== null
}
