/** The data of an event of the service. */
export interface ServiceEvent {
  event_type: string
  timestamp: string
  payload: Record<string, unknown>
  /** Names its log, and its number there. */
  id?: string
}

interface Listener {
  event(event: ServiceEvent): void
  /** The stream was opened, so events may have been missed before. */
  open(): void
  /** The service doesn't answer. */
  cut(): void
  /** Only in the tab that has the connection: for what one tab does for all. */
  lead?(event: ServiceEvent): void
}

type Message =
  | { kind: 'event'; event: ServiceEvent }
  | { kind: 'open' | 'cut' | 'ping' }
  /** A tab that has just joined asks; the others know. */
  | { kind: 'who' }
  | { kind: 'answer'; isOpen: boolean }
  | { kind: 'note'; name: string; value: unknown }

/** All events but the output of steps. */
const addressAfter = (id: string) => `/events?after=${id}&output=no`
/** A tab that takes over continues where the one before has ended, if that is no longer ago. */
const TAKEOVER_MS = 60_000
const NAME = 'casefile.events'
/** The service sends a ping every 15 s. One that hangs doesn't, although the connection is open. */
const SILENT_MS = 40_000
const LOOK_MS = 5_000
/** An EventSource gives up if the service answers with an error; a new one tries after this. */
const AGAIN_MS = 2_000

const notes = new Map<string, (value: unknown) => void>()
let post = (_: Message): void => {}

/** Receives what other tabs send under this name. */
export function onNote(name: string, listener: (value: unknown) => void): void {
  notes.set(name, listener)
}

/** Sends a value to the other tabs. */
export function sendNote(name: string, value: unknown): void {
  post({ kind: 'note', name, value })
}

/**
 * Joins the one stream of events that all tabs of this browser share, as a browser has six connections to a host. The
 * tab with the lock has the connection, also while it is hidden, and passes events on; if it is closed, the next one
 * takes over.
 */
export function joinSharedEvents(names: readonly string[], listener: Listener): void {
  let channel: BroadcastChannel | null = null
  let leaving: AbortController | null = null
  let stream: { close(): void; isOpen(): boolean } | null = null
  let heardAt = performance.now()
  /** Whether this tab has heard that the stream is open. */
  let isKnown = false
  let last = { id: 'now', at: Number.NEGATIVE_INFINITY }

  function join(): void {
    if (leaving) return
    leaving = new AbortController()
    heardAt = performance.now()
    isKnown = false
    channel = new BroadcastChannel(NAME)
    channel.onmessage = ({ data }) => receive(data as Message)
    post = (message) => channel?.postMessage(message)
    post({ kind: 'who' })
    const { signal } = leaving
    navigator.locks
      .request(NAME, { signal }, async () => {
        connect()
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      })
      .catch(() => {}) // left before it had the lock
  }

  /** A page that is left, or kept for Back, has no connection and no lock. */
  function leave(): void {
    leaving?.abort()
    leaving = null
    stream?.close()
    stream = null
    channel?.close()
    channel = null
    post = () => {}
  }

  function connect(): void {
    let isKnownPlace = performance.now() - last.at < TAKEOVER_MS
    // a stream that is opened again goes on after what came last
    const address = () => {
      const from = isKnownPlace ? last.id : 'now'
      isKnownPlace = true
      return addressAfter(from)
    }
    stream = openStream(names, address, {
      open: () => publish({ kind: 'open' }),
      cut: () => publish({ kind: 'cut' }),
      ping: () => publish({ kind: 'ping' }),
      event(event) {
        publish({ kind: 'event', event })
        listener.lead?.(event)
      },
    })
  }

  function publish(message: Message): void {
    post(message)
    receive(message)
  }

  function receive(message: Message): void {
    switch (message.kind) {
      case 'who':
        if (stream) post({ kind: 'answer', isOpen: stream.isOpen() })
        return
      case 'answer':
        if (isKnown) return
        receive({ kind: message.isOpen ? 'open' : 'cut' })
        return
      case 'note':
        notes.get(message.name)?.(message.value)
        return
      case 'cut':
        listener.cut()
        return
    }
    heardAt = performance.now()
    isKnown = true
    last = { ...last, at: heardAt }
    if (message.kind === 'open') listener.open()
    if (message.kind !== 'event') return
    last = { id: message.event.id || last.id, at: heardAt }
    listener.event(message.event)
  }

  setInterval(() => {
    if (leaving && !stream && performance.now() - heardAt > SILENT_MS) listener.cut()
  }, LOOK_MS)
  addEventListener('pagehide', leave)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) join()
  })
  join()
}

interface StreamListener {
  open(): void
  cut(): void
  ping(): void
  event(event: ServiceEvent): void
}

/** An EventSource that is opened again when it hangs or has given up; `address` is asked for each time. */
export function openStream(
  names: readonly string[],
  address: () => string,
  listener: StreamListener,
): { close(): void; isOpen(): boolean } {
  let source: EventSource | null = null
  let again: number | undefined
  let heardAt = performance.now()

  function open(): void {
    clearTimeout(again)
    source?.close()
    heardAt = performance.now()
    source = new EventSource(address())
    source.onopen = () => {
      heardAt = performance.now()
      listener.open()
    }
    source.addEventListener('ping', () => {
      heardAt = performance.now()
      listener.ping()
    })
    source.onerror = () => {
      listener.cut()
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS)
    }
    // an EventSource passes on only the events that it is asked for by name
    for (const name of names) {
      source.addEventListener(name, (event) => {
        heardAt = performance.now()
        const { data, lastEventId: id } = event as MessageEvent<string>
        listener.event({ ...JSON.parse(data), id })
      })
    }
  }

  const looking = setInterval(() => {
    if (performance.now() - heardAt < SILENT_MS) return
    listener.cut()
    open()
  }, LOOK_MS)
  open()
  return {
    isOpen: () => source?.readyState === EventSource.OPEN,
    close() {
      clearTimeout(again)
      clearInterval(looking)
      source?.close()
      source = null
    },
  }
}
