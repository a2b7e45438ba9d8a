import { hasLine, historyLine, shortTimes, withHistory } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { HISTORY_FILE, SERVICE_ACTOR } from '../model/history.ts'
import { renumberedAct } from '../model/history-acts.ts'
import type { Session } from '../model/session.ts'
import { MAX_MEMORY_BYTES } from '../workspace/memory-files.ts'
import type { Fixer } from './fixer.ts'
import { editText } from './text-edit.ts'

/**
 * Adds to history.md that a session has another number now: its older lines have the old one. A history.md that cannot
 * be read, or that somebody changes now, stays as it is: the session's audit trail has the same.
 */
export async function recordRenumbering(
  { snapshot: { layout }, now }: Fixer,
  id: string,
  session: Pick<Session, 'started_at'>,
  numbers: { from: number; to: number },
): Promise<boolean> {
  const line = historyLine(renumberedAct(session, numbers), SERVICE_ACTOR, now())
  const place = { maxBytes: MAX_MEMORY_BYTES, within: layout.caseFolder(id) }
  try {
    return await editText(layout.memoryFile(id, HISTORY_FILE), place, (text) =>
      withHistory(
        text,
        shortTimes([line], (each) => hasLine(text, each)),
      ),
    )
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
