import { counted } from '../../model/amounts.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import type { SyncResult, SyncStatus } from '../../sync/sync-result.ts'
import { casePage } from '../shell/addresses.ts'
import { Listed } from '../shell/facts.tsx'
import { Isolated } from '../shell/isolated.tsx'
import { Time } from '../shell/time.tsx'

/** How the record compares with the remote, with the button that shares it; nothing without a remote. */
export function SyncForm({ status }: { status: SyncStatus | null }) {
  if (!isShared(status)) return null
  const { last } = status
  return (
    <form class="sync row needs-script" id="sync" data-send="POST" action="/sync">
      <span class="small muted">
        {stateText(status)}
        {' · '}
        {last === null ? (
          'no sync yet'
        ) : (
          <>
            {last.state === 'stopped' ? 'last tried' : 'last sync'} <Time at={last.at} />
          </>
        )}
      </span>
      <button type="submit" class="compact">
        Sync
      </button>
    </form>
  )
}

/** Git stores the record, and there is a remote, or was at the last sync: HEAD may be detached for a moment. */
function isShared(status: SyncStatus | null): status is SyncStatus {
  return status !== null && status.kind !== null && (status.upstream ?? status.last) !== null
}

/** As in `2 commits to send, 1 to receive`. What the remote got since the last sync is not known. */
function stateText({ upstream, ahead, behind, uncommitted }: SyncStatus): string {
  if (upstream === null) return 'No branch to send to'
  const own = [
    ...(uncommitted > 0 ? [counted(uncommitted, 'changed file')] : []),
    ...(ahead > 0 ? [counted(ahead, 'commit')] : []),
  ]
  if (own.length === 0)
    return behind > 0 ? `${counted(behind, 'commit')} to receive` : 'Nothing to send'
  const received =
    behind > 0 ? `, ${ahead > 0 ? behind : counted(behind, 'commit')} to receive` : ''
  return `${own.join(' and ')} to send${received}`
}

/** The service checks these each time it is asked: the last sync may have stopped for one that is fixed since. */
const CHECKED = ['no_repository', 'no_remote', 'detached_head', 'unfinished_merge']
/** So long a sync that left nothing to do is reported. */
const REPORTED_MS = 60_000

/** Why a sync would stop, or what the last one did, also one that was started in a terminal. */
export function SyncReport({ status }: { status: SyncStatus | null }) {
  if (!isShared(status)) return null
  const { reason, last } = status
  if (reason !== null)
    return (
      <div class="notice sync-report" data-tone="warn" role="status">
        <strong>The record can't be synced now.</strong> <Isolated text={reason} />
      </div>
    )
  if (last === null || (last.code !== null && CHECKED.includes(last.code))) return null
  const isOld = Date.now() - Date.parse(last.at) > REPORTED_MS
  return last.state === 'in_sync' && isOld ? null : <Report result={last} />
}

const TONES = {
  in_sync: undefined,
  conflicts: 'warn',
  stopped: 'bad',
}

function Report({ result }: { result: SyncResult }) {
  const { state, reason, upstream, received, sent, copies, renumbered, restored, broken } = result
  const titles = titlesIn(result)
  const link = (id: string) => <CaseLink id={id} title={titles.get(id) ?? id.slice(0, 8)} />
  const isQuiet = state === 'in_sync' && received.commits + sent.commits + renumbered.length === 0
  return (
    <div class="notice sync-report" data-tone={TONES[state]} role="status">
      <strong>{headText(state, upstream)}</strong> {reason !== null && <Isolated text={reason} />}
      {isQuiet && 'Nothing was new on either side.'}
      <ul>
        {copies.map(({ case_id: id, file, copy }) => (
          <li>
            {id !== null && <>{link(id)}: </>}
            <File path={file} /> could not be merged. Yours stays; the other version is{' '}
            <File path={copy} />. Copy what you need from it, then delete it.
          </li>
        ))}
        {broken.map(({ file, message }) => (
          <li>
            {caseOf(file) !== null && <>{link(caseOf(file)!)}: </>}
            <File path={file} /> came from others, and cannot be read: {visibleText(message)}
          </li>
        ))}
        <MovedItem what="Sent" moved={sent} />
        <MovedItem what="Received" moved={received} />
        {restored.map(({ case_id: id }) => (
          <li>
            {link(id)} stays: it was deleted in one clone and changed in another. Delete it again if
            nothing in it is needed.
          </li>
        ))}
        {renumbered.map(({ case_id: id, from, to }) => (
          <li>
            {link(id)}: session {from} is now session {to}, as two clones had used its number.
          </li>
        ))}
      </ul>
    </div>
  )
}

function headText(state: SyncResult['state'], upstream: string | null): string {
  if (state === 'stopped') return 'Nothing was sent.'
  const head = `In sync with ${visibleText(upstream ?? 'the remote')}`
  return state === 'in_sync' ? `${head}.` : `${head}, but something needs you.`
}

const MAX_NAMED = 5

function MovedItem({ what, moved }: { what: string; moved: SyncResult['sent'] }) {
  const { commits, cases } = moved
  if (commits === 0) return null
  const more = cases.length - MAX_NAMED
  return (
    <li>
      {what} {counted(commits, 'commit')}
      {cases.length > 0 && ': '}
      <Listed items={cases.slice(0, MAX_NAMED).map((each) => <CaseLink {...each} />)} />
      {more > 0 && ` and ${counted(more, 'more case')}`}
    </li>
  )
}

function CaseLink({ id, title }: { id: string; title: string }) {
  return (
    <a href={casePage(id)}>
      <Isolated text={title} />
    </a>
  )
}

/** Without the folder of its case, which is named by a link. */
function File({ path }: { path: string }) {
  return <code>{visibleName(path.replace(/^.*\bcases\/[0-9a-f-]{36}\//, ''))}</code>
}

function caseOf(path: string): string | null {
  return /\bcases\/([0-9a-f-]{36})\//.exec(path)?.[1] ?? null
}

/** As they are here, not as others had them. */
function titlesIn({ committed, received, sent }: SyncResult): Map<string, string> {
  const all = [...received.cases, ...(committed?.cases ?? []), ...sent.cases]
  return new Map(all.map(({ id, title }) => [id, title]))
}
