/** The lists of cases: the rows of all cases, in memory, in two orders, with filters and pages. */

import type { AttentionKind } from '../../model/attention.ts'
import {
  type CaseValues,
  FILTERED,
  type FilteredField,
  type FilterName,
} from '../../model/case-fields.ts'
import type { CaseState } from '../../model/case-state.ts'
import { listKey } from '../../model/list-order.ts'
import { stateGroup } from '../../model/state-groups.ts'
import type { TriageRow } from '../../model/triage-row.ts'

/**
 * By the names of the filters in requests. A case fits a filter with one of its values, and must fit every filter.
 * `group` filters by the groups of the list page; `unless` excludes cases in these states that need nothing.
 */
export type CaseFilters = Partial<
  Record<FilterName | 'needs' | 'id' | 'group' | 'unless', readonly string[]>
>

/** The last item of a page, after which the next page begins. */
export interface ListCursor {
  /** The sort key of the order. */
  created_at: string
  id: string
}

export interface CaseLists {
  /** By `created_at` descending, then by id. */
  newest(filters: CaseFilters, after: ListCursor | null, limit: number | null): TriageRow[]
  /** In the order of `listKey`, which is `created_at` here. */
  triage(
    filters: CaseFilters,
    after: ListCursor | null,
    limit: number | null,
  ): (ListCursor & { row: TriageRow })[]
  /** A number of rows in the same order, after an offset. */
  listPage(filters: CaseFilters, skip: number, limit: number): TriageRow[]
  count(filters: CaseFilters): number
  counts(filters: CaseFilters): CaseCount[]
  /** The values of a field, most frequent first. */
  frequent(name: FilteredField, limit: number): string[]
}

/** The number of cases in a state with this need. */
export interface CaseCount {
  state: CaseState
  needs: AttentionKind | null
  count: number
}

interface Rows {
  ids(): Iterable<string>
  row(id: string): TriageRow | undefined
}

/** Call `invalidate` when the row of a case has changed, or the case is gone. */
export function createCaseLists(cases: Rows): CaseLists & { invalidate(id: string): void } {
  const newest = createOrder(cases, (a, b) => descending(a.created_at, b.created_at) || byId(a, b))
  const triage = createOrder(cases, (a, b) => descending(listKey(a), listKey(b)) || byId(a, b))
  const fitting = (filters: CaseFilters) => newest.rows().filter(filterOf(filters))

  return {
    invalidate(id) {
      for (const order of [newest, triage]) order.invalidate(id)
    },
    newest: (filters, after, limit) =>
      page(
        newest.rows(),
        filterOf(filters),
        isAfter(after, ({ created_at }) => created_at),
        limit,
      ),
    triage: (filters, after, limit) =>
      page(triage.rows(), filterOf(filters), isAfter(after, listKey), limit).map((row) => ({
        created_at: listKey(row),
        id: row.id,
        row,
      })),
    listPage: (filters, skip, limit) =>
      triage
        .rows()
        .filter(filterOf(filters))
        .slice(skip, skip + limit),
    count: (filters) => fitting(filters).length,
    counts(filters) {
      const counts = new Map<string, CaseCount>()
      for (const { state, needs } of fitting(filters)) {
        const kind = needs?.kind ?? null
        const known = counts.get(`${state} ${kind}`)
        if (known) known.count++
        else counts.set(`${state} ${kind}`, { state, needs: kind, count: 1 })
      }
      return [...counts.values()]
    },
    frequent(name, limit) {
      const counts = new Map<string, number>()
      for (const row of newest.rows())
        for (const word of wordsIn(row[name])) counts.set(word, (counts.get(word) ?? 0) + 1)
      return [...counts]
        .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([word]) => word)
    },
  }
}

type Compare = (a: TriageRow, b: TriageRow) => number

/** The rows in an order, sorted when they are asked for: few have changed since, so that takes one pass. */
function createOrder(cases: Rows, compare: Compare) {
  let rows: TriageRow[] | null = null
  const changed = new Set<string>()
  return {
    invalidate(id: string) {
      if (!rows) return
      changed.add(id)
      if (changed.size <= rows.length) return
      rows = null // no list is asked for: else ids of deleted cases would pile up
      changed.clear()
    },
    rows(): readonly TriageRow[] {
      if (rows && changed.size === 0) return rows
      const others = rows?.filter(({ id }) => !changed.has(id)) ?? []
      const fresh = [...(rows ? changed : cases.ids())].map(cases.row)
      rows = [...others, ...fresh.filter((row) => row !== undefined)].sort(compare)
      changed.clear()
      return rows
    },
  }
}

function page(
  rows: readonly TriageRow[],
  fits: (row: TriageRow) => boolean,
  isAfter: (row: TriageRow) => boolean,
  limit: number | null,
): TriageRow[] {
  const found: TriageRow[] = []
  for (const row of rows) {
    if (found.length === limit) break
    if (fits(row) && isAfter(row)) found.push(row)
  }
  return found
}

function isAfter(place: ListCursor | null, keyOf: (row: TriageRow) => string) {
  if (!place) return () => true
  return (row: TriageRow) => (descending(place.created_at, keyOf(row)) || byId(place, row)) < 0
}

export function filterOf(filters: CaseFilters): (row: TriageRow) => boolean {
  const { id, needs, unless, group } = filters
  const ids = id && new Set(id)
  const fields = FILTERED.flatMap(({ name, filter }) => {
    const wanted = filters[filter as FilterName]
    return wanted ? [{ name: name as FilteredField, wanted }] : []
  })
  return (row) => {
    const kind = row.needs?.kind ?? null
    return (
      (!ids || ids.has(row.id)) &&
      (!needs || (kind !== null && needs.includes(kind))) &&
      (!unless || kind !== null || !unless.includes(row.state)) &&
      (!group || group.includes(stateGroup(row.state, kind))) &&
      fields.every(({ name, wanted }) => wordsIn(row[name]).some((word) => wanted.includes(word)))
    )
  }
}

function wordsIn(value: CaseValues[FilteredField]): readonly string[] {
  if (value === null) return []
  return typeof value === 'string' ? [value] : value
}

function descending(a: string, b: string): number {
  return a === b ? 0 : a > b ? -1 : 1
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
}
