import { type Query, valuesOf } from '../../http/case-filter.ts'
import { knownState } from '../../http/params.ts'
import { Refusal } from '../../model/refusal.ts'
import { STATE_GROUPS } from '../../model/state-groups.ts'
import { CASES } from '../shell/addresses.ts'

/** What the address of the list asks for: a text, and of each other field any of some values. */
export interface Filters {
  q: string
  group: string[]
  needs: string[]
  state: string[]
  type: string[]
  tag: string[]
  outcome: string[]
}

const LISTS = ['group', 'needs', 'state', 'type', 'tag', 'outcome'] as const

/** Refuses a state or a group that there is not. */
export function filtersOf(query: Query): Filters {
  const values = (name: string) => valuesOf(query, name) ?? []
  return {
    q: query('q')?.trim() ?? '',
    group: query('group')?.split(',').filter(isKnownGroup) ?? [],
    needs: values('needs'),
    state: values('state').map(knownState),
    type: values('type'),
    tag: values('tag'),
    outcome: values('outcome'),
  }
}

function isKnownGroup(word: string): boolean {
  if (word === '' || (STATE_GROUPS as readonly string[]).includes(word)) return word !== ''
  const message = `expected some of ${STATE_GROUPS.join(', ')}; got ${JSON.stringify(word.slice(0, 60).toWellFormed())}`
  throw new Refusal('bad_request', `group: ${message}.`, {
    errors: [{ path: 'group', message }],
  })
}

/** The number of the page that is asked for, from 1 on. */
export function pageOf(query: Query): number {
  const text = query('page') ?? ''
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
