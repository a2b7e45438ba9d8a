import type { HttpDeps } from '../../http/deps.ts'
import type { Case } from '../../model/case.ts'
import { UUID } from '../../model/name-patterns.ts'
import { STATE_GROUPS } from '../../model/state-groups.ts'
import { startObjections } from '../../sessions/start-checks.ts'
import type { Routes } from '../deps.ts'
import { wordsOf } from '../list/filters.ts'
import { NEW_CASE } from '../shell/addresses.ts'
import { providerChoices } from '../shell/provider-select.tsx'
import { NewCasePage } from './page.tsx'

/** The page on which a case is made. */
export const newCaseRoutes: Routes = ({ service, assets }, get) => {
  get(NEW_CASE, async (c) => {
    await service.refresher.freshenAll()
    const words = wordsOf(service.lists)
    const settings = await service.settings()
    const place = { root: service.layout.root, workdir: null, settings }
    const agents = service.setup.lastAgents()
    const objections = await startObjections(place, service.agents)
    const start = {
      providers: providerChoices(settings, agents, objections),
      provider: settings.provider,
      areKnown: agents !== null,
      objections,
    }
    const parentId = c.req.query('parent') ?? ''
    const parent = UUID.test(parentId) ? service.catalog.folder(parentId)?.case : undefined
    return (
      <NewCasePage
        assets={assets}
        words={words}
        start={start}
        checklist={settings.checklist}
        parent={parent}
        parents={parentsFor(service, parent)}
      />
    )
  })
}

const MAX_PARENTS = 100

/** The cases that wait or are worked on, in the order of the list. */
function parentsFor({ lists }: HttpDeps, parent: Case | undefined) {
  const rows = lists.listPage(
    { group: STATE_GROUPS.filter((group) => group !== 'done') },
    0,
    MAX_PARENTS,
  )
  return parent && !rows.some(({ id }) => id === parent.id) ? [parent, ...rows] : rows
}
