import { type AttentionKind, CLOSED_STATES } from '../model/attention.ts'
import { findCasesByName } from '../model/case-names.ts'
import { NEEDS_YOU } from '../model/state-groups.ts'
import type { Search } from '../search/search.ts'
import type { CaseFilters, CaseLists } from '../workspace/index/lists.ts'
import { type CaseQuery, filtersFor } from './case-filter.ts'

/** The filters of `GET /cases`, and what the cases need; `any` is `NEEDS_YOU`. */
export interface TriageQuery extends CaseQuery {
  needs?: readonly (AttentionKind | 'any')[] | undefined
  /** A title, a part of one, or the beginning of an id. */
  named?: string | undefined
  open?: 'true' | 'false' | undefined
}

/** The filters for the database, after all known changes of files are in it. */
export async function triageFilters(
  service: {
    lists: Pick<CaseLists, 'newest'>
    search: Pick<Search, 'matching'>
    refresher: { freshenAll(): Promise<void> }
  },
  query: TriageQuery,
): Promise<CaseFilters> {
  await service.refresher.freshenAll()
  const filters = await filtersFor(service.search, query)
  const needs = kindsOf(query.needs)
  if (needs) filters.needs = needs
  if (query.open === 'true') filters.unless = CLOSED_STATES
  if (query.named !== undefined) {
    const ids = idsNamed(service.lists, query.named)
    filters.id = filters.id ? ids.filter((id) => filters.id!.includes(id)) : ids
  }
  return filters
}

function idsNamed(lists: Pick<CaseLists, 'newest'>, name: string): string[] {
  return findCasesByName(lists.newest({}, null, null), name).map(({ id }) => id)
}

export function kindsOf(needs: TriageQuery['needs']): AttentionKind[] | null {
  if (!needs?.length) return null
  return needs.flatMap((word) => (word === 'any' ? NEEDS_YOU : word))
}
