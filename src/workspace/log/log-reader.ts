import { basename } from 'node:path'
import type { LogFiles } from './log-files.ts'
import type { LogEvent } from './log-line.ts'
import { eventsIn, type Segment } from './log-segment.ts'

/** Reads the log while it is written and trimmed. */
export interface LogReader {
  /** Events with ids behind `after`, up to and with `upTo`, which must be on the disk. */
  read(after: number, upTo: number): AsyncGenerator<LogEvent>
  /** Remembers a new event, so that those who follow closely need no file. */
  push(event: LogEvent): void
  /** The id that the slowest reader under way has reached. */
  reached(): number
}

const TAIL_EVENTS = 1000
const TAIL_LENGTH = 1024 * 1024

/** `last` is the last id of the files as they are. */
export function createLogReader(
  files: Pick<LogFiles, 'segments' | 'trimmedTo'>,
  last: number,
  log: (line: string) => void,
): LogReader {
  const readers = new Set<{ at: number }>()
  const reported = new Set<Segment>()
  const tail: LogEvent[] = []
  let tailLength = 0
  /** Every event behind this id is in the tail. */
  let tailAfter = last

  async function* read(after: number, upTo: number): AsyncGenerator<LogEvent> {
    const reader = { at: Math.max(after, files.trimmedTo) }
    readers.add(reader)
    try {
      while (reader.at < upTo) {
        if (reader.at < files.trimmedTo) {
          throw new Error(`the event log was trimmed beyond ${reader.at} while it was read`)
        }
        const source = sourceBehind(reader.at)
        for await (const page of source.pages) {
          for (const event of page) {
            if (event.id > upTo) return
            reader.at = event.id
            yield event
          }
        }
        reader.at = Math.max(reader.at, source.lastId)
      }
    } finally {
      readers.delete(reader)
    }
  }

  function sourceBehind(after: number): {
    pages: AsyncIterable<LogEvent[]> | Iterable<LogEvent[]>
    lastId: number
  } {
    const segment = files.segments.find(({ lastId }) => lastId > after)
    if (after >= tailAfter || !segment) {
      const page = tail.filter(({ id }) => id > after)
      return { pages: [page], lastId: Number.POSITIVE_INFINITY }
    }
    return { pages: eventsIn(segment, after, () => report(segment)), lastId: segment.lastId }
  }

  function report(segment: Segment): void {
    if (!reported.has(segment)) {
      log(`${basename(segment.path)} of the event log is damaged: events in it are passed over`)
    }
    reported.add(segment)
  }

  return {
    read,
    push(event) {
      tail.push(event)
      tailLength += event.envelope.length
      while (tail.length > TAIL_EVENTS || tailLength > TAIL_LENGTH) {
        const oldest = tail.shift()!
        tailLength -= oldest.envelope.length
        tailAfter = oldest.id
      }
    },
    reached: () => Math.min(Number.POSITIVE_INFINITY, ...[...readers].map(({ at }) => at)),
  }
}
