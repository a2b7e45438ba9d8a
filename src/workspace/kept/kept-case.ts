import type { FileStamp } from '../../files/safe-read.ts'
import { isToBeStamped } from '../../model/proof.ts'
import { isSealed, type Session } from '../../model/session.ts'
import { isRunning } from '../../model/session-state.ts'
import type { CaseEntry } from '../case-entry.ts'
import { isLatestWrong } from '../latest.ts'
import { createFingerprint } from './fingerprint.ts'

/** What is known in memory of a case whose values are on the disk. */
export interface KeptCase {
  /** Where its record stands. */
  at: number
  /** Its folders and files, relative to its own folder, one a line; `.` is that folder. */
  names: string
  /** Of the stamps of these, in this order. */
  print: number
  /** Of what was told of it, as a checksum. */
  told: number
  parent: string | null
  created_at: string
  /** Where the last good texts of its files stand; -1 where there are none. */
  textsAt: number
}

const fingerprint = createFingerprint()

/** Of a case that is to be looked at again, although its files were read: no stamps have this. */
export const LOOK_AGAIN = -1

/** The stamps of all that was read of a case, by name; null where one of them cannot vouch for what was read. */
export function stampsOf(entry: CaseEntry): [string, FileStamp][] | null {
  const named = allStampsOf(entry)
  const stamps = named.filter((each): each is [string, FileStamp] => each[1] !== null)
  return stamps.length === named.length ? stamps : null
}

/** The folders and files of a case, in the order of `KeptCase.names`. */
export function namesOf(entry: CaseEntry): string[] {
  return allStampsOf(entry).map(([name]) => name)
}

function allStampsOf({ folders, file, sessions, proofs, notes }: CaseEntry) {
  const named: [string, FileStamp | null][] = [...folders, ['case.md', file.stamp]]
  for (const [number, { stamp }] of sessions) named.push([`sessions/${number}.md`, stamp])
  for (const [id, { stamp }] of proofs) named.push([`proof/${id}.md`, stamp])
  for (const [name, { stamp }] of notes) named.push([name, stamp])
  return named
}

export function printOf(stamps: Iterable<readonly [unknown, FileStamp]>): number {
  for (const [, stamp] of stamps) fingerprint.add(stamp)
  return fingerprint.end()
}

/** The fingerprint of the same names as they are now; null where one is missing. */
export function printNow(
  folder: string,
  names: string,
  stampNow: (path: string) => Parameters<typeof fingerprint.add>[0] | null,
): number | null {
  for (const name of names.split('\n')) {
    const stamp = stampNow(name === '.' ? folder : `${folder}/${name}`)
    if (!stamp) {
      fingerprint.end()
      return null
    }
    fingerprint.add(stamp)
  }
  return fingerprint.end()
}

/** The folders among the names, as `CaseEntry.folders` has them. */
export function folderNamesIn(names: string): string[] {
  return names.split('\n').filter((name) => !/\.md$/i.test(name))
}

/** Problems that do not depend on the case's own files alone. */
const UNSURE: readonly string[] = ['trail_changed', 'field_by_hand', 'duplicate_id', 'id_mismatch']

/**
 * Whether a reading of the same files by a service that knows nothing would give this entry. A broken file has
 * its last good value, a changed trail its true lines, a copy the problem that there is another case of its id,
 * and a session that is under way may be due to something.
 */
export function isPlain(entry: CaseEntry): boolean {
  return hasPlainFiles(entry) && !isLatestWrong(entry)
}

/** The same, whatever the link to the newest session says. */
export function hasPlainFiles(entry: CaseEntry): boolean {
  const { file, sessions, proofs, notes, vanished, strayLatest, deleted } = entry
  if (vanished || strayLatest || Object.keys(deleted).length > 0) return false
  const records = [file, ...sessions.values(), ...proofs.values()]
  const isSound = records.every(
    ({ readable, problems }) => readable && !problems.some(({ code }) => UNSURE.includes(code)),
  )
  const isCounted = [...proofs.values()].every(({ value }) => !value || !isToBeStamped(value))
  const isRead = [...notes.values()].every(({ hash }) => hash !== '')
  return (
    isSound &&
    isCounted &&
    isRead &&
    [...sessions.values()].every(({ value }) => value && isAtRest(value))
  )
}

/** Nothing runs for it, and nothing that was written by hand waits for an answer. */
function isAtRest(session: Session): boolean {
  const { state, byHand } = session
  if (byHand !== undefined || isRunning(state) || state === 'plan_ready') return false
  return state !== 'complete' || isSealed(session)
}

/** The entry as text, but for the description, which the JSON of the case has. */
export function encodeEntry(entry: CaseEntry): string {
  const { folders, file, sessions, proofs, notes, ...rest } = entry
  return JSON.stringify({
    ...rest,
    ...{ file: { ...file, value: { ...file.value, description: '' } } },
    ...{ folders: [...folders], sessions: [...sessions] },
    ...{ proofs: [...proofs], notes: [...notes] },
  })
}

export function decodeEntry(text: string, json: string): CaseEntry {
  const { folders, sessions, proofs, notes, ...rest } = JSON.parse(text)
  rest.file.value.description = JSON.parse(json).description
  return {
    ...rest,
    ...{ folders: new Map(folders), sessions: new Map(sessions) },
    ...{ proofs: new Map(proofs), notes: new Map(notes) },
  }
}
