import type { TriageRow } from '../model/triage-row.ts'

/** What decides whether a case fits a filter, where it stands among others, and how it is shown when it is found. */
export type CaseSummary = Readonly<
  Pick<TriageRow, 'title' | 'type' | 'state' | 'outcome' | 'tags' | 'updated_at'>
>

export function summaryOf(row: TriageRow): CaseSummary {
  const { title, type, state, outcome, tags, updated_at } = row
  return { title, type, state, outcome, tags, updated_at }
}
