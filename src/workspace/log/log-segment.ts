import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { batchOf, headerOf, idsUsedBy, type LineHeader, type LogEvent } from './log-line.ts'

/** One file of the log, and what of it counts: its first `size` bytes, all whole lines. */
export interface Segment {
  path: string
  size: number
  /** How many events it holds. */
  count: number
  /** Of its first and last event; without any, the next id and the one before. */
  firstId: number
  lastId: number
  lastBatch: number
}

/** What the first line of a file will be, which is its name. */
export interface SegmentStart {
  first: number
  batch: number
}

const NAME = /^(\d{12,})-(\d{12,})\.jsonl(\.damaged-.+)?$/
const CHUNK = 256 * 1024
const LINE_FEED = 0x0a

export function emptySegment(folder: string, { first, batch }: SegmentStart): Segment {
  const pad = (number: number) => String(number).padStart(12, '0')
  const path = join(folder, `${pad(first)}-${pad(batch)}.jsonl`)
  return { path, size: 0, count: 0, firstId: first, lastId: first - 1, lastBatch: batch - 1 }
}

/** Null for a file that is none of the log's; one that was set aside still tells which ids were used. */
export function parseSegmentName(name: string): (SegmentStart & { isDamaged: boolean }) | null {
  const found = NAME.exec(name)
  if (!found) return null
  return { first: Number(found[1]), batch: Number(found[2]), isDamaged: found[3] !== undefined }
}

/** Counts one more line to what a segment holds. */
export function addLine(segment: Segment, line: LineHeader, bytes: number): void {
  if (segment.count === 0) segment.firstId = line.first
  segment.size += bytes
  segment.count += line.count
  segment.lastId = line.first + line.count - 1
  segment.lastBatch = line.batch
}

export interface Scanned {
  lines: { line: Buffer; header: LineHeader }[]
  /** Complete lines that are not as they were written. */
  damaged: number
  /** Bytes after the last line feed. */
  torn: number
  /** The largest id that any line, a damaged one too, may have used. */
  lastId: number
}

/** Takes the bytes of a segment apart; its batches must come after those of the segments before. */
export function scanSegment(bytes: Buffer, after: { lastId: number; lastBatch: number }): Scanned {
  const scanned: Scanned = { lines: [], damaged: 0, torn: 0, lastId: after.lastId }
  let { lastId, lastBatch } = after
  let start = 0
  while (start < bytes.length) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const line = bytes.subarray(start, feed === -1 ? bytes.length : feed)
    const header = feed === -1 ? null : headerOf(line)
    if (header && header.batch > lastBatch && header.first > lastId) {
      scanned.lines.push({ line, header })
      lastBatch = header.batch
      lastId = header.first + header.count - 1
      scanned.lastId = lastId
    } else {
      if (feed === -1) scanned.torn = line.length
      else scanned.damaged++
      scanned.lastId += idsUsedBy(line)
    }
    start += line.length + 1
  }
  return scanned
}

/** The events of a segment with ids behind `after`, in pages; `onDamage` hears of lines that must be passed over. */
export async function* eventsIn(
  segment: Segment,
  after: number,
  onDamage: () => void,
): AsyncGenerator<LogEvent[]> {
  for await (const lines of linesIn(segment.path, segment.size)) {
    const page: LogEvent[] = []
    for (const line of lines) {
      const header = headerOf(line)
      if (!header) onDamage()
      else if (header.first + header.count - 1 > after) {
        for (const [index, event] of batchOf(line, header).events.entries()) {
          const id = header.first + index
          if (id > after) page.push({ id, ...event })
        }
      }
    }
    if (page.length) yield page
  }
}

async function* linesIn(path: string, size: number): AsyncGenerator<Buffer[]> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    let rest = Buffer.alloc(0)
    let position = 0
    while (position < size) {
      // As much again as is still without an end, so that a long line is not copied for every chunk.
      const wanted = Math.min(Math.max(CHUNK, rest.length), size - position)
      const chunk = Buffer.allocUnsafe(wanted)
      const { bytesRead } = await handle.read(chunk, 0, wanted, position)
      if (bytesRead === 0) return
      position += bytesRead
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
      const lines: Buffer[] = []
      let start = 0
      for (let feed = bytes.indexOf(LINE_FEED); feed !== -1; ) {
        lines.push(bytes.subarray(start, feed))
        start = feed + 1
        feed = bytes.indexOf(LINE_FEED, start)
      }
      rest = bytes.subarray(start)
      yield lines
    }
  } finally {
    await handle.close()
  }
}
