import type { EventLog, LogEvent } from '../../events/event-log.ts'
import { type EventStream, encodeEvent, type StreamEvent } from './event-stream.ts'

/** Carries what the log tells to all who want the whole of it: encoded once, not once for each of them. */
export interface Broadcast {
  /** From the next event on; gives the undo. */
  subscribe(stream: Pick<EventStream, 'sendBytes'>): () => void
  /** Sends what has been told so far. */
  flush(): void
}

/** What the log tells at once goes to each stream in pieces of about this size. */
const PIECE_CHARACTERS = 64 * 1024

export function createBroadcast(eventLog: Pick<EventLog, 'subscribe'>): Broadcast {
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
    // the log tells all events of one write to the disk in one go
    if (text === '') queueMicrotask(flush)
    text += encodeEvent(streamEvent(event))
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

export function streamEvent({ id, type, envelope }: LogEvent): StreamEvent {
  return { event: type, data: envelope, id }
}
