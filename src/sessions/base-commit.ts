import type { GitRepository } from '../git/repository.ts'
import { MAX_BASE_AUTHORS, MAX_BASE_FILES } from '../model/before-run-text.ts'
import type { Session } from '../model/session.ts'
import { type NewTrailLine, newLine, queuedLine } from '../model/trail.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { authorsOf, type FolderState, folderState } from './uncommitted.ts'

const MAX_TEXT = 300

/** What is in the working folder before the first step: the commit, and what is not committed. */
export async function presentBase(
  deps: SessionDeps,
  job: Job,
  { trail }: Session,
  repository: GitRepository | { reason: string },
): Promise<NewTrailLine<'base_recorded'>> {
  const found = await folderState(deps, job.folder!, repository)
  const queued = queuedLine(trail)?.fields.head
  return baseLine(found, queued ? String(queued) : null)
}

/**
 * The line of the audit trail. Of many files and sessions it names the first. `queued`: the commit at the approval of a
 * session that waited in line.
 */
export function baseLine(
  found: FolderState | { reason: string },
  queued?: string | null,
): NewTrailLine<'base_recorded'> {
  if ('reason' in found) return newLine('base_recorded', { reason: shortened(found.reason) })
  const { branch, head, changes, isCut } = found
  const authors = authorsOf(changes).slice(0, MAX_BASE_AUTHORS)
  return newLine('base_recorded', {
    commit: head ?? undefined,
    queued_commit: queued ?? undefined,
    branch: branch === null ? undefined : shortened(branch),
    uncommitted: changes.length,
    files:
      changes.length === 0
        ? undefined
        : changes.slice(0, MAX_BASE_FILES).map(({ file }) => shortened(file)),
    is_cut: isCut || undefined,
    left_by:
      authors.length === 0
        ? undefined
        : authors.map(({ by: { case_id, title, session }, files }) => ({
            case_id,
            number: session.number,
            title: shortened(title),
            state: session.state,
            files,
          })),
  })
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT).toWellFormed()}…`
}
