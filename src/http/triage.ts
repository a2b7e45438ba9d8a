import { ATTENTION_KINDS, type AttentionKind, isAttentionKind } from '../model/attention.ts'
import { CASE_STATES, type CaseState } from '../model/case-state.ts'
import { Refusal } from '../model/refusal.ts'
import type { TriageRow } from '../model/triage-row.ts'
import { asOfNow } from './as-of-now.ts'
import { caseFilter, type Query, valuesOf } from './case-filter.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst } from './page.ts'

interface TriageNeeds {
  catalog: HttpNeeds['catalog']
  synchronizer: Pick<HttpNeeds['synchronizer'], 'freshenAll'>
}

interface SortedRows {
  version: number
  rows: TriageRow[]
  forgetting: NodeJS.Timeout
}

/** So long after the last request for the rows they make room. */
const IDLE_MS = 30_000

const lists = new WeakMap<TriageNeeds, SortedRows>()

/**
 * All cases, by what they need and then by `updated_at`, newest first. The very same array until
 * something changes.
 */
export function triageRows(service: TriageNeeds): Promise<TriageRow[]> {
  return asOfNow(service, () => rowsNow(service))
}

function rowsNow(service: TriageNeeds): TriageRow[] {
  const version = service.catalog.version()
  const list = lists.get(service)
  list?.forgetting.refresh()
  if (list?.version === version) return list.rows
  clearTimeout(list?.forgetting)
  const rows = service.catalog
    .digests()
    .map(({ row }) => ({ row, id: row.id, created_at: triagePlace(row) }))
    .sort(newestFirst)
    .map(({ row }) => row)
  const forgetting = setTimeout(() => lists.delete(service), IDLE_MS).unref()
  lists.set(service, { version, rows, forgetting })
  return rows
}

/**
 * The rows that a query asks for: by `needs` (kinds with commas, or `any`, which is all but `running`)
 * and by what `GET /cases` filters by. The same array as `triageRows` where it asks for nothing.
 */
export async function fittingRows(service: TriageNeeds, query: Query): Promise<TriageRow[]> {
  const wanted = wantedKinds(query)
  const fits = caseFilter(query)
  const rows = await triageRows(service)
  if (!wanted && !fits) return rows
  return rows.filter(({ id, needs }) => {
    if (wanted && (needs === null || !wanted.has(needs.kind))) return false
    const digest = fits ? service.catalog.digest(id) : undefined
    return !fits || (digest !== undefined && fits(digest))
  })
}

export interface TriageCounts {
  states: Record<CaseState, number>
  needs: Record<AttentionKind, number>
}

/** How many of the rows are in each state, and how many need what. */
export function triageCounts(rows: readonly TriageRow[]): TriageCounts {
  const states = zeros(CASE_STATES)
  const needs = zeros(ATTENTION_KINDS)
  for (const row of rows) {
    states[row.state]++
    if (row.needs) needs[row.needs.kind]++
  }
  return { states, needs }
}

/** By what the list is ordered, from high to low. */
export function triagePlace({ needs, updated_at }: TriageRow): string {
  const kind = needs ? ATTENTION_KINDS.indexOf(needs.kind) : ATTENTION_KINDS.length
  return `${ATTENTION_KINDS.length - kind} ${updated_at}`
}

export function wantedKinds(query: Query): ReadonlySet<AttentionKind> | null {
  const words = valuesOf(query, 'needs')
  if (!words?.length) return null
  return new Set(
    words.flatMap((word) => {
      if (word === 'any') return ATTENTION_KINDS.filter((kind) => kind !== 'running')
      if (isAttentionKind(word)) return word
      const expected = `expected any, or some of ${ATTENTION_KINDS.join(', ')}`
      const message = `${expected}; got ${JSON.stringify(word.slice(0, 60).toWellFormed())}`
      throw new Refusal('bad_request', `needs: ${message}.`, {
        errors: [{ path: 'needs', message }],
      })
    }),
  )
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>
}
