import type { ServiceContext } from '../../http/context.ts'
import { parseQuery } from '../../http/schemas/parse-query.ts'
import { triageQuery } from '../../http/schemas/query.ts'
import type { TriageQuery } from '../../http/triage.ts'
import { CASES } from '../shell/addresses.ts'

/** What the address of the list asks for: a text, and of each other field any of some values. */
export interface Filters {
  q: string
  needs: NonNullable<TriageQuery['needs']>
  state: string[]
  type: string[]
  tag: string[]
  outcome: string[]
}

const LISTS = ['needs', 'state', 'type', 'tag', 'outcome'] as const

/** Throws what `GET /triage` throws, except that a form may send empty fields. */
export function filtersOf(c: ServiceContext): Filters {
  const sent = Object.entries(c.req.queries()).flatMap(([name, values]) => {
    const filled = values.filter((value) => /[^,\s]/.test(value))
    return name in triageQuery && filled.length > 0 ? [[name, filled] as const] : []
  })
  const { q = '', ...lists } = parseQuery(triageQuery, Object.fromEntries(sent))
  return {
    q: q.trim(),
    needs: lists.needs ?? [],
    state: lists.state ?? [],
    type: lists.type ?? [],
    tag: lists.tag ?? [],
    outcome: lists.outcome ?? [],
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
