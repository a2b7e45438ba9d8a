/** Encodes and decodes a case entry for its row in casefile.db. */

import { isToBeStamped } from '../model/proof.ts'
import { isSealed, type Session } from '../model/session.ts'
import { isRunning } from '../model/session-state.ts'
import type { CaseEntry } from './case-entry.ts'
import { isLatestWrong } from './latest.ts'

/** Encodes an entry without the description, which is in the JSON of the case. */
export function encodeEntry(entry: CaseEntry): string {
  const { folders, file, sessions, proofs, notes, ...others } = entry
  return JSON.stringify({
    ...others,
    file: { ...file, value: { ...file.value, description: '' } },
    folders: [...folders],
    sessions: [...sessions],
    proofs: [...proofs],
    notes: [...notes],
  })
}

export function decodeEntry(text: string, description: string): CaseEntry {
  const { folders, sessions, proofs, notes, ...others } = JSON.parse(text)
  others.file.value.description = description
  return {
    ...others,
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
 * Whether reading the files from scratch would give the same entry. It would not for a broken file (last readable
 * value), a changed audit trail, a copy of another case, or a session that still needs the service.
 */
export function isReproducible(entry: CaseEntry): boolean {
  const { file, sessions, proofs, notes, vanished } = entry
  if (vanished || isLatestWrong(entry)) return false
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

/** Whether nothing runs for the session and no edit by a person waits for the service. */
function isAtRest(session: Session): boolean {
  const { state, byHand } = session
  if (byHand !== undefined || isRunning(state) || state === 'plan_ready') return false
  return state !== 'complete' || isSealed(session)
}
