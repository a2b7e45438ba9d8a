/**
 * The lists of cases as SQL: filters, order, pages by the last item of the page before, counts. A list is a query of the
 * table `cases` and of the cases that wait to be written there, which come as a JSON parameter.
 */

import { ATTENTION_KINDS, type AttentionKind } from '../model/attention.ts'
import { CASE_FIELDS, type FilteredField } from '../model/case-fields.ts'
import type { CaseState } from '../model/case-state.ts'
import type { FinishedRun } from '../model/finished-runs.ts'
import type { WaitingCount } from '../model/stats.ts'
import {
  type CaseFilters,
  conditionsOf,
  FIELD_COLUMNS,
  type FieldColumns,
  whereAll,
} from './case-filters.ts'
import type { Database } from './database.ts'

/** What lists show of a case, and the columns for filters and sorting. */
export interface ListColumns extends FieldColumns {
  /** The kind of attention that it needs. */
  needs: AttentionKind | null
  /** Sort key of triage, descending; then by id. */
  triage_place: string
  /** Sort key of the list page, ascending; then `list_place` and id. */
  list_section: number
  list_place: number
  /** The triage row, as JSON. */
  summary: string
  /** Its finished runs, as JSON. */
  runs: string
  last_run_at: string | null
}

/** A case whose database row is missing or outdated. */
export interface UnsavedCase {
  id: string
  /** Null if the case was deleted. */
  created_at: string | null
  columns(): ListColumns | null
}

/** The last item of a page, after which the next page begins. */
export interface Place {
  created_at: string
  id: string
}

/**
 * Lists include cases that are not written yet, so they are correct even if the disk is full, and for commands that
 * only read.
 */
export interface CaseLists {
  /** By `created_at` descending, then by id. */
  newest(filters: CaseFilters, after: Place | null, limit: number | null): Place[]
  newestIds(): string[]
  /** All cases in this order, with their triage rows. */
  newestRows(after: Place | null, limit: number): TriageItem[]
  /** By need, then by last change; `created_at` is the sort key of this order. */
  triage(filters: CaseFilters, after: Place | null, limit: number | null): TriageItem[]
  /** A number of triage rows in JSON, in the order of the list page, after an offset. */
  listPage(filters: CaseFilters, skip: number, limit: number): string[]
  count(filters: CaseFilters): number
  counts(filters: CaseFilters): CaseCount[]
  /** What cases need from a person, in the order of `ATTENTION_KINDS`. */
  waiting(): WaitingCount[]
  /** The finished runs of all cases that have one since then. */
  runs(since: string): FinishedRun[]
  /** The values of a column, most frequent first. */
  frequent(column: FilteredField, limit: number): string[]
}

/** The number of cases in a state with this need. */
export interface CaseCount {
  state: CaseState
  needs: AttentionKind | null
  count: number
}

export interface TriageItem extends Place {
  summary: string
}

/** The column names in the table. */
export const LIST_COLUMNS = [
  ...FIELD_COLUMNS,
  'needs',
  'triage_place',
  'list_section',
  'list_place',
  'summary',
  'runs',
  'last_run_at',
] as const satisfies (keyof ListColumns)[]

const PLACE = ['id', 'created_at'] as const
const ALL = [...PLACE, ...LIST_COLUMNS] as const
const RUNS = [...PLACE, 'runs', 'last_run_at'] as const
const WAITING = [...PLACE, 'needs', 'summary'] as const

const INTEGERS: ReadonlySet<string> = new Set(['list_section', 'list_place'])

