import { setStale } from './page-status.tsx'
import { refresh, refreshSoon } from './refresh.ts'

/** The data of an event of the service. */
interface ServiceEvent {
  event_type: string
  timestamp: string
  payload: Record<string, unknown>
}

type Listener = (event: ServiceEvent) => void
const listeners = new Set<Listener>()

export function onServiceEvent(listener: Listener): void {
  listeners.add(listener)
}

/** A hidden page disconnects after this: a browser has six connections for all its pages of one host. */
const HIDDEN_MS = 2_000
/** The service sends a ping every 15 s. One that hangs doesn't, although the connection is open. */
const SILENT_MS = 40_000
const LOOK_MS = 5_000
/** An EventSource gives up if the service answers with an error; a new one tries after this. */
const AGAIN_MS = 2_000

/**
 * Keeps the page up to date with one EventSource: events refresh it, and so does each new connection, since events may
 * have been missed before. If nothing changed, the ETag of the page makes that cheap.
 */
export function startLive(): void {
  const { live: address, events = '' } = document.body.dataset
  if (!address) return
  // an EventSource passes on only the events that it is asked for by name
  const names = events.split(' ')
  let source: EventSource | null = null
  let again: number | undefined
  let heardAt = performance.now()

  function open(): void {
    clearTimeout(again)
    source?.close()
    heardAt = performance.now()
    source = new EventSource(address!)
    source.onopen = () => {
      heardAt = performance.now()
      setStale('away', false)
      void refresh()
    }
    source.addEventListener('ping', () => {
      heardAt = performance.now()
    })
    source.onerror = () => {
      setStale('away', true)
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS)
    }
    for (const name of names) {
      source.addEventListener(name, (event) => {
        heardAt = performance.now()
        const data = JSON.parse((event as MessageEvent<string>).data) as ServiceEvent
        for (const listener of listeners) listener(data)
      })
    }
  }

  function close(): void {
    clearTimeout(again)
    source?.close()
    source = null
  }

  onServiceEvent(({ event_type }) => {
    if (event_type !== 'session_output') refreshSoon()
  })
  setInterval(() => {
    if (source === null || performance.now() - heardAt < SILENT_MS) return
    setStale('away', true)
    open()
  }, LOOK_MS)
  let hiding: number | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(close, HIDDEN_MS)
    else if (source === null) open()
  })
  // a page that is left, or kept for Back, holds no connection
  addEventListener('pagehide', close)
  addEventListener('pageshow', (event) => {
    if (event.persisted && !document.hidden) open()
  })
  // a page opened in the background connects when it is first shown
  if (!document.hidden) open()
}
