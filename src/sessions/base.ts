import { MAX_BASE_AUTHORS, MAX_BASE_FILES } from '../model/before-text.ts'
import { type NewTrailLine, newLine } from '../model/trail.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { appendLine } from './run-recorder.ts'
import { authorsOf, type FolderState, folderState } from './uncommitted.ts'

const MAX_TEXT = 300

/** Records what is in the working folder before the first step: the commit, and what is not committed. */
export async function recordBase(deps: SessionDeps, job: Job): Promise<void> {
  await appendLine(deps, job, baseLine(await folderState(deps, job.folder!)))
}

/** The line of the audit trail. Of many files and sessions it names the first. */
export function baseLine(found: FolderState | { reason: string }): NewTrailLine<'base_recorded'> {
  if ('reason' in found) return newLine('base_recorded', { reason: shortened(found.reason) })
  const { branch, head, changes, isCut } = found
  const authors = authorsOf(changes).slice(0, MAX_BASE_AUTHORS)
  return newLine('base_recorded', {
    commit: head ?? undefined,
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
