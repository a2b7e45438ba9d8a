import { ATTENTION_KINDS, type AttentionKind, isAttentionKind } from '../model/attention.ts'
import { casesNamed } from '../model/case-names.ts'
import { Refusal } from '../model/refusal.ts'
import type { CaseFilters } from '../state/case-filters.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { caseQuery, filtersFor, type Query, valuesOf } from './case-filter.ts'

/** The filters of `GET /cases`; `needs`: kinds with commas, or `any`, which is all but `running`; and `named`. */
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
  if (needs) filters.needs = needs
  const name = query('named')
  if (name !== undefined) {
    const ids = idsNamed(service.catalog, name)
    filters.id = filters.id ? ids.filter((id) => filters.id!.includes(id)) : ids
  }
  return filters
}

/** Most cases do not have the word, and are not parsed. */
function idsNamed({ allJson }: Pick<Catalog, 'allJson'>, name: string): string[] {
  const wanted = name.trim().toLowerCase()
  const inJson = JSON.stringify(wanted).slice(1, -1)
  const maybe: { id: string; title: string }[] = []
  for (const { id, json } of allJson()) {
    if (id.startsWith(wanted) || json.toLowerCase().includes(inJson)) maybe.push(JSON.parse(json))
  }
  return casesNamed(maybe, wanted).map(({ id }) => id)
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
