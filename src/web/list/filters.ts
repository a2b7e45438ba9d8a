import { type Query, valuesOf } from '../../http/case-filter.ts'
import { knownState } from '../../http/params.ts'
import { CASES } from '../shell/addresses.ts'

/** What the address of the list asks for: a text, and of each other field any of some values. */
export interface Filters {
  q: string
  needs: string[]
  state: string[]
  type: string[]
  tag: string[]
  outcome: string[]
}

const LISTS = ['needs', 'state', 'type', 'tag', 'outcome'] as const

/** Refuses with `unknown_state` a state that there is not. */
export function filtersOf(query: Query): Filters {
  const values = (name: string) => valuesOf(query, name) ?? []
  return {
    q: query('q')?.trim() ?? '',
    needs: values('needs'),
    state: values('state').map(knownState),
    type: values('type'),
    tag: values('tag'),
    outcome: values('outcome'),
  }
}

export function hasFilters(filters: Filters): boolean {
  return listAddress(filters) !== CASES
}

/** The address of the list as it is asked for, but for what is given; `more` is not a filter. */
export function listAddress(
  filters: Filters,
  change: Partial<Filters> = {},
  more: Record<string, string | number> = {},
): string {
  const wanted = { ...filters, ...change }
  const fields = [
    ...(wanted.q === '' ? [] : [`q=${encodeURIComponent(wanted.q)}`]),
    ...LISTS.filter((name) => wanted[name].length > 0).map(
      (name) => `${name}=${wanted[name].map(encodeURIComponent).join(',')}`,
    ),
    ...Object.entries(more).map(([name, value]) => `${name}=${value}`),
  ]
  return fields.length === 0 ? CASES : `${CASES}?${fields.join('&')}`
}

/** The values with one more, or with one less if it was there. */
export function toggled(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((each) => each !== value) : [...values, value]
}
