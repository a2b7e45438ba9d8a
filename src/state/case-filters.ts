import {
  type CaseValues,
  FILTERED,
  type FilteredField,
  type FilterName,
  type NamedField,
} from '../model/case-fields.ts'
import { SECTIONS_OF_GROUP } from '../model/list-order.ts'
import { STATE_GROUPS } from '../model/state-groups.ts'

/**
 * Accepted values by filter name; one must match. A name without values matches nothing. `unless` are states of cases
 * that are left out if they need nothing.
 */
export type CaseFilters = Partial<
  Record<FilterName | 'needs' | 'id' | 'group' | 'unless', readonly string[]>
>

/** The fields used by filters, as columns; a list of words is a JSON list. */
export type FieldColumns = Record<FilteredField, string | null>

/** The column names, which are the field names. */
export const FIELD_COLUMNS = FILTERED.map(({ name }) => name) as readonly FilteredField[]

export function fieldColumns(values: Pick<CaseValues, FilteredField>): FieldColumns {
  const columns = FIELD_COLUMNS.map((name) => {
    const value: string | string[] | null = values[name]
    return [name, Array.isArray(value) ? JSON.stringify(value) : value]
  })
  return Object.fromEntries(columns) as FieldColumns
}

const CONDITIONS = {
  ...Object.fromEntries(FILTERED.map((field) => [field.filter, conditionOf(field)])),
  needs: 'needs IN (SELECT value FROM json_each(?))',
  unless: '(needs IS NOT NULL OR state NOT IN (SELECT value FROM json_each(?)))',
  id: 'id IN (SELECT value FROM json_each(?))',
  group: `list_section / ${SECTIONS_OF_GROUP} IN (SELECT key FROM json_each('${JSON.stringify(STATE_GROUPS)}') WHERE value IN (SELECT value FROM json_each(?)))`,
} as Record<keyof CaseFilters, string>

function conditionOf({ name, kind }: NamedField): string {
  return kind === 'words'
    ? `EXISTS (SELECT 1 FROM json_each(${name}) AS own, json_each(?) AS wanted WHERE own.value = wanted.value)`
    : `${name} IN (SELECT value FROM json_each(?))`
}

/** Turns filters into SQL conditions on these columns, with their parameters. */
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
