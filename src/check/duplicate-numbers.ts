import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { conflictSides } from '../markdown/conflict-sides.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { validSession } from '../markdown/valid-session.ts'
import type { Session } from '../model/session.ts'
import { bothMade } from './git-stages.ts'
import type { Snapshot } from './snapshot.ts'

/** One of two sessions that were created with the same number, as stored in git's index. */
export interface NumberedSession {
  session: Session
  bytes: Buffer
  text: string
  /** Whether this clone created it, as far as git can tell. */
  isOwn: boolean
}

export interface DuplicateNumber {
  earlier: NumberedSession
  later: NumberedSession
  /** The present file, with conflict markers. */
  present: Buffer
  /** Whether a person has already edited the conflict. */
  isEdited: boolean
}

/**
 * The two sessions that two branches created with the same number; null if the file has no such conflict; a reason
 * if they cannot be told apart safely. Which one is earlier depends only on the sessions, so every clone that
 * merges them decides the same.
 */
export async function findDuplicateNumber(
  { layout, isRunningHere }: Pick<Snapshot, 'layout' | 'isRunningHere'>,
  caseId: string,
  number: number,
): Promise<DuplicateNumber | { reason: string } | null> {
  const path = layout.sessionFile(caseId, number)
  const read = await readRegular(path, {
    maxBytes: 3 * MAX_SESSION_BYTES, // both sessions and the conflict markers
    within: layout.caseFolder(caseId),
  })
  const present = read.ok ? decodeUtf8(read.bytes) : null
  if (!read.ok || !present?.ok || !/^<<<<<<< /m.test(present.text)) return null
  const made = await bothMade(path, MAX_SESSION_BYTES)
  if (!made) return null
  const ours = await numberedSession(made.ours, made.own === 'ours', caseId, number)
  const theirs = await numberedSession(made.theirs, made.own === 'theirs', caseId, number)
  if ('reason' in ours) return ours
  if ('reason' in theirs) return theirs
  if (ours.session.id === theirs.session.id) return null // the same session, merged from two branches
  if (isRunningHere(ours.session.id) || isRunningHere(theirs.session.id)) {
    return { reason: 'one of them is running on this machine' }
  }
  const sides = conflictSides(present.text)
  const isEdited = !(
    sides &&
    isSameText(sides.ours, ours.text) &&
    isSameText(sides.theirs, theirs.text)
  )
  const [earlier, later] = isEarlier(ours.session, theirs.session) ? [ours, theirs] : [theirs, ours]
  return { earlier, later, present: read.bytes, isEdited }
}

async function numberedSession(
  bytes: Buffer,
  isOwn: boolean,
  caseId: string,
  number: number,
): Promise<NumberedSession | { reason: string }> {
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return { reason: 'one of them is not UTF-8' }
  const session = await validSession(decoded.text, caseId, number)
  if ('reason' in session) return { reason: `one of them is not valid: ${session.reason}` }
  return { session, bytes, text: decoded.text, isOwn }
}

function isEarlier(a: Session, b: Session): boolean {
  return a.started_at === b.started_at ? a.id < b.id : a.started_at < b.started_at
}

/** Compares texts. Git adds a line ending to a side that has none. */
function isSameText(side: string, text: string): boolean {
  return side.replace(/\n$/, '') === text.replace(/\n$/, '')
}
