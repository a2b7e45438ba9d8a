import { setStale } from './page-status.tsx'
import { refresh, refreshSoon } from './refresh.ts'
import { joinSharedEvents, openStream, type ServiceEvent } from './shared-events.ts'

type Listener = (event: ServiceEvent) => void
const listeners = new Set<Listener>()
const leaders = new Set<Listener>()

/** The events that change this page. */
export function onServiceEvent(listener: Listener): void {
  listeners.add(listener)
}

/** The events of all cases, in only one of the tabs of this browser. */
export function onEventInOneTab(listener: Listener): void {
  leaders.add(listener)
}

/** A hidden page doesn't need the output of steps, so it disconnects after this. */
const HIDDEN_MS = 2_000

/**
 * Keeps the page up to date: events refresh it, and so does each new connection, since events may have been missed
 * before. If nothing changed, the ETag of the page makes that cheap. Only a page that shows output has a stream of its
 * own, while it is seen.
 */
export function startLive(): void {
  const { live: address, events = '' } = document.body.dataset
  const names = events.split(' ')
  const caseId = address && new URL(address, location.href).searchParams.get('case')
  joinSharedEvents(names, {
    open: isHeard,
    cut: () => setStale('away', true),
    event(event) {
      setStale('away', false)
      if (address && !output?.isOpen() && (!caseId || isOf(caseId, event))) pass(event)
    },
    lead(event) {
      for (const listener of leaders) listener(event)
    },
  })
  let output: ReturnType<typeof openStream> | null = null
  if (!address) return

  onServiceEvent(({ event_type }) => {
    if (event_type !== 'session_output') refreshSoon()
  })
  const hasOutput = !new URL(address, location.href).searchParams.has('output')

  function showsOutput(): void {
    if (!hasOutput || output) return
    output = openStream(names, () => address!, {
      open: isHeard,
      cut: () => {}, // the shared stream says so
      ping: () => {},
      event: pass,
    })
  }

  function hideOutput(): void {
    output?.close()
    output = null
  }

  let hiding: number | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(hideOutput, HIDDEN_MS)
    else {
      showsOutput()
      void refresh() // a browser may have suspended the hidden page
    }
  })
  addEventListener('pagehide', hideOutput)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && !document.hidden) showsOutput()
  })
  // a page opened in the background connects when it is first shown
  if (!document.hidden) showsOutput()
}

function isHeard(): void {
  setStale('away', false)
  if (document.body.dataset.live) void refresh()
}

function pass(event: ServiceEvent): void {
  for (const listener of listeners) listener(event)
}

function isOf(caseId: string, { event_type, payload }: ServiceEvent): boolean {
  return payload.case_id === caseId || event_type === 'resync'
}
