import { counted } from '../../model/amounts.ts'
import { placeText } from '../../model/before-run-text.ts'
import { isIsolated } from '../../model/session.ts'
import { failureText } from '../../model/session-failure.ts'
import { expectedWallsText, wallsInShort } from '../../model/walls-text.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'
import { authorsOf, type FolderChange } from '../../sessions/uncommitted.ts'
import { sessionPage } from '../shell/addresses.ts'
import { HelpLink } from '../shell/help-link.tsx'
import { Hint } from '../shell/hint.tsx'
import { Isolated } from '../shell/isolated.tsx'
import type { SessionPageData } from './data.ts'

const MAX_FILES = 50
const MAX_AUTHORS = 10

/** Where the plan would run, and behind "?" what its programs could write to, see and reach. */
export function RunFolderNotice({ data }: { data: SessionPageData }) {
  const { folderState, session, walls } = data
  if (walls === null && folderState === null) return null
  const isOpen = walls?.guard === 'comparison'
  const known = folderState === null || 'reason' in folderState ? null : folderState
  const where = isIsolated(session)
    ? 'a worktree made from the working folder'
    : 'the working folder'
  const place = known ? `: ${placeText({ ...known, commit: known.head })}` : ''
  const isClean = known?.changes.length === 0
  return (
    <div class="stack">
      <div class="muted small" id="folder-place">
        <span>
          Runs in {where}
          {place}
          {isClean && ', everything is committed'}. {walls && !isOpen && wallsInShort(walls)}
        </span>{' '}
        {walls && !isOpen && (
          <Hint id="expected-walls" about="what it can reach" texts={[expectedWallsText(walls)]} />
        )}
      </div>
      {walls && isOpen && (
        <p class="notice" data-tone="warn" id="expected-walls">
          {expectedWallsText(walls)} <HelpLink topic="walls" />
        </p>
      )}
    </div>
  )
}

/** What is not committed where the plan would run, and which session left it: a run starts from these files. */
export function FolderWarning({ data: { folderState, session } }: { data: SessionPageData }) {
  if (folderState === null || 'reason' in folderState || folderState.changes.length === 0)
    return null
  const { changes, isCut, branch, head } = folderState
  const place = placeText({ branch, commit: head })
  const isApart = isIsolated(session)
  const authors = authorsOf(changes)
  const leftCount = changes.filter(({ left_by }) => left_by !== null).length
  const others = changes.length - leftCount
  const hasFailed = authors.some(({ by }) => by.session.state !== 'complete')
  return (
    <details
      class="folder-state"
      id="folder-state"
      open={hasFailed || isApart}
      data-tone={hasFailed || isApart ? 'warn' : 'plain'}
    >
      <summary>
        <strong>
          {isCut
            ? `More than ${changes.length} uncommitted changes`
            : counted(changes.length, 'uncommitted change')}
        </strong>{' '}
        in the working folder ({place})
        {authors.length > 0 &&
          `, ${counted(leftCount, 'file')} from ${counted(authors.length, 'session')}`}
      </summary>
      <p>
        {isApart
          ? 'This session runs in a worktree made from the commit: it will not have these changes. If the plan needs them, commit them first.'
          : 'The run starts from these files. If it should not, commit them or put them away first.'}
      </p>
      {authors.slice(0, MAX_AUTHORS).map(({ by, files }) => (
        <p>
          {counted(files, 'file')} from{' '}
          <a href={sessionPage(by.case_id, by.session.number)}>
            session {by.session.number} of <Isolated text={by.title} />
          </a>{' '}
          ({by.session.state === 'failed' ? `failed: ${failureText(by.session)}` : by.session.state}
          )
        </p>
      ))}
      {authors.length > MAX_AUTHORS && (
        <p class="muted small">and {counted(authors.length - MAX_AUTHORS, 'more session')}</p>
      )}
      {others > 0 && <p>{counted(others, 'file')} changed by you or another program</p>}
      <ul class="file-names stack">
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
      <CodeName name={file} />{' '}
      <span class="muted small">
        {kind}
        {left_by && `, session ${left_by.session.number} of ${visibleText(left_by.title)}`}
      </span>
    </li>
  )
}
