import { createHash } from 'node:crypto'
import type { HttpDeps } from '../../http/deps.ts'
import { triageFilters, wantedKinds } from '../../http/triage.ts'
import { ATTENTION_KINDS, type AttentionKind } from '../../model/attention.ts'
import { CASE_STATES, type CaseState } from '../../model/case-state.ts'
import { LIST_GROUPS, type ListGroup, listGroup } from '../../model/list-order.ts'
import type { CaseCount } from '../../state/case-lists.ts'
import type { Filters } from './filters.ts'
import { type Group, groupsOf } from './groups.ts'

/** The cases that fit, and how many would. */
export interface Listing extends Counts {
  groups: Group[]
  /** How many there are. */
  total: number
  /** Names which cases are where: of two with the same, the parts fit together. */
  order: string
}

/** Refuses what `GET /triage` refuses. */
export async function listing(
  service: Pick<HttpDeps, 'catalog' | 'lists' | 'synchronizer'>,
  filters: Filters,
): Promise<Listing> {
  const { lists } = service
  // counts need those too that are not of the chosen states and kinds
  const others = await triageFilters(service, queryOf({ ...filters, needs: [], state: [] }))
  const states = filters.state.length > 0 ? { state: filters.state } : {}
  const kinds = wantedKinds(queryOf(filters))
  const needs = kinds ? { needs: kinds } : {}
  const counts = countsOf(lists.counts(others), filters.state, kinds)
  const ids = lists.pageIds({ ...others, ...states, ...needs })
  const groups = groupsOf(ids, counts.sizes)
  return {
    ...counts,
    groups,
    total: service.catalog.size(),
    order: orderOf(groups),
  }
}

interface Counts {
  /** How many fit. */
  fitting: number
  sizes: Record<ListGroup, number>
  /** Of each state and kind, how many would be shown with it instead of what is chosen of its sort. */
  states: Record<CaseState, number>
  needs: Record<AttentionKind, number>
  /** How many fit whatever they need. */
  anyNeed: number
}

function countsOf(
  all: readonly CaseCount[],
  states: readonly string[],
  kinds: readonly string[] | null,
): Counts {
  const counts: Counts = {
    fitting: 0,
    sizes: zeros(LIST_GROUPS),
    states: zeros(CASE_STATES),
    needs: zeros(ATTENTION_KINDS),
    anyNeed: 0,
  }
  for (const { state, needs, count } of all) {
    const hasState = states.length === 0 || states.includes(state)
    const hasKind = !kinds || (needs !== null && kinds.includes(needs))
    if (hasKind) counts.states[state] += count
    if (!hasState) continue
    counts.anyNeed += count
    if (needs) counts.needs[needs] += count
    if (!hasKind) continue
    counts.fitting += count
    counts.sizes[listGroup(state, needs)] += count
  }
  return counts
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>
}

function queryOf(filters: Filters): (name: string) => string | undefined {
  const { q, ...lists } = filters
  return (name) => (name === 'q' ? q : lists[name as keyof typeof lists]?.join(','))
}

function orderOf(groups: readonly Group[]): string {
  const hash = createHash('sha256')
  for (const { chunks } of groups)
    for (const { id, ids } of chunks) hash.update(`${id} ${ids.join()}\n`)
  return hash.digest('hex').slice(0, 12)
}