export function createCaseLists(
  database: Pick<Database, 'all' | 'get'>,
  unsaved: () => UnsavedCase[],
): CaseLists {
  const columnsFor = (filters: CaseFilters) => (Object.keys(filters).length === 0 ? PLACE : ALL)

  /** Computes only the columns that a query needs, as thousands of cases are unsaved during a start. */
  function unsavedJson(columns: readonly string[]): string {
    const rows = unsaved().map((each) => {
      const { id, created_at } = each
      return Object.assign({ id, created_at }, columns === PLACE ? null : each.columns())
    })
    return JSON.stringify(rows)
  }

  function rowsBehind(
    order: 'created_at' | 'triage_place',
    columns: readonly string[],
    filters: CaseFilters,
    after: Place | null,
    limit: number | null,
  ) {
    const { conditions, values } = conditionsOf(filters)
    const rest = after ? [`${order} <= ?`, `(${order} < ? OR id > ?)`] : []
    const summary = columns === ALL ? ', summary' : ''
    return database.all<TriageItem>(
      `${listed(columns)} SELECT id, ${order} AS created_at${summary} FROM listed
      ${whereAll([...rest, ...conditions])} ORDER BY ${order} DESC, id LIMIT ?`,
      unsavedJson(columns),
      ...(after ? [after.created_at, after.created_at, after.id] : []),
      ...values,
      limit ?? -1,
    )
  }

  return {
    newest: (filters, after, limit) =>
      rowsBehind('created_at', columnsFor(filters), filters, after, limit),
    newestRows: (after, limit) => rowsBehind('created_at', ALL, {}, after, limit),
    // as one JSON value, as thousands of rows take ten times as long
    newestIds() {
      const { ids } = database.get<{ ids: string }>(
        `${listed(PLACE)} SELECT json_group_array(id) AS ids FROM
        (SELECT id FROM listed ORDER BY created_at DESC, id)`,
        unsavedJson(PLACE),
      )!
      return JSON.parse(ids)
    },
    triage: (filters, after, limit) => rowsBehind('triage_place', ALL, filters, after, limit),
    listPage(filters, skip, limit) {
      const { conditions, values } = conditionsOf(filters)
      return database
        .all<{ summary: string }>(
          `${listed(ALL)} SELECT summary FROM listed ${whereAll(conditions)}
          ORDER BY list_section, list_place, id LIMIT ? OFFSET ?`,
          unsavedJson(ALL),
          ...values,
          limit,
          skip,
        )
        .map(({ summary }) => summary)
    },
    count(filters) {
      const { conditions, values } = conditionsOf(filters)
      const columns = columnsFor(filters)
      return database.get<{ count: number }>(
        `${listed(columns)} SELECT count(*) AS count FROM listed ${whereAll(conditions)}`,
        unsavedJson(columns),
        ...values,
      )!.count
    },
    counts(filters) {
      const { conditions, values } = conditionsOf(filters)
      return database.all(
        `${listed(ALL)} SELECT state, needs, count(*) AS count FROM listed
        ${whereAll(conditions)} GROUP BY state, needs`,
        unsavedJson(ALL),
        ...values,
      )
    },
    waiting() {
      const found = database.all<WaitingCount>(
        `${listed(WAITING)} SELECT needs AS kind, count(*) AS count,
        min(coalesce(summary ->> 'since', summary ->> 'updated_at')) AS oldest_since, id AS oldest_case_id
        FROM listed WHERE needs <> 'running' GROUP BY needs`, // id is that of the minimum
        unsavedJson(WAITING),
      )
      return ATTENTION_KINDS.flatMap((kind) => found.filter((each) => each.kind === kind))
    },
    // as one JSON value, as thousands of rows take ten times as long
    runs(since) {
      const { runs } = database.get<{ runs: string }>(
        `${listed(RUNS)} SELECT json_group_array(json(runs)) AS runs FROM listed WHERE last_run_at >= ?`,
        unsavedJson(RUNS),
        since,
      )!
      return (JSON.parse(runs) as FinishedRun[][]).flat()
    },
    frequent(column, limit) {
      // equal lists of tags are parsed once
      const words =
        CASE_FIELDS[column].kind === 'words'
          ? 'SELECT tag.value AS word, count FROM grouped, json_each(word) AS tag'
          : 'SELECT word, count FROM grouped WHERE word IS NOT NULL'
      return database
        .all<{ word: string }>(
          `${listed(ALL)},
          grouped AS (SELECT ${column} AS word, count(*) AS count FROM listed GROUP BY ${column})
          SELECT word FROM (${words}) GROUP BY word ORDER BY sum(count) DESC, word LIMIT ?`,
          unsavedJson(ALL),
          limit,
        )
        .map(({ word }) => word)
    },
  }
}

/** SQL of the table `listed`: the rows of `cases`, replaced by those in the JSON of the first parameter. */
function listed(columns: readonly string[]): string {
  // cast to the column type, or SQLite would sort all rows instead of merging two sorted lists
  const values = columns.map((name) => {
    const type = INTEGERS.has(name) ? 'INTEGER' : 'TEXT'
    return `CAST(value ->> '${name}' AS ${type}) AS ${name}`
  })
  return `WITH
    unsaved AS MATERIALIZED (SELECT ${values.join()} FROM json_each(?)),
    listed AS (
      SELECT ${columns.join()} FROM cases WHERE id NOT IN (SELECT id FROM unsaved)
      UNION ALL
      SELECT ${columns.join()} FROM unsaved WHERE created_at IS NOT NULL
    )`
}
