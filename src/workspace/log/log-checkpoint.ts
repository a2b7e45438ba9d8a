import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { writeDurable } from '../../files/durable-write.ts'
import { isOfFile, readTwice } from '../../files/safe-read.ts'
import { type JsonValue, sealOf, unsealed } from './log-line.ts'
import { notNow } from './log-repair.ts'

/** Where the log stood when its marks were taken. */
export interface LogPosition {
  /** The last batch that the marks contain. */
  batch: number
  /** The last id given by then. */
  upTo: number
}

export interface Checkpoint extends LogPosition {
  marks: Map<string, JsonValue>
}

export const CHECKPOINT_FILE = 'checkpoint.jsonl'
const MAX_BYTES = 256 * 1024 * 1024
/** Marks made into text without a pause. */
const SLICE = 1000

/** A line for the position, then one for each mark; no step of it blocks for long. */
export async function writeCheckpoint(
  folder: string,
  { batch, upTo }: LogPosition,
  marks: readonly [string, JsonValue][],
): Promise<void> {
  const parts = [Buffer.from(`"batch":${batch},"upTo":${upTo},"marks":${marks.length}}\n`)]
  for (let start = 0; start < marks.length; start += SLICE) {
    const lines = marks.slice(start, start + SLICE).map((mark) => `${JSON.stringify(mark)}\n`)
    parts.push(Buffer.from(lines.join('')))
    await setImmediate()
  }
  let crc = 0
  for (const part of parts) crc = crc32(part, crc)
  const bytes = Buffer.concat([Buffer.from(sealOf(crc)), ...parts])
  await writeDurable(join(folder, CHECKPOINT_FILE), bytes, { mode: 0o600 })
}

export async function readCheckpoint(folder: string): Promise<Checkpoint | 'missing' | 'damaged'> {
  const read = await readTwice(join(folder, CHECKPOINT_FILE), { maxBytes: MAX_BYTES })
  if (!read.ok && !isOfFile(read)) throw notNow(`${CHECKPOINT_FILE} of the event log`, read)
  if (!read.ok) return read.reason === 'missing' ? 'missing' : 'damaged'
  const rest = unsealed(read.bytes)
  if (!rest) return 'damaged'
  const [header, ...lines] = rest.toString().trimEnd().split('\n')
  const { batch, upTo } = JSON.parse(`{${header}`) as LogPosition
  return { batch, upTo, marks: new Map(lines.map((line) => JSON.parse(line))) }
}
