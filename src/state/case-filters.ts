import { SECTIONS_OF_GROUP } from '../model/list-order.ts'
import { STATE_GROUPS } from '../model/state-groups.ts'

/** By name, the values of which one must fit. A name with no values fits nothing. */
export type CaseFilters = Partial<
  Record<'state' | 'type' | 'tag' | 'outcome' | 'needs' | 'id' | 'group', readonly string[]>
>

const CONDITIONS: Record<keyof CaseFilters, string> = {
  state: 'state IN (SELECT value FROM json_each(?))',
  type: 'type IN (SELECT value FROM json_each(?))',
  outcome: 'outcome IN (SELECT value FROM json_each(?))',
  tag: 'EXISTS (SELECT 1 FROM json_each(tags) AS own, json_each(?) AS wanted WHERE own.value = wanted.value)',
  needs: 'needs IN (SELECT value FROM json_each(?))',
  id: 'id IN (SELECT value FROM json_each(?))',
  group: `list_section / ${SECTIONS_OF_GROUP} IN (SELECT key FROM json_each('${JSON.stringify(STATE_GROUPS)}') WHERE value IN (SELECT value FROM json_each(?)))`,
}

/** The filters as SQL conditions of a table that has these columns, and the values of their parameters. */
export function conditionsOf(filters: CaseFilters): { conditions: string[]; values: string[] } {
  const present = Object.entries(filters) as [keyof CaseFilters, readonly string[]][]
  return {
    conditions: present.map(([name]) => CONDITIONS[name]),
    values: present.map(([, values]) => JSON.stringify(values)),
  }
}

export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
