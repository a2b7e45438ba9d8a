/** Problems for sessions whose file somebody deleted by hand. */

import type { CaseFacts } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { CaseEntry } from './case-entry.ts'

/** How it is known which sessions a case had; without it, as for a single look, none is missing. */
export interface DeletionDeps {
  /** What was published of a case before this start; null once the start is over, or where nothing was. */
  published(caseId: string): CaseFacts | null
  /** Whether git took a file away; the path is relative to the memory root. */
  byGit(path: string): Promise<boolean>
}

const CODE = 'session_missing'

/**
 * The sessions whose files were deleted by hand, by id: those that were known and are gone, but not those that git
 * took. Each stays until its file is back, or until the operator goes on without it: by another session, or by
 * another state of the case.
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

/** Whether the case has another state or another session since. */
export function movedOn(before: CaseEntry, after: Pick<CaseEntry, 'file' | 'sessions'>): boolean {
  const isNew = (number: number) => !before.sessions.has(number) && number > lastOf(before)
  return (
    before.file.value.state !== after.file.value.state || [...after.sessions.keys()].some(isNew)
  )
}

function lastOf({ sessions, deleted }: CaseEntry): number {
  return Math.max(0, ...sessions.keys(), ...Object.values(deleted))
}

/** By session id: the number in the name of its file, also of those that were deleted by hand. */
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
    message: `session ${number} was deleted by hand, and the case still has the state that it left: restore the file, from git say; if it is meant to be gone, start another session or change the state of the case`,
  }))
}

function isPublished(published: CaseFacts | null, number: number): boolean {
  const file = `sessions/${number}.md`
  return published?.problems.some((each) => each.code === CODE && each.file === file) ?? false
}
