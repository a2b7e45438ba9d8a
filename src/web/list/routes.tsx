import { join } from 'node:path'
import { stampOf } from '../../files/safe-read.ts'
import { SETTINGS_FILE } from '../../model/settings.ts'
import type { PageDeps, Routes } from '../deps.ts'
import { CASES, COMPARED, SEARCH } from '../shell/addresses.ts'
import { listing } from './data.ts'
import { filtersOf, pageOf, wordsOf } from './filters.ts'
import { ListPage } from './page.tsx'
import { rowFacts } from './row-facts.ts'

/** The list of cases, a page at a time. */
export const listRoutes: Routes = ({ service, assets }, get) => {
  get(
    CASES,
    async (c) => {
      // words are searched in one place
      if (c.req.query('q')?.trim()) return c.redirect(`${SEARCH}${new URL(c.req.url).search}`)
      const filters = filtersOf(c)
      const list = await listing(service, filters, pageOf(c))
      const facts = await rowFacts(
        service,
        list.groups.flatMap(({ rows }) => rows),
      )
      const words = wordsOf(service.lists)
      const settings = await service.settings()
      const agents = service.setup.lastAgents()
      return (
        <ListPage
          service={service}
          assets={assets}
          filters={filters}
          list={list}
          words={words}
          facts={facts}
          start={{
            isConfigured: await isConfigured(service),
            found: agents && list.total === 0 ? await service.setup.status(agents) : null,
            provider: settings.provider,
          }}
        />
      )
    },
    'self',
  )

  get(COMPARED, async (c) => c.json(await service.sync.status()))
}

async function isConfigured({ layout }: PageDeps['service']): Promise<boolean> {
  return (await stampOf(join(layout.root, SETTINGS_FILE))) !== null
}
