import type { LivePiece } from '../../../rendering/live-log/output-log.ts'
import { onServiceEvent } from '../../client/live.ts'
import { beforeRefresh, refreshFrom, refreshSoon } from '../../client/refresh.ts'
import { logOf, type OutputPane, outputPane } from './output-pane.ts'

/** A browser stays fast with this many. */
const MAX_LINES = 5000
const MAX_PENDING = 100

/**
 * The output of a session, live. The page comes with the output so far; from then on this owns #terminal: it adds
 * what the service sends, and fetches what was missed.
 */
export function startOutput(): void {
  const head = document.getElementById('session-head')!
  const sessionApi = `/cases/${head.dataset.case}/sessions/${head.dataset.session}`
  const panes = new Map<string, OutputPane>()
  let terminal: HTMLElement | null = null
  /** Output of steps that the page does not show yet. */
  let pending: { artifact: unknown; piece: LivePiece }[] = []
  let frame = 0
  const following = startFollowing()

  function adopt(): void {
    const present = document.getElementById('terminal')
    if (present === terminal) return
    terminal = present
    panes.clear()
    for (const section of terminal?.querySelectorAll<HTMLElement>('.pane') ?? []) add(section)
    following.follow(terminal)
  }

  function add(section: HTMLElement): void {
    const pane = outputPane(section, sessionApi, {
      changed: renderSoon,
      gapDetected: refreshSoon,
    })
    panes.set(section.id, pane)
    const early = pending.filter(({ artifact }) => artifact === pane.artifact)
    pending = pending.filter(({ artifact }) => artifact !== pane.artifact)
    for (const { piece } of early) pane.piece(piece)
  }

  function renderSoon(): void {
    if (frame === 0) frame = requestAnimationFrame(render)
  }

  function render(): void {
    frame = 0
    let isMore = false
    for (const pane of panes.values()) isMore = pane.render(MAX_LINES) || isMore
    let over = [...panes.values()].reduce((sum, pane) => sum + pane.lines(), 0) - MAX_LINES
    for (const pane of panes.values()) {
      if (over <= 0) break
      const count = Math.min(over, pane.lines())
      if (count > 0) pane.drop(count)
      over -= count
    }
    following.grown()
    if (isMore) renderSoon()
  }

  onServiceEvent(({ event_type, payload }) => {
    if (event_type !== 'session_output') return
    const { session_id, artifact, offset, text, stream } = payload
    if (session_id !== head.dataset.session) return
    const pane = [...panes.values()].findLast((each) => each.artifact === artifact)
    if (typeof offset !== 'number') return pane ? pane.silent() : refreshSoon()
    const piece = { offset, text: String(text), isError: stream === 'stderr' }
    if (pane) return pane.piece(piece)
    pending = [...pending, { artifact, piece }].slice(-MAX_PENDING)
    refreshSoon()
  })

  // the page has the text already, so a refresh only needs the sizes of the logs
  refreshFrom(() => {
    const address = new URL(location.href)
    address.hash = ''
    if (terminal) address.searchParams.set('output', 'none')
    return address.href
  })

  beforeRefresh((next) => {
    const there = next.getElementById('terminal')
    if (!there || !terminal) return
    for (const section of there.querySelectorAll<HTMLElement>('.pane')) {
      const pane = panes.get(section.id)
      if (pane) {
        pane.sync(section)
        fold(pane.section, section)
      } else {
        const made = document.importNode(section, true)
        made.dataset.log = JSON.stringify({ ...logOf(section), from: 0, line: 1 })
        terminal.append(made)
        add(made)
      }
    }
    following.grown()
  })
  document.addEventListener('refreshed', adopt)
  document.addEventListener('click', (event) => {
    const details = (event.target as Element).closest('.pane > details > summary')?.parentElement
    // the reader decides about it from now on
    details?.classList.add('opened')
  })
  adopt()
}

/** A step that succeeded is folded once another one follows, unless the reader has opened or closed it. */
function fold(section: HTMLElement, next: HTMLElement): void {
  const details = section.querySelector('details')!
  const isFolded = !next.querySelector('details')!.open
  if (isFolded && section.nextElementSibling && !details.classList.contains('opened'))
    details.open = false
}

/** Keeps the end of the terminal in sight, unless the reader has scrolled up. */
interface Following {
  follow(terminal: HTMLElement | null): void
  /** Something was added. */
  grown(): void
}

/** Pixels from the end that count as the end. */
const END_DISTANCE = 24

function startFollowing(): Following {
  let terminal: HTMLElement | null = null
  let isAtEnd = true

  const button = () => document.getElementById('to-end')
  const show = () => button()?.toggleAttribute('hidden', isAtEnd)
  const toEnd = () => {
    if (terminal) terminal.scrollTop = terminal.scrollHeight
  }
  const check = () => {
    if (!terminal) return
    isAtEnd = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight < END_DISTANCE
    show()
  }

  document.addEventListener('click', (event) => {
    if (!(event.target as Element).closest('#to-end')) return
    isAtEnd = true
    toEnd()
    show()
    terminal?.focus()
  })

  return {
    follow(next) {
      terminal?.removeEventListener('scroll', check)
      terminal = next
      isAtEnd = true
      terminal?.addEventListener('scroll', check, { passive: true })
      toEnd()
      show()
    },
    grown() {
      if (isAtEnd) toEnd()
    },
  }
}
