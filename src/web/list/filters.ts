import * as z from 'zod'
import type { ServiceContext } from '../../http/context.ts'
import { parseQuery } from '../../http/schemas/parse-query.ts'
import { oneOf, triageQuery } from '../../http/schemas/query.ts'
import type { TriageQuery } from '../../http/triage.ts'
import { STATE_GROUPS } from '../../model/state-groups.ts'
import { CASES } from '../shell/addresses.ts'

/** What the address of the list asks for: a text, and of each other field any of some values. */
export interface Filters {
  q: string
  group: string[]
  needs: NonNullable<TriageQuery['needs']>
  state: string[]
  type: string[]
  tag: string[]
  outcome: string[]
}

const LISTS = ['group', 'needs', 'state', 'type', 'tag', 'outcome'] as const

const query = {
  ...triageQuery,
  group: oneOf(z.enum(STATE_GROUPS, { error: `expected some of ${STATE_GROUPS.join(', ')}` })),
}

/** Throws what `GET /triage` throws, except that a form may send empty fields. */
export function filtersOf(c: ServiceContext): Filters {
  const sent = Object.entries(c.req.queries()).flatMap(([name, values]) => {
    const filled = values.filter((value) => /[^,\s]/.test(value))
    return name in query && filled.length > 0 ? [[name, filled] as const] : []
  })
  const { q = '', ...lists } = parseQuery(query, Object.fromEntries(sent))
  return {
    q: q.trim(),
    group: lists.group ?? [],
    needs: lists.needs ?? [],
    state: lists.state ?? [],
    type: lists.type ?? [],
    tag: lists.tag ?? [],
    outcome: lists.outcome ?? [],
  }
}

/** The number of the page that is asked for, from 1 on. */
export function pageOf(c: ServiceContext): number {
  const text = c.req.query('page') ?? ''
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1
}

export function hasFilters(filters: Filters): boolean {
  return listAddress(filters) !== CASES
}

/** The address of a page of the list with these filters, but for the changes. */
export function listAddress(filters: Filters, changes: Partial<Filters> = {}, page = 1): string {
  const wanted = { ...filters, ...changes }
  const fields = [
    ...(wanted.q === '' ? [] : [`q=${encodeURIComponent(wanted.q)}`]),
    ...LISTS.filter((name) => wanted[name].length > 0).map(
      (name) => `${name}=${wanted[name].map(encodeURIComponent).join(',')}`,
    ),
    ...(page > 1 ? [`page=${page}`] : []),
  ]
  return fields.length === 0 ? CASES : `${CASES}?${fields.join('&')}`
}
