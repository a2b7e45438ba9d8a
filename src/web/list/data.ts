import type { HttpDeps } from '../../http/deps.ts'
import { triageFilters } from '../../http/triage.ts'
import { STATE_GROUPS, type StateGroup, stateGroup } from '../../model/state-groups.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import type { Filters } from './filters.ts'

export const PAGE_SIZE = 100

/** One page of the cases that match the filters. */
export interface Listing {
  /** The rows of the page under their groups. */
  groups: { name: StateGroup; rows: TriageRow[] }[]
  /** How many cases of each group match the other filters. */
  sizes: Record<StateGroup, number>
  /** How many cases match. */
  fitting: number
  /** How many cases the workspace has. */
  total: number
  page: number
  pages: number
}

/** The page with this number, or the last one. Rejects what `GET /triage` rejects. */
export async function listing(
  service: Pick<HttpDeps, 'catalog' | 'lists' | 'search' | 'refresher'>,
  filters: Filters,
  wantedPage: number,
): Promise<Listing> {
  const { lists, catalog } = service
  const { group, ...query } = filters
  const others = await triageFilters(service, query)
  const sizes = Object.fromEntries(STATE_GROUPS.map((name) => [name, 0])) as Listing['sizes']
  for (const { state, needs, count } of lists.counts(others))
    sizes[stateGroup(state, needs)] += count
  const shown = STATE_GROUPS.filter((name) => group.length === 0 || group.includes(name))
  const fitting = shown.reduce((sum, name) => sum + sizes[name], 0)
  const pages = Math.max(1, Math.ceil(fitting / PAGE_SIZE))
  const page = Math.min(wantedPage, pages)
  const chosen = group.length > 0 ? { ...others, group } : others
  const rows = lists.listPage(chosen, (page - 1) * PAGE_SIZE, PAGE_SIZE)
  return {
    groups: shown.flatMap((name) => {
      const own = rows.filter(({ state, needs }) => stateGroup(state, needs?.kind) === name)
      return own.length > 0 ? { name, rows: own } : []
    }),
    sizes,
    fitting,
    total: catalog.size(),
    page,
    pages,
  }
}
