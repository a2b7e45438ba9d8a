import { itemPage } from '../../http/inbox-items.ts'
import type { InboxItemJson, InboxJson, InboxWorkspaceJson } from '../../http/schemas/inbox.ts'
import type { AttentionKind } from '../../model/attention.ts'
import { NEED_LABELS, needYouText } from '../../model/state-groups.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleProse } from '../../rendering/hidden-characters.ts'
import type { PageAssets } from '../assets.ts'
import { AttentionIcon, AttentionIcons } from '../list/attention-icons.tsx'
import { changesOf } from '../shell/addresses.ts'
import { HelpLink } from '../shell/help-link.tsx'
import { Page } from '../shell/page.tsx'
import { Time } from '../shell/time.tsx'

interface InboxPageProps {
  assets: PageAssets
  list: InboxJson
  /** The address by which the reader came. */
  base: string
}

/** What waits in all workspaces of this user, newest first. */
export function InboxPage({ assets, list: { items, workspaces }, base }: InboxPageProps) {
  const waiting = workspaces.reduce((sum, each) => sum + each.waiting, 0)
  return (
    <Page
      title={waiting > 0 ? `(${waiting}) Inbox` : 'Inbox'}
      assets={assets}
      kind="inbox"
      live={changesOf()}
    >
      <div class="list-head row">
        <h1>Inbox</h1>
        <HelpLink topic="inbox" />
      </div>
      <AttentionIcons />
      <p class="muted" role="status">
        {waiting === 0 ? 'Nothing needs you.' : needYouText(waiting)}
        {waiting > items.length && `, the newest ${items.length} are listed`}
      </p>
      <div id="seen-plans" class="needs-script" />
      {items.length > 0 && (
        <ul class="case-rows inbox-rows" id="inbox">
          {items.map((item) => (
            <InboxRow item={item} base={base} />
          ))}
        </ul>
      )}
      <Workspaces workspaces={workspaces} />
    </Page>
  )
}

function InboxRow({ item, base }: { item: InboxItemJson; base: string }) {
  const { kind, case_id, session, title, text, agent, url } = item
  const icon: AttentionKind = kind === 'verify' ? 'proof' : kind
  // pages of this service are reached by the address that the reader came by
  const href = url?.startsWith(`${base}/`) ? itemPage(item) : url
  const named = `session ${session}`
  const place = session === null || text.startsWith(named) ? '' : named
  const words = [text, place, agent ?? '', href === null ? 'no service' : '']
  return (
    <li class="inbox-row" id={`inbox-${case_id}-${session ?? kind}`}>
      <span class="row-need" data-kind={icon}>
        <span class="row-why">
          <AttentionIcon kind={icon} />
          {kind === 'verify' ? 'Verify' : NEED_LABELS[icon]}
        </span>
      </span>
      <span class="row-what stack">
        {href === null ? (
          <span class="row-title" dir={directionOf(title)}>
            {visibleProse(title)}
          </span>
        ) : (
          <a class="row-title" data-row href={href} dir={directionOf(title)}>
            {visibleProse(title)}
          </a>
        )}
        <span class="row-reason" dir={directionOf(text)}>
          {visibleProse(words.filter((each) => each !== '').join(' · '))}
        </span>
      </span>
      <InboxPlace item={item} />
    </li>
  )
}

function InboxPlace({ item: { workspace, root, branch, since } }: { item: InboxItemJson }) {
  return (
    <span class="inbox-place">
      <bdi title={visibleName(root)}>{visibleName(workspace)}</bdi>
      {branch !== null && (
        <>
          {' · '}
          <bdi>{visibleName(branch)}</bdi>
        </>
      )}
      {since !== null && (
        <>
          {' · '}
          <Time at={since} />
        </>
      )}
    </span>
  )
}

const STATES: Record<InboxWorkspaceJson['state'], string> = {
  running: 'running',
  stopped: 'no service',
  silent: 'does not answer',
  gone: 'gone',
}

function Workspaces({ workspaces }: Pick<InboxJson, 'workspaces'>) {
  return (
    <section class="inbox-workspaces">
      <h2>Workspaces</h2>
      <ul>
        {workspaces.map(({ name, root, state, url, message }) => (
          <li>
            {url === null ? <bdi>{visibleName(name)}</bdi> : <a href={url}>{visibleName(name)}</a>}
            <span class="muted"> {STATES[state]} </span>
            <code>{visibleName(root)}</code>
            {message !== null && <p class="muted">{visibleName(message)}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
