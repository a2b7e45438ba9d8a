/** Finds sessions whose file a person deleted, and reports them as problems. */

import type { CaseFacts } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { CaseEntry } from './case-entry.ts'

/** Sources for the sessions that a case had. Without them no session counts as deleted. */
export interface DeletionDeps {
  /** The facts published before this start; null after the start, or if nothing was published. */
  published(caseId: string): CaseFacts | null
  /** Whether git deleted a file. The path is relative to the memory root. */
  byGit(path: string): Promise<boolean>
}

const CODE = 'session_missing'

/**
 * Returns the sessions whose files a person deleted, by id; not those that git deleted. A session stays listed until
 * its file is back, or the operator continues with another session or another state.
 */
export async function deletedSessions(
  deps: DeletionDeps | undefined,
  known: CaseEntry | undefined,
  now: Pick<CaseEntry, 'id' | 'file' | 'sessions'>,
  goneByGit: boolean,
): Promise<CaseEntry['deleted']> {
  const deleted: CaseEntry['deleted'] = {}
  const published = known ? null : (deps?.published(now.id) ?? null)
  const before = known ? sessionFiles(known) : (published?.files ?? {})
  const present = sessionFiles({ ...now, deleted: {} })
  for (const [id, number] of Object.entries(before)) {
    if (present[id] !== undefined || now.sessions.has(number)) continue
    const isKnown = known ? known.deleted[id] !== undefined : isPublished(published, number)
    const path = `cases/${now.id}/sessions/${number}.md`
    const isNew = !isKnown && !goneByGit && deps !== undefined && !(await deps.byGit(path))
    if (isKnown || isNew) deleted[id] = number
  }
  return known && movedOn(known, now) ? {} : deleted
}

/** Whether the case has a new state or a new session. */
export function movedOn(before: CaseEntry, after: Pick<CaseEntry, 'file' | 'sessions'>): boolean {
  const isNew = (number: number) => !before.sessions.has(number) && number > lastOf(before)
  return (
    before.file.value.state !== after.file.value.state || [...after.sessions.keys()].some(isNew)
  )
}

function lastOf({ sessions, deleted }: CaseEntry): number {
  return Math.max(0, ...sessions.keys(), ...Object.values(deleted))
}

/** Returns file numbers by session id, including deleted sessions. */
export function sessionFiles({
  sessions,
  deleted,
}: Pick<CaseEntry, 'sessions' | 'deleted'>): Record<string, number> {
  const files = { ...deleted }
  for (const [number, { value }] of sessions) if (value) files[value.id] ??= number
  return files
}

export function deletedProblems(deleted: CaseEntry['deleted']): Problem[] {
  return Object.values(deleted).map((number) => ({
    code: CODE,
    file: `sessions/${number}.md`,
    line: null,
    message: `the file of session ${number} was deleted, but the case still has the state from that session: restore the file, for example from git; if you deleted it on purpose, start another session or change the state of the case`,
  }))
}

function isPublished(published: CaseFacts | null, number: number): boolean {
  const file = `sessions/${number}.md`
  return published?.problems.some((each) => each.code === CODE && each.file === file) ?? false
}
