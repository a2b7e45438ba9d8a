/** A case entry as text for its row in casefile.db. */

import { isToBeStamped } from '../model/proof.ts'
import { isSealed, type Session } from '../model/session.ts'
import { isRunning } from '../model/session-state.ts'
import type { CaseEntry } from './case-entry.ts'
import { isLatestWrong } from './latest.ts'

/** The entry as text, without the description, which the JSON of the case has. */
export function encodeEntry(entry: CaseEntry): string {
  const { folders, file, sessions, proofs, notes, ...rest } = entry
  return JSON.stringify({
    ...rest,
    file: { ...file, value: { ...file.value, description: '' } },
    folders: [...folders],
    sessions: [...sessions],
    proofs: [...proofs],
    notes: [...notes],
  })
}

export function decodeEntry(text: string, description: string): CaseEntry {
  const { folders, sessions, proofs, notes, ...rest } = JSON.parse(text)
  rest.file.value.description = description
  return {
    ...rest,
    folders: new Map(folders),
    sessions: new Map(sessions),
    proofs: new Map(proofs),
    notes: new Map(notes),
  }
}

/** Problems that depend on more than the case's own files. */
const DEPENDENT: readonly string[] = [
  'trail_changed',
  'field_by_hand',
  'duplicate_id',
  'id_mismatch',
]

/**
 * Whether a service that knows nothing would read the same from the same files. A broken file has its last readable
 * value, a changed trail its true lines, a copy the problem that there is another case of its id, and a session that
 * is under way may have to be continued or ended.
 */
export function isReproducible(entry: CaseEntry): boolean {
  const { file, sessions, proofs, notes, vanished, strayLatest, deleted } = entry
  if (vanished || strayLatest || Object.keys(deleted).length > 0 || isLatestWrong(entry))
    return false
  const records = [file, ...sessions.values(), ...proofs.values()]
  return (
    records.every(
      ({ readable, problems }) =>
        readable && !problems.some(({ code }) => DEPENDENT.includes(code)),
    ) &&
    [...proofs.values()].every(({ value }) => !value || !isToBeStamped(value)) &&
    [...notes.values()].every((note) => note.hash !== '') &&
    [...sessions.values()].every(({ value }) => value && isAtRest(value))
  )
}

/** Nothing runs for it, and nothing that was written by hand waits for an answer. */
function isAtRest(session: Session): boolean {
  const { state, byHand } = session
  if (byHand !== undefined || isRunning(state) || state === 'plan_ready') return false
  return state !== 'complete' || isSealed(session)
}
