import type { CaseFolder } from '../model/case-folder.ts'
import type { HistoryEntry } from '../model/history.ts'
import { withDerived } from '../model/history-derived.ts'
import { historyOf } from '../workspace/history-append.ts'
import type { HttpNeeds } from './needs.ts'

/** What happened to a case, oldest first: what history.md says, and before its first line what other files say. */
export async function caseHistory(
  { layout }: Pick<HttpNeeds, 'layout'>,
  folder: CaseFolder,
): Promise<HistoryEntry[]> {
  return withDerived(folder, (await historyOf(layout, folder.case.id)) ?? [])
}
