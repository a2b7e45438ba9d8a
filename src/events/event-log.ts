/** Table `events`: every event with its id. Streams read from here, so a client that reconnects misses nothing. */

import type { Database, Run } from '../state/database.ts'
import { createBus } from './bus.ts'
import { createLogEpochs } from './log-epochs.ts'

export interface LogEvent {
  /** Starts at 1, in the order of appending. Begins again with a new log; `nameOf` does not. */
  id: number
  type: string
  /** The exact bytes of the envelope, as text. */
  envelope: string
}

export type NewEvent = Omit<LogEvent, 'id'>

/** What is written in the transaction of events, and what is done once it is stored. */
export interface Alongside {
  write(run: Run): void
  onWritten(): void
}

/**
 * The events of a workspace, in order. An event is stored, in one transaction with the facts that caused it, before
 * any subscriber gets it.
 */
export interface EventLog {
  /**
   * Assigns ids at once and writes the events soon. `alongside` writes related data in the same transaction and may
   * run again after a disk failure. `onWritten` is called after that, before the subscribers. `isDerived`: as for
   * `Database.writeDerived`, for events that the next start would make again from the files.
   */
  append(
    events: readonly NewEvent[],
    alongside?: (run: Run) => void,
    onWritten?: () => void,
    isDerived?: boolean,
  ): LogEvent[]
  /**
   * Resolves when everything appended before is stored and published. Rejects with the storage error if it could not
   * be stored; it is then retried and published later, in order.
   */
  flushed(): Promise<void>
  /** The storage error of the last write, by which a change can be rejected before it is made; else null. */
  readonly failure: unknown
  /** Calls the listener once for each later event, in order, after it is stored. Returns the unsubscribe function. */
  subscribe(listener: (event: LogEvent) => void): () => void
  /**
   * Stored events after an id, oldest first; from `first` on if `after` is older. Together with `subscribe` in the
   * same turn, no event is missed or repeated.
   */
  read(after: number): AsyncIterable<LogEvent>
  /** The smallest id that can still be read; 0 if there is none. */
  readonly first: number
  /** The last assigned id; 0 if there is none. */
  readonly last: number
  /** The id of an event for clients, such as `e183927-42`: no other log, and no older copy of this one, gives it. */
  nameOf(id: number): string
  /** The number of the event with this name, after which a client can resume; null if events after it are missing. */
  find(name: string): number | null
  /** Sets what is written with all later events. It is called as soon as they have their ids. */
  writeAlongside(prepare: (events: readonly LogEvent[]) => Alongside): void
}

export interface EventLogOptions {
  log: (line: string) => void
  /** The minimum number of newest events to keep. */
  keepEvents?: number
  /** Hard limits, even if a reader still waits: number of events, and of characters. */
  maxEvents?: number
  maxLength?: number
}

const KEEP_EVENTS = 10_000
const MAX_EVENTS = 1_000_000
const MAX_LENGTH = 512 * 1024 * 1024
const PAGE_EVENTS = 500

export function createEventLog(database: Database, options: EventLogOptions): EventLog {
  const { log, keepEvents = KEEP_EVENTS } = options
  const { maxEvents = MAX_EVENTS, maxLength = MAX_LENGTH } = options
  const ends = database.get<{ first: number; last: number; length: number }>(
    'SELECT ifnull(min(id), 0) AS first, ifnull(max(id), 0) AS last, total(length(envelope)) AS length FROM events',
  )
  let { first = 0, last = 0, length = 0 } = ends ?? {}
  const epochs = createLogEpochs(database)
  let onDisk = last
  let prepare: ((events: readonly LogEvent[]) => Alongside) | null = null
  let isTrimming = false
  const stored = createBus<LogEvent>((error) => log(`a listener of the event log failed: ${error}`))
  const readers = new Set<{ at: number }>()

  function publish(event: LogEvent): void {
    onDisk = event.id
    if (first === 0) first = event.id
    stored.publish(event)
  }

  /** Trims in steps of a tenth, so that a full log is not trimmed with every event. */
  function trim(): void {
    const count = onDisk - first + 1
    if (isTrimming || first === 0 || count < keepEvents * 1.1) return
    const reached = Math.min(...[...readers].map(({ at }) => at))
    const isTooMuch = count > maxEvents || length > maxLength
    const upTo = isTooMuch
      ? onDisk - Math.floor(count * 0.9)
      : Math.min(onDisk - keepEvents, reached)
    if (upTo < first) return
    if (upTo > reached) {
      log(
        `the event log is as large as it may get: events ${first} to ${upTo}, for which a reader still waits, are dropped`,
      )
    }
    isTrimming = true
    database.write(
      (run) => {
        run('DELETE FROM events WHERE id <= ?', upTo)
        epochs.trim(run, upTo)
      },
      () => {
        isTrimming = false
        first = upTo + 1
        length = database.get<{ length: number }>(
          'SELECT total(length(envelope)) AS length FROM events',
        )!.length
      },
    )
  }

  async function* read(after: number, upTo: number): AsyncGenerator<LogEvent> {
    const reader = { at: after }
    readers.add(reader)
    try {
      while (reader.at < upTo) {
        const page = database.all<LogEvent>(
          `SELECT id, type, envelope FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ${PAGE_EVENTS}`,
          reader.at,
          upTo,
        )
        if (page.length === 0) return
        for (const event of page) {
          reader.at = event.id
          yield event
        }
      }
    } finally {
      readers.delete(reader)
    }
  }

  return {
    append(events, alongside, onWritten, isDerived = false) {
      const begin = events.length === 0 ? null : epochs.beginAt(last + 1)
      const numbered = events.map((event) => ({ id: ++last, ...event }))
      for (const { envelope } of numbered) length += envelope.length
      const queued = numbered.length > 0 ? prepare?.(numbered) : undefined
      database[isDerived ? 'writeDerived' : 'write'](
        (run) => {
          begin?.(run)
          for (const { id, type, envelope } of numbered) {
            run('INSERT INTO events (id, type, envelope) VALUES (?, ?, ?)', id, type, envelope)
          }
          alongside?.(run)
          queued?.write(run)
        },
        () => {
          onWritten?.()
          for (const event of numbered) publish(event)
          queued?.onWritten()
          trim()
        },
      )
      return numbered
    },
    flushed: database.flushed,
    get failure() {
      return database.failure
    },
    subscribe: stored.subscribe,
    read: (after) => read(after, onDisk),
    get first() {
      return first
    },
    get last() {
      return last
    },
    nameOf: epochs.nameOf,
    find(name) {
      const id = epochs.numberOf(name)
      const isKnown = id !== null && (id === last || (first > 0 && id >= first - 1 && id < last))
      return isKnown ? id : null
    },
    writeAlongside(next) {
      prepare = next
    },
  }
}
