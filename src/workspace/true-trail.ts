/** Decides which audit trail counts when a session file is read. */

import { gitNamesOf, isCommitted, isInGit } from '../git/contents.ts'
import { readSession, type SessionOrigin, type SessionReading } from '../markdown/session-file.ts'
import { type FrozenValues, hasLines } from '../model/frozen-values.ts'
import type { Session } from '../model/session.ts'
import { isSameTrail, isStartOf, restoreTrail } from './trail-guard.ts'
import type { KnownSession, TrailMemory } from './trail-memory.ts'

export interface TrueTrailDeps {
  /** The last trusted text of a file, by `<case id>/sessions/1.md` and the like. */
  lastText(key: string): string | null
  /** The last known trails of sessions. */
  trails: Pick<TrailMemory, 'recall'>
  /** Whether a session runs here, so that only this service adds to its audit trail. */
  isRunningHere(sessionId: string): boolean
  /** Whether git made the change at this time. */
  isGits(ctimeMs: number, path?: string): boolean
  /** Whether the workspace's repository contains an object with one of these names. */
  isInGit(names: readonly string[]): Promise<boolean>
  /** Whether a commit has one of these objects as this file of the memory root. */
  isCommitted(file: string, names: readonly string[]): Promise<boolean>
  /** Whether a run on this machine committed lines of the audit trail. */
  isOfRun(session: Session): boolean
}

/** What git and the frozen values of cases say about an audit trail. */
export function trailSources(
  memoryRoot: string,
  frozen: (caseId: string) => FrozenValues | undefined,
): Pick<TrueTrailDeps, 'isInGit' | 'isCommitted' | 'isOfRun'> {
  return {
    isInGit: (names) => isInGit(memoryRoot, names),
    isCommitted: (file, names) => isCommitted(memoryRoot, file, names),
    isOfRun(session) {
      const committed = frozen(session.case_id)?.committed ?? []
      return committed.some((change) => hasLines(session, change))
    },
  }
}

/** A session file as found on disk. */
interface FoundSession {
  text: string
  ctimeMs: number
  /** Key of the last trusted text. */
  key: string
  origin: SessionOrigin
  /** The session as last read by this service; undefined if it was never read. */
  present: Session | undefined
}

/**
 * Returns the session with the audit trail that counts. The trail in the file is compared with the one this machine
 * saw last, also before a restart. Changes by git count, with one exception: if git restores an older file and does
 * not have the lines added since, these lines still count. What a run committed here does not.
 */
export async function withTrueTrail(
  deps: TrueTrailDeps,
  read: SessionReading,
  found: FoundSession,
): Promise<SessionReading> {
  const { value } = read
  if (!value) return read
  const { present } = found
  const isRunning = deps.isRunningHere(present?.id ?? value.id)
  const isOther = present !== undefined && present.id !== value.id
  // after a branch switch the same number can be another session
  const known =
    present && (isRunning || !isOther)
      ? { session: present, gitNames: [] }
      : deps.trails.recall(value)
  if (!known) return read
  const { session } = known
  const isChanged = value.id === session.id && !isSameTrail(value.trail, session.trail)
  if (isChanged && !isRunning && (await isFromGit(deps, value, known, found))) return read
  return restoreTrail(value, read.problems, session, isRunning)
}

async function isFromGit(
  deps: TrueTrailDeps,
  value: Session,
  { session: known, gitNames }: KnownSession,
  { text, ctimeMs, key, origin }: FoundSession,
): Promise<boolean> {
  if (deps.isOfRun(value)) return false
  const file = `cases/${key}`
  if (!deps.isGits(ctimeMs) && !(await deps.isCommitted(file, gitNamesOf(text)))) return false
  const isEarlier = value.trail.length < known.trail.length && isStartOf(value.trail, known.trail)
  if (!isEarlier) return true
  const last = deps.lastText(key)
  const isLast =
    last !== null && isSameTrail(readSession(last, origin).value?.trail ?? [], known.trail)
  return deps.isInGit(isLast ? [...gitNames, ...gitNamesOf(last)] : gitNames)
}
