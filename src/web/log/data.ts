import { setImmediate as nextTurn } from 'node:timers/promises'
import { readSlice } from '../../files/read-slice.ts'
import type { HttpDeps } from '../../http/deps.ts'
import type { AnsiLine } from '../../rendering/ansi/lines.ts'
import { ansiLines, createAnsiReader, lineText } from '../../rendering/ansi/lines.ts'
import { type ByteRange, splitBy } from '../../rendering/live-log/byte-ranges.ts'
import { CUT } from '../../rendering/live-log/cut-line.ts'
import { looksLikeError } from '../../rendering/live-log/error-text.ts'
import { numberLines } from '../../rendering/live-log/line-numbers.ts'
import { artifactPath } from '../../runners/output/artifacts.ts'
import { readStderrMarks } from '../../runners/output/stderr-marks.ts'
import { chunkWith, indexLog, type LogChunk, type LogIndex } from './log-index.ts'
import type { LogLine } from './log-lines.tsx'

interface LogAddress {
  layout: HttpDeps['layout']
  caseId: string
  artifact: string
}

/** A log, and what is needed to read parts of it. */
export interface LogSource extends LogAddress {
  index: LogIndex
  /** The bytes that came from standard error, as far as known. */
  stderr: readonly ByteRange[]
}

/** Null if the log is not on this machine. */
export async function openLog(place: LogAddress): Promise<LogSource | null> {
  const { layout, caseId, artifact } = place
  const index = await indexLog(layout, caseId, artifact)
  if (index === null) return null
  const stderr = await readStderrMarks(artifactPath(layout, caseId, artifact), index.size)
  return { ...place, index, stderr }
}

/** Colours that a log sets this long before a chunk still apply in it. */
const MAX_PRELUDE = 64 * 1024
const LF = 0x0a

/** The lines of a chunk; null if the file is gone. */
export async function chunkLines(source: LogSource, chunk: LogChunk): Promise<LogLine[] | null> {
  const prelude = Math.min(MAX_PRELUDE, chunk.from)
  const bytes = await readBytes(source, chunk.from - prelude, chunk.to)
  if (!bytes) return null
  const reader = createAnsiReader()
  reader.write(lastStyle(bytes.subarray(0, prelude).toString('latin1')))
  if (chunk.isMidLine) reader.write(CUT)
  const numbers = numberLines(chunk.line)
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const lines: LogLine[] = []
  let isStderr = false
  const add = (line: AnsiLine) => lines.push({ line, isStderr, number: numbers.next(line) })
  for (const { from, to, inside } of splitBy(source.stderr, chunk)) {
    const part = bytes.subarray(prelude + from - chunk.from, prelude + to - chunk.from)
    const stream = inside ? 'stderr' : 'stdout'
    isStderr ||= inside
    for (const line of reader.write(decoders[stream].decode(part, { stream: true }), stream)) {
      add(line)
      isStderr = inside
    }
    if (reader.open() === null) isStderr = false
  }
  const rest = reader.open()
  if (rest) add(rest)
  return lines
}

/** The sequences that set the style at the end of a text. */
function lastStyle(text: string): string {
  const sequences: string[] = text.match(/\u001b\[[\d;:]*m/g) ?? []
  const reset = sequences.findLastIndex((each) => /\[0*m$/.test(each))
  return sequences.slice(reset + 1).join('')
}

export interface FilteredLines {
  lines: LogLine[]
  /** All lines that match; only the first are in `lines`. */
  total: number
}

const MAX_FILTERED = 1000
const MAX_LINE = 4000

/** The lines that contain a text, in any case of letters. */
export async function filteredLines(source: LogSource, filter: string): Promise<FilteredLines> {
  const wanted = filter.toLowerCase()
  const lines: LogLine[] = []
  let total = 0
  for await (const group of lineGroups(source, 0)) {
    for (const { number, text, isStderr } of group) {
      if (!plainLine(text).toLowerCase().includes(wanted)) continue
      total += 1
      if (total > MAX_FILTERED) continue
      const cut = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE).toWellFormed()}${CUT}` : text
      const [line] = ansiLines(cut)
      lines.push({ line: line ?? { runs: [], wrapped: false }, isStderr, number })
    }
  }
  return { lines, total }
}

/** The first line after this one that begins a group of lines with errors; null if there is none. */
export async function nextError(source: LogSource, after: number): Promise<number | null> {
  let isInGroup = false
  for await (const group of lineGroups(source, chunkWith(source.index, Math.max(1, after)))) {
    for (const { number, text, isStderr } of group) {
      if (number < after) continue
      const isError = isStderr || looksLikeError(plainLine(text))
      if (number > after && isError && !isInGroup) return number
      isInGroup = isError
    }
  }
  return null
}

interface RawLine {
  number: number
  text: string
  isStderr: boolean
}

/** The lines of each chunk. Other requests get their turn between chunks. */
async function* lineGroups(source: LogSource, first: number): AsyncGenerator<RawLine[]> {
  for (const chunk of source.index.chunks.slice(first)) {
    const bytes = await readBytes(source, chunk.from, chunk.to)
    if (!bytes) return
    yield rawLines(bytes, chunk, source.stderr)
    await nextTurn()
  }
}

function rawLines(bytes: Buffer, chunk: LogChunk, stderr: readonly ByteRange[]): RawLine[] {
  const ranges = stderr.filter(({ from, to }) => from < chunk.to && to > chunk.from)
  const lines: RawLine[] = []
  let at = 0
  let number = chunk.line
  while (at < bytes.length) {
    const found = bytes.indexOf(LF, at)
    const end = found < 0 ? bytes.length : found
    const [from, to] = [chunk.from + at, chunk.from + end]
    const isStderr = ranges.some((range) => range.from < Math.max(to, from + 1) && range.to > from)
    lines.push({ number, text: bytes.toString('utf8', at, end), isStderr })
    at = end + 1
    number += 1
  }
  return lines
}

/** What a terminal shows of a line. */
function plainLine(text: string): string {
  const plain = text.replace(STYLE, '').replace(/\r$/, '')
  if (!/[\u001b\r\b]/.test(plain)) return plain
  return lineText(ansiLines(text.slice(0, MAX_PLAIN)).at(-1) ?? { runs: [], wrapped: false })
}

const STYLE = /\u001b\[[\d;:]*[mK]/g
const MAX_PLAIN = 16 * 1024

async function readBytes(
  { layout, caseId, artifact }: LogSource,
  from: number,
  to: number,
): Promise<Buffer | null> {
  const path = artifactPath(layout, caseId, artifact)
  const within = layout.caseFolder(caseId)
  const read = await readSlice(path, () => ({ from, length: to - from }), { within })
  return read.ok ? read.bytes : null
}
