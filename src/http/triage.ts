import { ATTENTION_KINDS, type AttentionKind, isAttentionKind } from '../model/attention.ts'
import { Refusal } from '../model/refusal.ts'
import type { CaseFilters } from '../state/case-filters.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { caseQuery, filtersFor, type Query, valuesOf } from './case-filter.ts'

/** The filters of `GET /cases`, and `needs`: kinds with commas, or `any`, which is all but `running`. */
export async function triageFilters(
  service: {
    catalog: Pick<Catalog, 'allJson'>
    synchronizer: { freshenAll(): Promise<void> }
  },
  query: Query,
): Promise<CaseFilters> {
  const needs = wantedKinds(query)
  const wanted = caseQuery(query)
  await service.synchronizer.freshenAll()
  const filters = filtersFor(service.catalog, wanted)
  return needs ? { ...filters, needs } : filters
}

export function wantedKinds(query: Query): AttentionKind[] | null {
  const words = valuesOf(query, 'needs')
  if (!words?.length) return null
  return words.flatMap((word) => {
    if (word === 'any') return ATTENTION_KINDS.filter((kind) => kind !== 'running')
    if (isAttentionKind(word)) return word
    const expected = `expected any, or some of ${ATTENTION_KINDS.join(', ')}`
    const message = `${expected}; got ${JSON.stringify(word.slice(0, 60).toWellFormed())}`
    throw new Refusal('bad_request', `needs: ${message}.`, {
      errors: [{ path: 'needs', message }],
    })
  })
}
