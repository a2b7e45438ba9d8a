import { LRUCache } from 'lru-cache'
import { readSlice } from '../../files/read-slice.ts'
import { stampOf } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { artifactPath } from '../../runners/output/artifacts.ts'

/** A part of a log that one page shows. */
export interface LogChunk {
  from: number
  to: number
  /** The number of its first line. */
  line: number
  /** It begins within a line that is longer than a chunk. */
  isMidLine: boolean
}

/** Where the lines of a log are. */
export interface LogIndex {
  size: number
  /** A last line without a line end counts. */
  lines: number
  /** Empty for an empty log. */
  chunks: readonly LogChunk[]
}

interface Scan {
  ino: number
  mtimeMs: number
  size: number
  /** The line ends up to `size`, and whether it is just behind one. */
  lineEnds: number
  isLineStart: boolean
  chunks: LogChunk[]
}

type Layout = HttpDeps['layout']

const MAX_CHUNK_LINES = 2000
const MAX_CHUNK_BYTES = 256 * 1024
const READ_BYTES = 1024 * 1024
const LF = 0x0a

const scans = new LRUCache<string, Scan>({ max: 100 })

/** Null if the log is not on this machine, or is no regular file. A log that has grown is read from its old end on. */
export async function indexLog(
  layout: Layout,
  caseId: string,
  artifact: string,
): Promise<LogIndex | null> {
  const path = artifactPath(layout, caseId, artifact)
  const stamp = await stampOf(path)
  if (stamp === null) return null
  const { ino, mtimeMs, size } = stamp
  const known = scans.get(path)
  let scan: Scan = { ino, mtimeMs, size: 0, lineEnds: 0, isLineStart: true, chunks: [] }
  if (known?.ino === ino && known.size === size && known.mtimeMs === mtimeMs) scan = known
  else if (known?.ino === ino && known.size < size)
    scan = { ...known, mtimeMs, chunks: structuredClone(known.chunks) }
  while (scan.size < size) {
    const from = scan.size
    const length = Math.min(READ_BYTES, size - from)
    const read = await readSlice(path, () => ({ from, length }), {
      within: layout.caseFolder(caseId),
    })
    if (!read.ok) return null
    if (read.bytes.length === 0) break // it became shorter
    extend(scan, read.bytes)
  }
  scans.set(path, scan)
  const { lineEnds, isLineStart, chunks } = scan
  return { size: scan.size, lines: lineEnds + (isLineStart ? 0 : 1), chunks }
}

/** Adds the bytes after those that were scanned. */
function extend(scan: Scan, bytes: Buffer): void {
  let at = 0
  while (at < bytes.length) {
    const end = bytes.indexOf(LF, at)
    const lineEnd = end < 0 ? bytes.length : end + 1
    const chunk = openChunk(scan, lineEnd - at)
    const room = MAX_CHUNK_BYTES - (chunk.to - chunk.from)
    const taken = Math.min(lineEnd - at, room)
    chunk.to += taken
    scan.size += taken
    at += taken
    scan.isLineStart = taken > 0 && bytes[at - 1] === LF
    if (scan.isLineStart) scan.lineEnds += 1
  }
}

/** The last chunk, or a new one if a line of this length does not fit. */
function openChunk(scan: Scan, length: number): LogChunk {
  const last = scan.chunks.at(-1)
  const line = scan.lineEnds + 1
  if (last) {
    const size = last.to - last.from
    const isFull =
      size >= MAX_CHUNK_BYTES ||
      (scan.isLineStart && (line - last.line >= MAX_CHUNK_LINES || size + length > MAX_CHUNK_BYTES))
    if (!isFull) return last
  }
  const chunk = { from: scan.size, to: scan.size, line, isMidLine: !scan.isLineStart }
  scan.chunks.push(chunk)
  return chunk
}

/** The chunk with a line: the first one, if the line is longer than a chunk. A line after the last is in the last. */
export function chunkWith({ chunks }: LogIndex, line: number): number {
  let [low, high] = [0, chunks.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const { line: first, isMidLine } = chunks[middle]!
    if (first < line || (first === line && !isMidLine)) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}
