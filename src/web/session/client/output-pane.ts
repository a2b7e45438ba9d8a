import { type ByteRange, readRanges } from '../../../rendering/live-log/byte-ranges.ts'
import { beginningOf, CUT } from '../../../rendering/live-log/cut-line.ts'
import {
  createOutputLog,
  type LivePiece,
  type LogText,
} from '../../../rendering/live-log/output-log.ts'
import { type NumberedText, outputLines } from './output-lines.ts'

/** The output of one step. */
export interface OutputPane {
  section: HTMLElement
  artifact: string
  piece(piece: LivePiece): void
  /** The output is no longer sent live: from now on the log is polled. */
  silent(): void
  /** Takes over what a newer page says of the log. */
  sync(next: HTMLElement): void
  /** Shows as much of what has come as fits into one frame; true if there is more. */
  render(maxLines: number): boolean
  lines(): number
  drop(count: number): void
}

/** More in one frame would make the page slow. */
const FRAME_CHARACTERS = 32 * 1024
/** A page that is further behind leaves out what is between: the full log is one click away. */
const MAX_BEHIND = 512 * 1024
const END_BYTES = 128 * 1024
const AGAIN_MS = 1000
/** If nothing answers. */
const LATER_MS = 2000

/** What the page says of a log, in `data-log`. */
interface ShownLog {
  artifact: string | null
  /** The bytes on the page. */
  from: number
  to: number
  /** The number of the line at `from`; null if it is not known. */
  line: number | null
  /** Ranges of bytes that came from standard error. */
  stderr: string
  isFinished: boolean
  isMidLine: boolean
  isSilent: boolean
}

export function logOf(section: HTMLElement): ShownLog {
  return JSON.parse(section.dataset.log!) as ShownLog
}

interface PaneEvents {
  /** There is something to render. */
  changed(): void
  /** Pieces were missed: the page has to be refreshed. */
  gapDetected(): void
}

