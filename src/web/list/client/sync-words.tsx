import { counted } from '../../../model/amounts.ts'
import { directionOf } from '../../../rendering/direction.ts'
import { visibleName, visibleText } from '../../../rendering/hidden-characters.ts'
import { element } from '../../client/dom.ts'
import { casePage } from '../../shell/addresses.ts'

interface NamedCase {
  id: string
  title: string
}

interface Moved {
  commits: number
  cases: NamedCase[]
}

/** What `POST /sync` answers. */
export interface SyncResult {
  state: 'in_sync' | 'conflicts' | 'stopped'
  code: string | null
  reason: string | null
  at: string
  upstream: string | null
  committed: { cases: NamedCase[] } | null
  received: Moved
  sent: Moved
  copies: { case_id: string | null; file: string; copy: string }[]
  renumbered: { case_id: string; from: number; to: number }[]
  restored: { case_id: string }[]
  broken: { file: string; message: string }[]
}

/** What `GET /sync` answers. */
export interface SyncStatus extends BriefStatus {
  last: SyncResult | null
}

/** What the line in the head of the list is made from. */
export interface BriefStatus {
  kind: string | null
  upstream: string | null
  reason: string | null
  ahead: number
  behind: number
  uncommitted: number
  last: Pick<SyncResult, 'at' | 'state'> | null
}

/** As in `2 commits to send, 1 to receive`. What the remote got since the last sync is not known. */
function stateText({ upstream, ahead, behind, uncommitted }: BriefStatus): string {
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

export function stateView(status: BriefStatus): HTMLElement {
  const { last } = status
  return element(
    <span>
      {stateText(status)}
      {' · '}
      {last === null ? (
        'no sync yet'
      ) : (
        <>
          {last.state === 'stopped' ? 'last tried' : 'last sync'}{' '}
          <time datetime={last.at} title={last.at} data-as="ago">
            {last.at}
          </time>
        </>
      )}
    </span>,
  )
}

/** Why a sync would stop. */
export function obstacleView(reason: string): HTMLElement {
  return element(
    <div class="notice" data-tone="warn">
      <strong>The record can't be synced now.</strong>{' '}
      <bdi dir={directionOf(reason)}>{visibleText(reason)}</bdi>
    </div>,
  )
}

const TONES = {
  in_sync: undefined,
  conflicts: 'warn',
  stopped: 'bad',
}

export function resultView(result: SyncResult): HTMLElement {
  const { state, reason, upstream, received, sent, copies, renumbered, restored, broken } = result
  const titles = titlesIn(result)
  const link = (id: string) => <CaseLink id={id} title={titles.get(id) ?? id.slice(0, 8)} />
  const isQuiet = state === 'in_sync' && received.commits + sent.commits + renumbered.length === 0
  return element(
    <div class="notice" data-tone={TONES[state]}>
      <strong>{headText(state, upstream)}</strong>{' '}
      {reason !== null && <bdi dir={directionOf(reason)}>{visibleText(reason)}</bdi>}
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
    </div>,
  )
}

function headText(state: SyncResult['state'], upstream: string | null): string {
  if (state === 'stopped') return 'Nothing was sent.'
  const head = `In sync with ${visibleText(upstream ?? 'the remote')}`
  return state === 'in_sync' ? `${head}.` : `${head}, but something needs you.`
}

const MAX_NAMED = 5

function MovedItem({ what, moved: { commits, cases } }: { what: string; moved: Moved }) {
  if (commits === 0) return null
  const more = cases.length - MAX_NAMED
  return (
    <li>
      {what} {counted(commits, 'commit')}
      {cases.slice(0, MAX_NAMED).map(({ id, title }, index) => (
        <>
          {index === 0 ? ': ' : ', '}
          <CaseLink id={id} title={title} />
        </>
      ))}
      {more > 0 && ` and ${counted(more, 'more case')}`}
    </li>
  )
}

function CaseLink({ id, title }: NamedCase) {
  return (
    <a href={casePage(id)}>
      <bdi dir={directionOf(title)}>{visibleText(title)}</bdi>
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
