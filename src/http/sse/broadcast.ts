import type { EventLog, LogEvent } from '../../events/event-log.ts'
import { type EventStream, encodeEvent, type StreamEvent } from './event-stream.ts'

/** Sends every event of the log to all streams that want all of them. Each event is encoded only once. */
export interface Broadcast {
  /** From the next event on. Returns the function that unsubscribes. */
  subscribe(stream: Pick<EventStream, 'sendBytes'>): () => void
  /** Sends the events so far. */
  flush(): void
}

/** The size of the pieces in which a burst of events is sent. */
const PIECE_CHARACTERS = 64 * 1024

export function createBroadcast(eventLog: Pick<EventLog, 'subscribe' | 'nameOf'>): Broadcast {
  const streams = new Set<Pick<EventStream, 'sendBytes'>>()
  let text = ''

  function flush(): void {
    if (text === '') return
    const bytes = Buffer.from(text)
    text = ''
    for (const stream of [...streams]) stream.sendBytes(bytes)
  }

  eventLog.subscribe((event) => {
    if (streams.size === 0) return
    // the log publishes all events of one write in one turn
    if (text === '') queueMicrotask(flush)
    text += encodeEvent(streamEvent(event, eventLog))
    if (text.length > PIECE_CHARACTERS) flush()
  })

  return {
    flush,
    subscribe(stream) {
      flush()
      streams.add(stream)
      return () => streams.delete(stream)
    },
  }
}

export function streamEvent(
  { id, type, envelope }: LogEvent,
  { nameOf }: Pick<EventLog, 'nameOf'>,
): StreamEvent {
  return { event: type, data: envelope, id: nameOf(id) }
}