export function outputPane(
  section: HTMLElement,
  sessionApi: string,
  { changed, gapDetected }: PaneEvents,
): OutputPane {
  const shown = logOf(section)
  const artifact = shown.artifact ?? ''
  const url = `${sessionApi}/artifacts/${artifact}`
  const log = createOutputLog(shown.from)
  const pre = section.querySelector<HTMLElement>('.lines')!
  let isFinished = shown.isFinished
  let isSilent = !isFinished && shown.isSilent
  /** The stream of each byte before this one is known; later bytes are not fetched yet. */
  let knownStreamEnd = shown.to
  let fetching = false
  let waiting: NumberedText[] = []
  /** The line ends in the text up to `log.end()`, also before `from`; null if they are not known. */
  let lineEnds = shown.line === null ? null : shown.line - 1
  let timer: number | undefined
  const lines = outputLines(pre, {
    prefix: `${section.id.replace(/^pane-/, '')}-`,
    first: shown.line,
  })
  if (isFinished && pre.childElementCount > 0) log.skipTo(shown.to)
  else {
    // reads again what the page came with, so that colours and the last line continue
    pre.replaceChildren()
    if (shown.isMidLine) take([{ text: CUT, isError: false }])
    log.learn(shown.to, readRanges(shown.stderr))
    void catchUp()
  }

  function take(texts: LogText[]): void {
    if (texts.length === 0) return
    waiting.push(...texts)
    if (lineEnds !== null) for (const { text } of texts) lineEnds += lineEndsIn(text)
    changed()
  }

  /** Fetches until the page has all of the log that is known to be there. */
  async function catchUp(): Promise<void> {
    if (fetching || artifact === '' || !section.isConnected) return
    fetching = true
    let isThere = true
    try {
      while (log.end() < knownStreamEnd || isSilent) {
        const before = log.end()
        const length = isSilent ? MAX_BEHIND : Math.min(MAX_BEHIND, knownStreamEnd - before)
        // begins with a byte that is here already: a range beyond the end is an error
        const from = Math.max(0, before - 1)
        const part = await fetchPart(url, from, before - from + length)
        isThere = part !== null
        if (part === null) break
        take(log.bytes(part.from, part.bytes))
        if (isSilent) log.learn(part.size, [])
        if (log.known() - log.end() > MAX_BEHIND) await skipToEnd()
        if (log.end() === before) break
      }
    } finally {
      fetching = false
    }
    clearTimeout(timer)
    if (isSilent) timer = setTimeout(() => void catchUp(), isThere ? AGAIN_MS : LATER_MS)
    // if nothing answers, the next refresh tries again
    if (isSilent || !isThere) return
    if (log.end() < knownStreamEnd) timer = setTimeout(() => void catchUp(), AGAIN_MS)
    else if (log.end() < log.known()) timer = setTimeout(gapDetected, AGAIN_MS)
  }

  /** If a part did not reach the end, only the end matters. */
  async function skipToEnd(): Promise<void> {
    const part = await fetchEnd(url, END_BYTES)
    if (part === null || part.from <= log.end()) return
    const { start, isMidLine } = beginningOf(part.bytes)
    const between = await countLineEnds(url, log.end(), part.from + start)
    lineEnds = lineEnds === null || between === null ? null : lineEnds + between
    log.skipTo(part.from + start)
    // the last line shown may be incomplete
    waiting = [{ text: isMidLine ? CUT : `${CUT}\n`, isError: false }]
    waiting.push({ text: '', isError: false, line: lineEnds === null ? null : lineEnds + 1 })
    showLeftOut()
    take(log.bytes(part.from, part.bytes))
  }

  function showLeftOut(): void {
    section.querySelector('.left-out')?.removeAttribute('hidden')
  }

  return {
    section,
    artifact,
    piece(piece) {
      take(log.piece(piece))
      if (piece.offset > log.end()) return gapDetected()
      knownStreamEnd = Math.max(knownStreamEnd, log.known())
      if (log.end() < knownStreamEnd) void catchUp()
    },
    silent() {
      isSilent = !isFinished
      void catchUp()
    },
    sync(next) {
      for (const part of ['.pane-log', 'summary']) {
        const [shown, newer] = [section, next].map((each) => each.querySelector(part))
        if (shown && newer && shown.innerHTML !== newer.innerHTML)
          shown.replaceChildren(...document.importNode(newer, true).childNodes)
      }
      const newer = logOf(next)
      isFinished ||= newer.isFinished
      isSilent = !isFinished && (isSilent || newer.isSilent)
      const ranges: ByteRange[] = readRanges(newer.stderr)
      knownStreamEnd = Math.max(knownStreamEnd, newer.to)
      log.learn(knownStreamEnd, ranges)
      if (log.end() < log.known() || isSilent) void catchUp()
    },
    render(maxLines) {
      let room = FRAME_CHARACTERS
      const now: NumberedText[] = []
      while (room > 0 && waiting.length > 0) {
        const { text, ...facts } = waiting[0]!
        now.push({ ...facts, text: text.slice(0, room) })
        if (text.length > room) waiting[0] = { text: text.slice(room), isError: facts.isError }
        else waiting.shift()
        room -= text.length
      }
      if (now.length > 0 && lines.add(now, maxLines) > 0) showLeftOut()
      return waiting.length > 0
    },
    lines: () => lines.count() || pre.childElementCount,
    drop(count) {
      if (lines.count() > 0) lines.drop(count)
      else for (let left = count; left > 0; left--) pre.firstElementChild?.remove()
      showLeftOut()
    },
  }
}

interface LogPart {
  from: number
  bytes: Uint8Array
  /** Of the whole log. */
  size: number
}

/** The bytes from `from` on, at most `length`; null if the service does not answer, or has no such log. */
function fetchPart(url: string, from: number, length: number): Promise<LogPart | null> {
  return fetchRange(url, `bytes=${from}-${from + length - 1}`)
}

function fetchEnd(url: string, length: number): Promise<LogPart | null> {
  return fetchRange(url, `bytes=-${length}`)
}

const COUNT_BYTES = 4 * 1024 * 1024

/** The line ends in a part of a log that the page does not show; null if it can't be fetched. */
async function countLineEnds(url: string, from: number, to: number): Promise<number | null> {
  let count = 0
  for (let at = from; at < to; ) {
    const part = await fetchPart(url, at, Math.min(COUNT_BYTES, to - at))
    if (part === null || part.bytes.length === 0) return null
    for (const byte of part.bytes) if (byte === 0x0a) count += 1
    at += part.bytes.length
  }
  return count
}

function lineEndsIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

async function fetchRange(url: string, range: string): Promise<LogPart | null> {
  try {
    const response = await fetch(url, { headers: { range }, cache: 'no-store' })
    const [, from, size] =
      /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
    if (response.status === 416) return { from: 0, bytes: new Uint8Array(), size: Number(size) }
    if (response.status !== 206) return null
    const bytes = new Uint8Array(await response.arrayBuffer())
    return { from: Number(from), bytes, size: Number(size) }
  } catch {
    return null // the live connection is cut too, and shows that
  }
}
