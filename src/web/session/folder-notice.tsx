import { counted } from '../../model/amounts.ts'
import { failureText } from '../../model/session-failure.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import type { FolderChange, LeftBy } from '../../sessions/uncommitted.ts'
import { sessionPage } from '../shell/addresses.ts'
import type { SessionPageData } from './session-data.ts'

const MAX_FILES = 50
const MAX_AUTHORS = 10

/** What is not committed where the plan would run, and which session left it: a run starts from these files. */
export function FolderNotice({ data: { folderState } }: { data: SessionPageData }) {
  if (folderState === null || 'reason' in folderState || folderState.changes.length === 0)
    return null
  const { changes, isCut, branch } = folderState
  const authors = new Map<string, { by: LeftBy; files: number }>()
  for (const { left_by } of changes) {
    if (!left_by) continue
    const known = authors.get(left_by.session.id)
    authors.set(left_by.session.id, { by: left_by, files: (known?.files ?? 0) + 1 })
  }
  const leftCount = changes.filter(({ left_by }) => left_by !== null).length
  const hasFailed = [...authors.values()].some(({ by }) => by.session.state !== 'complete')
  return (
    <details
      class="folder-state"
      id="folder-state"
      open={hasFailed}
      data-tone={hasFailed ? 'warn' : 'plain'}
    >
      <summary>
        <strong>
          {isCut
            ? `More than ${changes.length} uncommitted changes`
            : counted(changes.length, 'uncommitted change')}
        </strong>{' '}
        in the working folder
        {branch !== null && (
          <>
            {' '}
            (branch <code>{visibleText(branch)}</code>)
          </>
        )}
        {authors.size > 0 &&
          `, ${counted(leftCount, 'file')} from ${counted(authors.size, 'session')}`}
      </summary>
      {[...authors.values()].slice(0, MAX_AUTHORS).map(({ by, files }) => (
        <p>
          {counted(files, 'file')} from{' '}
          <a href={sessionPage(by.case_id, by.session.number)}>
            session {by.session.number} of <bdi>{visibleText(by.title)}</bdi>
          </a>{' '}
          ({by.session.state === 'failed' ? `failed: ${failureText(by.session)}` : by.session.state}
          )
        </p>
      ))}
      <ul class="file-names">
        {changes.slice(0, MAX_FILES).map((change) => (
          <Change change={change} />
        ))}
      </ul>
      {changes.length > MAX_FILES && (
        <p class="muted small">and {changes.length - MAX_FILES} more</p>
      )}
    </details>
  )
}

function Change({ change: { file, kind, left_by } }: { change: FolderChange }) {
  return (
    <li>
      <code>{visibleText(file)}</code>{' '}
      <span class="muted small">
        {kind}
        {left_by && `, session ${left_by.session.number} of ${visibleText(left_by.title)}`}
      </span>
    </li>
  )
}
