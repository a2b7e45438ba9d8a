import { link, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { createDurable, syncFolder, writeDurable } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { isOfFile, type Refused, readTwice } from '../../files/safe-read.ts'
import { Refusal } from '../../model/refusal.ts'
import { type Scanned, type Segment, scanSegment } from './log-segment.ts'

export interface RepairNeeds {
  log: (line: string) => void
  /** ISO 8601. */
  now: () => string
}

/** Far more than the log lets one grow to. */
const MAX_BYTES = 512 * 1024 * 1024

/**
 * Reads a segment and leaves a file of whole lines, or none. What a write that was cut short left at
 * the end of the log goes; any other damage is set aside first, as it may be of use to somebody.
 */
export async function repairSegment(
  { path, lastId, lastBatch }: Segment,
  before: Segment | undefined,
  isLast: boolean,
  needs: RepairNeeds,
): Promise<Scanned> {
  const after = { lastId: before?.lastId ?? lastId, lastBatch: before?.lastBatch ?? lastBatch }
  const read = await readTwice(path, { maxBytes: MAX_BYTES })
  if (!read.ok && !isOfFile(read)) throw notNow(`${basename(path)} of the event log`, read)
  if (!read.ok) {
    const aside = await moveAside(path, needs)
    needs.log(`${basename(path)} of the event log cannot be read (${read.detail}): now ${aside}`)
    return { lines: [], damaged: 1, torn: 0, lastId: after.lastId }
  }
  const scanned = scanSegment(read.bytes, after)
  const lines = scanned.lines.map(({ line }) => line)
  const size = lines.reduce((sum, line) => sum + line.length + 1, 0)
  if (scanned.damaged || (scanned.torn && !isLast)) {
    const aside = await keepAside(path, read.bytes, needs)
    const text = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
    if (size) await writeDurable(path, text, { mode: 0o600 })
    needs.log(
      `${basename(path)} of the event log is damaged: ${lines.length} entries in it are good and stay, the file as it was is now ${aside}`,
    )
  } else if (scanned.torn) {
    if (size) await cutAt(path, size)
    needs.log(`the event log ended within an entry: its ${scanned.torn} bytes were cut off`)
  }
  if (size === 0) await remove(path)
  return scanned
}

/** For a file that may be as good as ever: nothing is begun without it. */
export function notNow(what: string, { detail }: Refused): Refusal {
  return new Refusal(
    'storage_failed',
    `${what} cannot be read now (${detail}). Start the service again.`,
  )
}

/** Renames a file that is of no use any more; gives its new base name. */
export async function moveAside(path: string, { now }: RepairNeeds): Promise<string> {
  const aside = asideName(path, now())
  await rename(path, aside)
  await syncFolder(dirname(path))
  return basename(aside)
}

/**
 * Gives a damaged file a second name, so that its good lines can take the place of the first at once;
 * gives that base name.
 */
export async function keepAside(
  path: string,
  bytes: Buffer,
  { now }: Pick<RepairNeeds, 'now'>,
): Promise<string> {
  const aside = asideName(path, now())
  try {
    await link(path, aside)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error
    await createDurable(aside, bytes, { mode: 0o600 })
  }
  return basename(aside)
}

function asideName(path: string, now: string): string {
  return `${path}.damaged-${now.replace(/[:-]/g, '')}`
}

async function cutAt(path: string, size: number): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.truncate(size)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path)
    await syncFolder(dirname(path))
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
