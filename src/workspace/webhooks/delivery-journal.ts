import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createKeyedMutex } from '../../files/keyed-mutex.ts'
import type { Delivery } from '../../model/delivery.ts'
import { createJournalFile } from './journal-file.ts'
import { encodeEntry, encodeSnapshot, type Progress } from './journal-line.ts'
import { recoverJournal } from './journal-recovery.ts'

export type { Progress } from './journal-line.ts'

/** What survives kill -9 of one receiver's progress. */
export interface DeliveryJournal {
  /** There was none, or it was empty, or wholly damaged. */
  readonly isNew: boolean
  /** As of opening. */
  readonly progress: Progress
  /** As of opening, by the last line of each id, in order of `event`. The caller may empty it. */
  readonly deliveries: Delivery[]
  /**
   * Takes a line at once; resolves when the kernel has it, so that it survives kill -9. After a power
   * cut things are repeated, never lost. In order. Rejects with the storage refusal where it cannot
   * be written: then nothing of it counts, and the next may be tried.
   */
  append(progress: Progress, delivery: Delivery | null): Promise<void>
  /** The cursor of what a power cut would leave: the log may be trimmed up to here. */
  readonly syncedCursor: number
  /** Brings `syncedCursor` up to what was appended before. */
  sync(): Promise<void>
  /**
   * Writes the snapshot in place of all lines, durably; lines that are appended meanwhile wait, and
   * follow it. Done by itself too, once the file is much larger than what it stands for.
   */
  compact(): Promise<void>
  /** Syncs. What the disk refuses is said in the log. */
  close(): Promise<void>
}

export interface JournalOptions {
  /** Where a journal that is missing or wholly damaged begins. */
  startsAfter: number
  /**
   * All that is to be kept now. Lines whose append has resolved before this turn of the event loop
   * must be in it; those that still wait may be. Its objects must not be changed later.
   */
  snapshot(): { progress: Progress; deliveries: Iterable<Delivery> }
  log: (line: string) => void
  /** ISO 8601, for the names of damaged files. */
  now: () => string
  /** Smaller files are never compacted by themselves. */
  compactBytes?: number
}

const COMPACT_BYTES = 1024 * 1024
/** How many times as large as its last snapshot a file may get. */
const GROWTH = 3

interface Batch {
  lines: string[]
  cursor: number
  written: Promise<void>
}

/** Only for the owner of the state folder, whose folder of webhooks must be there for an append. */
export async function openDeliveryJournal(
  path: string,
  { startsAfter, snapshot, log, now, compactBytes = COMPACT_BYTES }: JournalOptions,
): Promise<DeliveryJournal> {
  const name = basename(path)
  const { progress, deliveries, ...found } = await recoverJournal(path, startsAfter, { log, now })
  const file = createJournalFile(path, found)
  const turns = createKeyedMutex()
  const inTurn = (work: () => Promise<void>) => turns.run(name, work)
  let waiting: Batch | null = null
  let { cursor } = progress
  let syncedCursor = Math.min(startsAfter, cursor)
  let isSynced = found.size === 0 && !found.isTorn
  let hasSyncFailed = false
  let compactAt = compactBytes
  let isCompactionDue = false
  let hasSaidWhy = false
  let closing: Promise<void> | null = null

  async function append(progress: Progress, delivery: Delivery | null): Promise<void> {
    mustBeOpen()
    const line = encodeEntry({ ...progress, delivery })
    waiting ??= newBatch()
    waiting.lines.push(line)
    waiting.cursor = progress.cursor
    await waiting.written
  }

  /** Of all lines that come before its turn. */
  function newBatch(): Batch {
    const batch: Batch = { lines: [], cursor, written: inTurn(() => write(batch)) }
    return batch
  }

  async function write(batch: Batch): Promise<void> {
    waiting = null
    await file.append(Buffer.from(batch.lines.join('')))
    cursor = batch.cursor
    isSynced = false
    if (file.size > compactAt && !isCompactionDue && !closing) compactSoon()
  }

  async function syncNow(): Promise<void> {
    if (isSynced) return
    if (hasSyncFailed) return compactNow()
    try {
      await file.sync()
    } catch (error) {
      hasSyncFailed = true
      throw error
    }
    syncedTo(cursor)
  }

  function syncedTo(reached: number): void {
    cursor = reached
    syncedCursor = reached
    isSynced = true
  }

  async function compactNow(): Promise<void> {
    compactAt = file.size + compactBytes // when it fails
    await setImmediate() // so that those whose line was just written have taken note of it
    const { progress, deliveries } = snapshot()
    const bytes = await encodeSnapshot(progress, deliveries)
    await file.replace(bytes)
    compactAt = Math.max(compactBytes, GROWTH * file.size)
    hasSyncFailed = false
    hasSaidWhy = false
    syncedTo(progress.cursor)
  }

  /** Without it the file only grows for a while, so a failure is said and no more. */
  function compactSoon(): void {
    isCompactionDue = true
    inTurn(compactNow)
      .catch((error) => {
        if (!hasSaidWhy) log(`${name} of the webhooks could not be made smaller: ${error}`)
        hasSaidWhy = true
      })
      .finally(() => {
        isCompactionDue = false
      })
  }

  async function close(): Promise<void> {
    await syncOrSay()
    try {
      await file.close()
    } catch (error) {
      log(`${name} of the webhooks was not closed properly: ${error}`)
    }
  }

  async function syncOrSay(): Promise<void> {
    try {
      await syncNow()
    } catch (error) {
      log(`${name} of the webhooks is not safe from a power cut: ${error}`)
    }
  }

  function mustBeOpen(): void {
    if (closing) throw new Error(`${name} is closed`)
  }

  // What the service before wrote, and did not sync.
  await syncOrSay()
  await file.close()
  return {
    isNew: found.size === 0,
    progress,
    deliveries,
    append,
    get syncedCursor() {
      return syncedCursor
    },
    async sync() {
      mustBeOpen()
      await inTurn(syncNow)
    },
    async compact() {
      mustBeOpen()
      await inTurn(compactNow)
    },
    close() {
      closing ??= inTurn(close)
      return closing
    },
  }
}
