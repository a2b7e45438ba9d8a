import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { conflictSides } from '../markdown/conflict-sides.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import type { Session } from '../model/session.ts'
import { bothMade } from './git-stages.ts'
import type { Snapshot } from './snapshot.ts'
import { validSession } from './valid-session.ts'

/** One of two sessions that were made under one number, as git's index has it. */
export interface NumberedSession {
  session: Session
  bytes: Buffer
  text: string
  /** Whether this clone made it, as far as git can tell. */
  isOwn: boolean
}

export interface DuplicateNumber {
  earlier: NumberedSession
  later: NumberedSession
  /** The file as it is now, full of markers. */
  present: Buffer
  /** Whether a person has begun to resolve it by hand. */
  isTouched: boolean
}

/**
 * The two sessions that two branches made under one number; null where the file is in no such
 * conflict, the reason where it is not safe to tell them apart. Which is the earlier depends on the
 * sessions alone, so that every clone that merges them decides alike.
 */
export async function findDuplicateNumber(
  { layout, isRunningHere }: Pick<Snapshot, 'layout' | 'isRunningHere'>,
  caseId: string,
  number: number,
): Promise<DuplicateNumber | { reason: string } | null> {
  const path = layout.sessionFile(caseId, number)
  const read = await readRegular(path, {
    maxBytes: 3 * MAX_SESSION_BYTES, // both, and the markers
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
  if (ours.session.id === theirs.session.id) return null // one session that came by two ways
  if (isRunningHere(ours.session.id) || isRunningHere(theirs.session.id)) {
    return { reason: 'one of them runs on this machine just now' }
  }
  const sides = conflictSides(present.text)
  const isTouched = !(sides && same(sides.ours, ours.text) && same(sides.theirs, theirs.text))
  const [earlier, later] = isEarlier(ours.session, theirs.session) ? [ours, theirs] : [theirs, ours]
  return { earlier, later, present: read.bytes, isTouched }
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

/** Git ends the last line of a side that had no line end. */
function same(side: string, text: string): boolean {
  return side.replace(/\n$/, '') === text.replace(/\n$/, '')
}
