import type { Child } from 'hono/jsx'
import { EVENTS } from '../../model/events.ts'
import { needYouText } from '../../model/state-groups.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'
import type { PageAssets } from '../assets.ts'
import { AGENTS, CASES, HELP, INBOX, NEW_CASE } from './addresses.ts'
import { MARKS, type TabMark } from './tab-mark.ts'

/** `ping` comes apart, as it changes nothing. */
const EVENT_NAMES = Object.keys(EVENTS)
  .filter((name) => name !== 'ping')
  .join(' ')

const ICONS = {
  none: 'favicon.svg',
  waits: 'favicon-waits.svg',
  running: 'favicon-running.svg',
  failed: 'favicon-failed.svg',
  other: 'favicon-other.svg',
}

interface PageProps {
  title: string
  assets: PageAssets
  /** The address of `GET /events` with the events that change this page; without it the page stays as it is. */
  live?: string
  /** For pages that the navigation marks, or that have their own styles or script. */
  kind?: string
  /** What the title and the icon of the tab say first. */
  mark?: TabMark | null
  children: Child
}

/** The frame of every page. The policy allows no inline scripts or styles. */
export function Page({ title, assets, live, kind, mark, children }: PageProps) {
  const { workspace } = assets
  const waiting = assets.waiting()
  const current = (name: string) => (name === kind ? ({ 'aria-current': 'page' } as const) : {})
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${mark ? `${MARKS[mark.kind]} ${mark.text} · ` : ''}${visibleProse(title)} · ${workspace} · Casefile`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link
          rel="icon"
          href={assets.href(ICONS[mark?.kind ?? (waiting > 0 ? 'other' : 'none')])}
          type="image/svg+xml"
          data-icon-none={assets.href(ICONS.none)}
          data-icon-waits={assets.href(ICONS.waits)}
          data-icon-running={assets.href(ICONS.running)}
          data-icon-failed={assets.href(ICONS.failed)}
          data-icon-other={assets.href(ICONS.other)}
        />
        <link rel="stylesheet" href={assets.href('console.css')} />
        <script type="module" src={assets.href('console.js')} />
      </head>
      <body data-page={kind} data-live={live} data-events={EVENT_NAMES}>
        <a class="skip-link" href="#main">
          Skip to the content
        </a>
        <header class="site">
          <a class="brand" href={CASES} aria-label="Casefile">
            <img src={assets.href('favicon.svg')} alt="" width="22" height="22" />
            <span>Casefile</span>
          </a>
          <span class="workspace" title={`Workspace: ${workspace}`}>
            <span class="visually-hidden">Workspace </span>
            <bdi>{workspace}</bdi>
          </span>
          <nav aria-label="Main">
            <a href={CASES} data-key="g" data-key-name="Cases" {...current('cases')}>
              Cases
              <WaitingCount count={waiting} />
            </a>
            {(assets.hasInbox() || kind === 'inbox') && (
              <a href={INBOX} data-key="i" {...current('inbox')}>
                Inbox
              </a>
            )}
            <a href={NEW_CASE} data-key="n" {...current('new-case')}>
              New case
            </a>
            {assets.hasAgents() && (
              <a href={AGENTS} {...current('agents')}>
                Agents
              </a>
            )}
          </nav>
          <button
            type="button"
            class="jump needs-script"
            data-palette
            data-key="/"
            data-key-name="Search"
            aria-haspopup="dialog"
            aria-keyshortcuts="Control+K Meta+K"
          >
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.5 3.5" />
            </svg>
            <span class="jump-text">Search or jump to…</span>
            <kbd>Ctrl K</kbd>
          </button>
          <span id="live" class="live" role="status" data-keep />
          <a class="site-docs" href={HELP} {...current('help')}>
            Help
          </a>
          <button type="button" class="quiet needs-script" data-help>
            Keys <kbd>?</kbd>
          </button>
        </header>
        <main id="main" tabindex={-1} data-mark={mark?.kind}>
          <noscript>
            <p class="notice">
              Reading works without JavaScript. To change something, turn JavaScript on, or use the
              casefile command or the API.
            </p>
          </noscript>
          {children}
        </main>
        <div id="notices" class="notices" role="status" aria-live="polite" data-keep />
      </body>
    </html>
  )
}

/** How many cases need a person, beside the link to them; the script keeps it up to date. */
function WaitingCount({ count }: { count: number }) {
  return (
    <span
      class="count-badge"
      id="waiting-count"
      data-count={count}
      title={needYouText(count)}
      hidden={count === 0}
    >
      <span aria-hidden="true">{count}</span>
      <span class="visually-hidden">, {needYouText(count)}</span>
    </span>
  )
}
