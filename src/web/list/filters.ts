import * as z from 'zod'
import type { ServiceContext } from '../../http/context.ts'
import { parseQuery } from '../../http/schemas/parse-query.ts'
import { caseFilters, oneOf, triageQuery } from '../../http/schemas/query.ts'
import type { TriageQuery } from '../../http/triage.ts'
import {
  FILTER_NAMES,
  FILTERED,
  type FilteredField,
  type FilterName,
} from '../../model/case-fields.ts'
import { STATE_GROUPS } from '../../model/state-groups.ts'
import type { CaseLists } from '../../workspace/index/lists.ts'
import { CASES } from '../shell/addresses.ts'

/** The filters in the address of the list: for each field the values that match. */
export interface Filters extends Record<FilterName, string[]> {
  group: string[]
  needs: NonNullable<TriageQuery['needs']>
}

const LISTS = ['group', 'needs', ...FILTER_NAMES] as const

const query = {
  needs: triageQuery.needs,
  ...caseFilters,
  group: oneOf(z.enum(STATE_GROUPS, { error: `expected some of ${STATE_GROUPS.join(', ')}` })),
}

/** Throws what `GET /triage` throws, except that a form may send empty fields. */
export function filtersOf(c: ServiceContext): Filters {
  const sent = Object.entries(c.req.queries()).flatMap(([name, values]) => {
    const filled = values.filter((value) => /[^,\s]/.test(value))
    return name in query && filled.length > 0 ? [[name, filled] as const] : []
  })
  const lists = parseQuery(query, Object.fromEntries(sent))
  const filters: Partial<Filters> = Object.fromEntries(
    LISTS.map((name) => [name, lists[name] ?? []]),
  )
  return filters as Filters
}

/** The page of the list, from 1. */
export function pageOf(c: ServiceContext): number {
  const text = c.req.query('page') ?? ''
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}

export function hasFilters(filters: Filters): boolean {
  return listAddress(filters) !== CASES
}

/** The address of a page of the list with these filters and the changes to them. */
export function listAddress(filters: Filters, changes: Partial<Filters> = {}, page = 1): string {
  const wanted = { ...filters, ...changes }
  const fields = [
    ...LISTS.filter((name) => wanted[name].length > 0).map(
      (name) => `${name}=${wanted[name].map(encodeURIComponent).join(',')}`,
    ),
    ...(page > 1 ? [`page=${page}`] : []),
  ]
  return fields.length === 0 ? CASES : `${CASES}?${fields.join('&')}`
}

/** The values that the cases have, by the name of the filter, the most frequent first. */
export type Words = Record<FilterName, readonly string[]>

const MAX_WORDS = 200

export function wordsOf(lists: CaseLists): Words {
  const words = FILTERED.map(({ name, filter, values }) => [
    filter,
    values ?? lists.frequent(name as FilteredField, MAX_WORDS),
  ])
  return Object.fromEntries(words) as Words
}
