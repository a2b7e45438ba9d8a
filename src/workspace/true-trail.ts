/** Decides which audit trail counts when a session file is read. */

import { readSession, type SessionOrigin, type SessionReading } from '../markdown/session-file.ts'
import type { Session } from '../model/session.ts'
import { gitNamesOf } from './git/git-contents.ts'
import { isSameTrail, isStartOf, restoreTrail } from './trail-guard.ts'
import type { RememberedTrail, TrailMemory } from './trail-memory.ts'

export interface TrueTrailDeps {
  /** The text of a session file as it was last read and could be believed. */
  lastText(key: string): string | null
  /** The last known trails of this machine's sessions. */
  trails: TrailMemory
  /** Whether a session runs here, so that its trail grows by this service alone. */
  isRunningHere(sessionId: string): boolean
  /** Whether git made a change of this time. */
  isGits(ctimeMs: number, path?: string): boolean
  /** Whether the repository of the workspace has a content of one of these names. */
  isInGit(names: readonly string[]): Promise<boolean>
}

/** A session file as somebody left it. */
interface FoundSession {
  text: string
  ctimeMs: number
  /** Where the last text of the file that could be believed is found. */
  key: string
  origin: SessionOrigin
  /** The trail when this service last read it; undefined if it reads it for the first time. */
  present: Session | undefined
}

/**
 * The session with the trail that we believe. The trail in the file is compared with what it said when this machine last
 * looked, which is remembered over a restart. What git brought counts as it stands, with one exception: if git brings an
 * older file back and does not have the lines added since, these lines still count.
 */
export async function withTrueTrail(
  deps: TrueTrailDeps,
  read: SessionReading,
  found: FoundSession,
): Promise<SessionReading> {
  const { value } = read
  if (!value) return read
  const { present } = found
  const held = deps.isRunningHere(present?.id ?? value.id)
  const isOther = present !== undefined && present.id !== value.id
  // after a switch of branches the same number can be another session
  const known = present && (held || !isOther) ? present : lastKnown(deps, value, found)
  if (!known) return read
  const isChanged = value.id === known.id && !isSameTrail(value.trail, known.trail)
  if (isChanged && !held && (await isFromGit(deps, value, known, found))) {
    await deps.trails.accept(value, found.text)
    return read
  }
  return restoreTrail(value, read.problems, known, held)
}

/** What the session was before this service looked for the first time: from the trail memory, else from its last text. */
function lastKnown(deps: TrueTrailDeps, value: Session, found: FoundSession): Session | null {
  const remembered = deps.trails.recall(value.case_id, value.id)
  if (remembered) return asRemembered(value, remembered, found.text)
  const text = deps.lastText(found.key)
  const last = text === null ? null : readSession(text, found.origin).value
  return last?.id === value.id ? last : null
}

function asRemembered(
  value: Session,
  { lines, fields, gitNamesBefore }: RememberedTrail,
  text: string,
): Session {
  // we crashed after remembering a write and before making it
  if (gitNamesOf(text).some((name) => gitNamesBefore.includes(name))) return value
  return { ...value, ...fields, trail: lines }
}

async function isFromGit(
  deps: TrueTrailDeps,
  value: Session,
  known: Session,
  { text, ctimeMs, key, origin }: FoundSession,
): Promise<boolean> {
  if (!deps.isGits(ctimeMs) && !(await deps.isInGit(gitNamesOf(text)))) return false
  const isEarlier = value.trail.length < known.trail.length && isStartOf(value.trail, known.trail)
  if (!isEarlier) return true
  const remembered = deps.trails.recall(value.case_id, value.id)
  const names = remembered && isSameTrail(remembered.lines, known.trail) ? remembered.gitNames : []
  const last = deps.lastText(key)
  const isLast =
    last !== null && isSameTrail(readSession(last, origin).value?.trail ?? [], known.trail)
  return deps.isInGit(isLast ? [...names, ...gitNamesOf(last)] : names)
}
