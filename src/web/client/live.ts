import { EVENT_NAMES, onServiceEvent, publish, type ServiceEvent } from './events.ts'
import { refresh, refreshSoon } from './refresh.ts'
import { setDoubt } from './standing.ts'

/** How long a hidden page stays connected: a browser has six connections for all its pages of one host. */
const HIDDEN_MS = 2_000
/** The service says something every 15 s; one that hangs does not, though its connection stands. */
const SILENT_MS = 40_000
const LOOK_MS = 5_000
/** When the service answers with an error, the EventSource gives up; this is when a new one tries. */
const AGAIN_MS = 2_000

/**
 * Keeps the page as the service has it, by one EventSource: what is told makes it fetch itself anew.
 * Once it is connected it is fetched too, the first time and after each time without a connection, and
 * so after a restart of the service, since nobody can say what was missed. Where nothing was, its
 * ETag says so.
 */
export function startLive(): void {
  const address = document.body.dataset.live
  if (!address) return
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
      setDoubt('away', false)
      void refresh()
    }
    source.addEventListener('ping', () => {
      heardAt = performance.now()
    })
    source.onerror = () => {
      setDoubt('away', true)
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS)
    }
    for (const name of EVENT_NAMES) {
      source.addEventListener(name, (event) => {
        heardAt = performance.now()
        publish(JSON.parse((event as MessageEvent<string>).data) as ServiceEvent)
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
    setDoubt('away', true)
    open()
  }, LOOK_MS)
  let hiding: number | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(close, HIDDEN_MS)
    else if (source === null) open()
  })
  // a page that is left, or kept for the way back, holds no connection
  addEventListener('pagehide', close)
  addEventListener('pageshow', (event) => {
    if (event.persisted && !document.hidden) open()
  })
  // one that was opened behind another connects when it is first seen
  if (!document.hidden) open()
}
