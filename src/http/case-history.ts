import type { CaseFolder } from '../model/case-folder.ts'
import type { HistoryEntry } from '../model/history.ts'
import { withDerived } from '../model/history-derived.ts'
import { historyOf } from '../workspace/history-append.ts'
import type { HttpDeps } from './deps.ts'

/** What happened to a case, oldest first: what history.md says, and before its first line what other files say. */
export async function caseHistory(
  { layout }: Pick<HttpDeps, 'layout'>,
  folder: CaseFolder,
): Promise<HistoryEntry[]> {
  return withDerived(folder, (await historyOf(layout, folder.case.id)) ?? [])
}
