import { closeSync, constants, ftruncateSync, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { syncData, writeDescriptor } from '../../files/descriptors.ts'
import { syncFolder } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { encodeLine, type LogBatch } from './log-line.ts'
import { addLine, emptySegment, type Segment } from './log-segment.ts'

/** The segments of a log on the disk. */
export interface LogFiles {
  /** Oldest first; only what is on the disk counts. */
  readonly segments: readonly Segment[]
  /** The last id that was trimmed; 0 when none was. */
  readonly trimmedTo: number
  /** Puts the first of these on the disk, as many as one segment takes; says how many. */
  write(batches: readonly LogBatch[]): Promise<number>
  /** Removes the oldest segments that nobody needs. */
  trim(limits: TrimLimits): Promise<void>
  close(): void
}

export interface TrimLimits {
  /** This many of the newest events stay whatever else. */
  keepEvents: number
  /** Up to here the checkpoint stands for the marks of the batches. */
  checkpointed: number
  /** Events with larger ids are still needed by somebody: asked before each removal, as readers come meanwhile. */
  neededAfter(): number
}

interface LogFilesNeeds {
  segmentBytes: number
  log: (line: string) => void
  /** Each time a full segment is left for a new one. */
  onRotated(): void
}

const SEGMENT_EVENTS = 5000
/** Where the disk matters more than a receiver that has not come back. */
const MAX_EVENTS = 1_000_000
const MAX_BYTES = 512 * 1024 * 1024

export function createLogFiles(
  folder: string,
  found: Segment[],
  { segmentBytes, log, onRotated }: LogFilesNeeds,
): LogFiles {
  const segments = [...found]
  let trimmedTo = 0
  let opened: { segment: Segment; fd: number } | null = null
  let isTorn = false

  async function write(batches: readonly LogBatch[]): Promise<number> {
    const last = segments.at(-1)
    const segment = last && !isFull(last) ? last : await addSegment(batches[0]!)
    const lines: Buffer[] = []
    const after = { ...segment }
    for (const batch of batches) {
      if (lines.length && isFull(after)) break
      const line = Buffer.from(encodeLine(batch))
      lines.push(line)
      addLine(after, batch, line.length)
    }
    await put(segment, Buffer.concat(lines))
    Object.assign(segment, after)
    return lines.length
  }

  /** Positions are given, so that the next try begins where this one did. */
  async function put(segment: Segment, bytes: Buffer): Promise<void> {
    const fd = descriptorOf(segment)
    // Also drops the pages of a sync that failed: a second sync would call them clean.
    if (isTorn) ftruncateSync(fd, segment.size)
    isTorn = true
    await writeDescriptor(fd, bytes, segment.size)
    await syncData(fd)
    isTorn = false
  }

  function descriptorOf(segment: Segment): number {
    if (opened?.segment === segment) return opened.fd
    close()
    const { O_RDWR, O_NOFOLLOW } = constants
    opened = { segment, fd: openSync(segment.path, O_RDWR | O_NOFOLLOW) }
    return opened.fd
  }

  async function addSegment(batch: LogBatch): Promise<Segment> {
    const segment = emptySegment(folder, batch)
    const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    // One that is there already is of a try that failed below.
    closeSync(openSync(segment.path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600))
    await syncFolder(folder)
    segments.push(segment)
    if (segments.length > 1) onRotated()
    return segment
  }

  function isFull({ size, count }: Segment): boolean {
    return size >= segmentBytes || count >= SEGMENT_EVENTS
  }

  async function trim({ keepEvents, checkpointed, neededAfter }: TrimLimits): Promise<void> {
    let events = segments.reduce((sum, { count }) => sum + count, 0)
    let bytes = segments.reduce((sum, { size }) => sum + size, 0)
    while (segments.length > 1) {
      const oldest = segments[0]!
      if (events - oldest.count < keepEvents || oldest.lastBatch > checkpointed) return
      const isNeeded = oldest.lastId > neededAfter()
      if (isNeeded && events <= MAX_EVENTS && bytes <= MAX_BYTES) return
      if (isNeeded) {
        log(
          `the event log is as large as it may get: events ${oldest.firstId} to ${oldest.lastId}, for which a receiver still waits, are dropped`,
        )
      }
      await drop(oldest)
      events -= oldest.count
      bytes -= oldest.size
    }
  }

  /** First out of the list, so that no reader opens it; back in when it stays, as a gap would be worse. */
  async function drop(oldest: Segment): Promise<void> {
    const before = trimmedTo
    segments.shift()
    trimmedTo = oldest.lastId
    try {
      await unlink(oldest.path)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      segments.unshift(oldest)
      trimmedTo = before
      throw error
    }
  }

  function close(): void {
    const closing = opened
    opened = null
    if (closing) closeSync(closing.fd)
  }

  return {
    segments,
    get trimmedTo() {
      return trimmedTo
    },
    write,
    trim,
    close,
  }
}
