import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { writeDurable } from '../../files/durable-write.ts'
import type { Delivery } from '../../model/delivery.ts'
import { keepAside, type RepairNeeds } from '../log/log-repair.ts'
import { encodeSnapshot, entryOf, inOrder, type Progress } from './journal-line.ts'
import { readOrSetAside } from './journal-reading.ts'

export interface RecoveredJournal {
  progress: Progress
  /** By the last line of each id, in order of `event`. */
  deliveries: Delivery[]
  /** The bytes of the file that count; 0 where there is none. */
  size: number
  /** Behind them is what a write that was cut short left. */
  isTorn: boolean
}

/** Far more than a receiver that is down for days makes it grow to. */
const MAX_BYTES = 512 * 1024 * 1024
const LINE_FEED = 0x0a
const BEGINNING = '{"crc":"'
const SLICE_MS = 20

/**
 * Reads a journal that a service that may have died left. Of a damaged one the good lines stay, and
 * the cursor goes back to before the damage; what cannot be read at all begins at `startsAfter`.
 */
export async function recoverJournal(
  path: string,
  startsAfter: number,
  needs: RepairNeeds,
): Promise<RecoveredJournal> {
  const name = basename(path)
  const bytes = await readOrSetAside(path, MAX_BYTES, needs)
  const { progress, torn, isDamaged, ...found } = await scan(bytes ?? Buffer.alloc(0), startsAfter)
  const deliveries = inOrder(found.deliveries.values())
  if (bytes && isDamaged) {
    const aside = await keepAside(path, bytes, needs)
    const text = await encodeSnapshot(progress, deliveries)
    await writeDurable(path, text, { mode: 0o600 })
    needs.log(
      `${name} of the webhooks is damaged: ${deliveries.length} deliveries in it are good and stay, events after ${progress.cursor} that are not among them are sent again, the file as it was is now ${aside}`,
    )
    return { progress, deliveries, size: text.length, isTorn: false }
  }
  if (torn)
    needs.log(`${name} of the webhooks ended within an entry: its ${torn} bytes are cut off`)
  return { progress, deliveries, size: (bytes?.length ?? 0) - torn, isTorn: torn > 0 }
}

interface Scanned {
  progress: Progress
  deliveries: Map<string, Delivery>
  /** Bytes of the entry that the end was torn in. */
  torn: number
  isDamaged: boolean
}

async function scan(bytes: Buffer, startsAfter: number): Promise<Scanned> {
  const scanned: Scanned = {
    ...{ progress: { cursor: startsAfter, failing: null }, deliveries: new Map() },
    ...{ torn: 0, isDamaged: false },
  }
  let since = performance.now()
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const end = feed === -1 ? bytes.length : feed
    takeLine(scanned, bytes.subarray(start, end), feed !== -1)
    start = end + 1
    if (performance.now() - since < SLICE_MS) continue
    await setImmediate()
    since = performance.now()
  }
  return scanned
}

function takeLine(scanned: Scanned, line: Buffer, isWhole: boolean): void {
  const entry = isWhole ? entryOf(line) : null
  if (!entry) {
    if (!isWhole && isBegun(line)) scanned.torn = line.length
    else scanned.isDamaged = true
    return
  }
  const { cursor, failing, delivery } = entry
  // A line that is lost may have been the only trace of a delivery that failed.
  scanned.progress = { cursor: scanned.isDamaged ? scanned.progress.cursor : cursor, failing }
  if (delivery) scanned.deliveries.set(delivery.id, delivery)
}

/** Whether it begins as a line does. */
function isBegun(rest: Buffer): boolean {
  return BEGINNING.startsWith(rest.toString('latin1', 0, BEGINNING.length))
}
