import type { CaseContents } from '../model/case-contents.ts'
import type { HistoryEntry } from '../model/history.ts'
import { withDerived } from '../model/history-derived.ts'
import { historyOf } from '../workspace/history-append.ts'
import type { HttpDeps } from './deps.ts'

/** The history of a case, oldest first: the entries of history.md, and before them what other files tell. */
export async function caseHistory(
  { layout, historyLines }: Pick<HttpDeps, 'layout' | 'historyLines'>,
  contents: CaseContents,
): Promise<HistoryEntry[]> {
  const { id } = contents.case
  return withDerived(contents, (await historyOf(layout, id, historyLines.of(id))) ?? [])
}
