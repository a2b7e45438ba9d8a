import { ATTENTION_KINDS, type AttentionKind } from '../model/attention.ts'
import type { CaseFilters } from '../state/case-filters.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { type CaseQuery, filtersFor } from './case-filter.ts'

/** The filters of `GET /cases`, and kinds of need; `any` is every kind except `running`. */
export interface TriageQuery extends CaseQuery {
  needs?: readonly (AttentionKind | 'any')[] | undefined
}

/** The filters for the database, once all known changes of the files are in it. */
export async function triageFilters(
  service: {
    catalog: Pick<Catalog, 'allJson'>
    synchronizer: { freshenAll(): Promise<void> }
  },
  query: TriageQuery,
): Promise<CaseFilters> {
  await service.synchronizer.freshenAll()
  const filters = filtersFor(service.catalog, query)
  const needs = kindsOf(query.needs)
  return needs ? { ...filters, needs } : filters
}

export function kindsOf(needs: TriageQuery['needs']): AttentionKind[] | null {
  if (!needs?.length) return null
  return needs.flatMap((word) =>
    word === 'any' ? ATTENTION_KINDS.filter((kind) => kind !== 'running') : word,
  )
}
