import { createGroupCommit } from '../../files/group-commit.ts'
import { storageRefusal } from '../../files/storage-refusal.ts'
import { writeCheckpoint } from './log-checkpoint.ts'
import { createLogFiles } from './log-files.ts'
import type { JsonValue, LogBatch, LogEvent, NewBatch } from './log-line.ts'
import { createLogReader } from './log-reader.ts'
import { recoverLog } from './log-recovery.ts'

/**
 * The one log (design §5): events with the marks (last published values) that belong to them, each
 * batch of both on the disk whole or not at all, also after kill -9.
 */
export interface EventLog {
  /**
   * There are no marks, as there was no log or its beginning is lost. All that is appended in the
   * first turn of the event loop that appends anything becomes the baseline, whole or not at all: it
   * must hold every mark there is.
   */
  readonly isNew: boolean
  /** As of opening. */
  readonly marks: ReadonlyMap<string, JsonValue>
  /**
   * Empties `marks`, which are large. From now on the checkpoint callback gives them: where a service that was
   * killed left much to read for them, a checkpoint is saved soon, so that the next start reads less.
   */
  forgetMarks(): void
  /**
   * Takes a batch at once: ids are given in order, the write is under way. What is in it must not be
   * changed afterwards, and the checkpoint callback must give its marks before anything is awaited.
   */
  append(batch: NewBatch): LogEvent[]
  /**
   * Resolves when all that was appended before is on the disk and told. Rejects with the storage
   * refusal when it could not be; then it is kept, tried again and told later, in order.
   */
  flushed(): Promise<void>
  /** The storage refusal of the last write, so that a change can be refused before it is made. */
  readonly failure: unknown
  /** Called in order, once for each event from now on, after it is on the disk. */
  subscribe(listener: (event: LogEvent) => void): () => void
  /**
   * Events behind an id that are on the disk now, oldest first, from `first` on where `after` is
   * before it. With a `subscribe` in the same turn, nothing is missed and nothing comes twice.
   */
  read(after: number): AsyncIterable<LogEvent>
  /** The smallest id that can still be read; 0 when there is none. */
  readonly first: number
  /** The last id given; 0 when none was. */
  readonly last: number
  /**
   * Keeps events with larger ids for a receiver that still waits for them, up to a hard limit; null
   * when nobody waits. To be called before the first `append`, which may trim. At least the newest
   * 10,000 events always stay.
   */
  keepFrom(id: number | null): void
  /** Writes what waits and a checkpoint. What cannot be written is said in the log. */
  close(): Promise<void>
}

export interface EventLogOptions {
  /** Every mark that there is now, those of all batches so far included. Values must not be changed later. */
  checkpoint: () => Iterable<[string, JsonValue]>
  log: (line: string) => void
  /** ISO 8601, for the names of damaged files. */
  now?: () => string
  /** A file that has grown to this is left for a new one. */
  segmentBytes?: number
  /** How many of the newest events stay at least. */
  keepEvents?: number
}

const SEGMENT_BYTES = 4 * 1024 * 1024
const KEEP_EVENTS = 10_000
/** More than this takes a start a tenth of a second to read. */
const MUCH_BYTES = 1024 * 1024
const SOON_MS = 500

/** Only for the owner of the state folder. The folder is made if it is missing. */
export async function openEventLog(folder: string, options: EventLogOptions): Promise<EventLog> {
  const { checkpoint, log, keepEvents = KEEP_EVENTS, segmentBytes = SEGMENT_BYTES } = options
  const now = options.now ?? (() => new Date().toISOString())
  const { segments, marks, isComplete, ...found } = await recoverLog(folder, { log, now })
  const { last } = found
  let { checkpointed } = found
  let onDisk = last.upTo
  let neededAfter = Number.POSITIVE_INFINITY
  /** While it may still grow. */
  let baseline: LogBatch | null = null
  let hasAppended = false
  let isClosed = false
  let soon: NodeJS.Timeout | undefined
  let upkeep = Promise.resolve()
  const listeners = new Set<(event: LogEvent) => void>()

  const files = createLogFiles(folder, segments, { segmentBytes, log, onRotated: saveCheckpoint })
  const reader = createLogReader(files, onDisk, log)
  const commit = createGroupCommit<LogBatch>({
    async write(batches) {
      baseline = null
      try {
        return await files.write(batches)
      } catch (error) {
        throw storageRefusal(error, 'the event log')
      }
    },
    onWritten(batches) {
      for (const { first, events } of batches) {
        for (const [index, event] of events.entries()) tell({ id: first + index, ...event })
      }
    },
    onFailure(failure) {
      if (failure) log(`the event log cannot be written, but will be tried again: ${failure.error}`)
      else log('the event log is written again')
    },
  })

  function append({ events, marks }: NewBatch): LogEvent[] {
    if (isClosed) throw new Error('the event log is closed')
    const first = last.upTo + 1
    last.upTo += events.length
    if (baseline) {
      baseline.events.push(...events)
      baseline.count += events.length
      Object.assign(baseline.marks, marks)
    } else {
      const isFirst = !isComplete && !hasAppended
      const batch = { batch: ++last.batch, first, count: events.length, baseline: isFirst }
      const copy = { ...batch, events: [...events], marks: { ...marks } }
      if (isFirst) baseline = copy
      commit.add(copy)
    }
    hasAppended = true
    return events.map((event, index) => ({ id: first + index, ...event }))
  }

  function tell(event: LogEvent): void {
    onDisk = event.id
    reader.push(event)
    for (const listener of [...listeners]) {
      try {
        listener(event)
      } catch (error) {
        log(`a listener of the event log failed: ${error}`)
      }
    }
  }

  function saveCheckpoint(): void {
    queueUpkeep(async () => {
      const at = { ...last }
      const all = [...checkpoint()]
      // Before its batches are on the disk, it would stand for events that a crash can still lose.
      if (!(await isFlushed())) return
      await writeCheckpoint(folder, at, all)
      checkpointed = at.batch
    })
    trim()
  }

  function trim(): void {
    queueUpkeep(() =>
      files.trim({
        ...{ keepEvents, checkpointed },
        neededAfter: () => Math.min(neededAfter, reader.reached()),
      }),
    )
  }

  /** Without it the log only grows for a while, so a failure is said and no more. */
  function queueUpkeep(job: () => Promise<void>): void {
    upkeep = upkeep.then(job).catch((error) => log(`the event log was not tidied up: ${error}`))
  }

  /** Why not is said by `onFailure`. */
  function isFlushed(): Promise<boolean> {
    return commit.flushed().then(
      () => true,
      () => false,
    )
  }

  return {
    isNew: !isComplete,
    marks,
    forgetMarks() {
      marks.clear()
      if (found.replayedBytes > MUCH_BYTES) soon = setTimeout(saveCheckpoint, SOON_MS).unref()
    },
    append,
    flushed: commit.flushed,
    get failure() {
      return commit.failure?.error ?? null
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    read: (after) => reader.read(after, onDisk),
    get first() {
      return files.segments.find(({ count }) => count > 0)?.firstId ?? 0
    },
    get last() {
      return last.upTo
    },
    keepFrom(id) {
      neededAfter = id ?? Number.POSITIVE_INFINITY
      trim()
    },
    async close() {
      isClosed = true
      clearTimeout(soon)
      const isWritten = await isFlushed()
      commit.stop()
      await upkeep
      if (!isWritten) log(`the event log was closed without ${commit.waiting} entries`)
      else if (hasAppended && checkpointed < last.batch) saveCheckpoint()
      await upkeep
      files.close()
    },
  }
}
