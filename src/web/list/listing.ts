import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { HttpNeeds } from '../../http/needs.ts'
import {
  fittingRows,
  type TriageCounts,
  triageCounts,
  triageRows,
  wantedKinds,
} from '../../http/triage.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { type Filters, listAddress } from './filters.ts'
import { type Group, groupsOf } from './groups.ts'
import { type Words, wordsOf } from './words.ts'

/** The cases that fit, and what stands around them. */
export interface Listing {
  groups: Group[]
  /** How many fit, and how many there are. */
  fitting: number
  total: number
  /** Of each state and kind, how many would be shown with it instead of what is chosen of its sort. */
  counts: TriageCounts
  /** How many fit whatever they need. */
  anyNeed: number
  words: Words
  /** Names which cases are where: of two with the same, the parts fit together. */
  order: string
}

const KEPT = 16
const kept = new WeakMap<readonly TriageRow[], LRUCache<string, Listing>>()

/** Made once for each state of the cases: a page is asked for in parts. Refuses what `fittingRows` refuses. */
export async function listing(
  service: Pick<HttpNeeds, 'catalog' | 'synchronizer'>,
  filters: Filters,
): Promise<Listing> {
  const all = await triageRows(service)
  const known = kept.get(all) ?? new LRUCache<string, Listing>({ max: KEPT })
  kept.set(all, known)
  const address = listAddress(filters)
  const made = known.get(address)
  if (made) return made
  const base = await fittingRows(service, queryOf({ ...filters, needs: [], state: [] }))
  const { rows, counts, anyNeed } = narrowed(base, filters)
  const groups = groupsOf(rows)
  const fresh: Listing = {
    groups,
    fitting: rows.length,
    total: all.length,
    counts,
    anyNeed,
    words: wordsOf(all),
    order: orderOf(groups),
  }
  known.set(address, fresh)
  return fresh
}

/** Those of the chosen states and needs, counted in the same pass: there may be many. */
function narrowed(
  base: readonly TriageRow[],
  filters: Filters,
): { rows: TriageRow[]; counts: TriageCounts; anyNeed: number } {
  const kinds = wantedKinds(queryOf(filters))
  const states = new Set<string>(filters.state)
  const counts = triageCounts([])
  const rows: TriageRow[] = []
  let anyNeed = 0
  for (const row of base) {
    const hasState = states.size === 0 || states.has(row.state)
    const hasKind = !kinds || (row.needs !== null && kinds.has(row.needs.kind))
    if (hasKind) counts.states[row.state]++
    if (!hasState) continue
    anyNeed++
    if (row.needs) counts.needs[row.needs.kind]++
    if (hasKind) rows.push(row)
  }
  return { rows, counts, anyNeed }
}

function queryOf(filters: Filters): (name: string) => string | undefined {
  const { q, ...lists } = filters
  return (name) => (name === 'q' ? q : lists[name as keyof typeof lists]?.join(','))
}

function orderOf(groups: readonly Group[]): string {
  const hash = createHash('sha256')
  for (const { chunks } of groups)
    for (const { id, rows } of chunks) hash.update(`${id} ${rows.map((row) => row.id).join()}\n`)
  return hash.digest('hex').slice(0, 12)
}
