import type { LivePiece } from '../../rendering/live-log/output-log.ts'
import { onServiceEvent } from './events.ts'
import { startFollowing } from './output-follow.ts'
import { type OutputPane, outputPane } from './output-pane.ts'
import { beforeRefresh, refreshFrom, refreshSoon } from './refresh.ts'

/** More lines than anybody reads here, and few enough for a page. */
const MAX_LINES = 5000
const MAX_STRAYS = 100

/**
 * The output of a session as it comes. The page brings what there is when it is loaded; then this owns
 * the pane: it adds what is told live, and fetches what was missed.
 */
export function startOutput(): void {
  const panes = new Map<string, OutputPane>()
  let terminal: HTMLElement | null = null
  /** What was told of a step that the page does not show yet. */
  let strays: { artifact: unknown; piece: LivePiece }[] = []
  let frame = 0
  const follow = startFollowing()

  function adopt(): void {
    const present = document.getElementById('terminal')
    if (present === terminal) return
    terminal = present
    panes.clear()
    for (const section of terminal?.querySelectorAll<HTMLElement>('.pane') ?? []) add(section)
    follow.of(terminal)
  }

  function add(section: HTMLElement): void {
    const pane = outputPane(section, terminal!.dataset.base!, {
      changed: paintSoon,
      missed: refreshSoon,
    })
    panes.set(section.dataset.pane!, pane)
    const early = strays.filter((stray) => stray.artifact === pane.artifact)
    strays = strays.filter((stray) => stray.artifact !== pane.artifact)
    for (const { piece } of early) pane.piece(piece)
  }

  function paintSoon(): void {
    if (frame === 0) frame = requestAnimationFrame(paint)
  }

  function paint(): void {
    frame = 0
    let isMore = false
    for (const pane of panes.values()) isMore = pane.paint(MAX_LINES) || isMore
    let over = [...panes.values()].reduce((sum, pane) => sum + pane.lines(), 0) - MAX_LINES
    for (const pane of panes.values()) {
      if (over <= 0) break
      const count = Math.min(over, pane.lines())
      if (count > 0) pane.drop(count)
      over -= count
    }
    follow.grown()
    if (isMore) paintSoon()
  }

  onServiceEvent(({ event_type, payload }) => {
    if (event_type !== 'session_output') return
    const { session_id, artifact, offset, text, stream } = payload
    if (session_id !== document.querySelector<HTMLElement>('[data-session]')?.dataset.session)
      return
    const pane = [...panes.values()].findLast((each) => each.artifact === artifact)
    if (typeof offset !== 'number') return pane ? pane.silent() : refreshSoon()
    const piece = { offset, text: String(text), isError: stream === 'stderr' }
    if (pane) return pane.piece(piece)
    strays = [...strays, { artifact, piece }].slice(-MAX_STRAYS)
    refreshSoon()
  })

  // the page has the text already, so it asks for how long the logs are only
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
      const pane = panes.get(section.dataset.pane!)
      if (pane) pane.learn(section)
      else {
        const made = document.importNode(section, true)
        made.dataset.from = '0'
        terminal.append(made)
        add(made)
      }
    }
    follow.grown()
  })
  document.addEventListener('refreshed', adopt)
  adopt()
}
