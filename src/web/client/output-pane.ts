import { type ByteRange, readRanges } from '../../rendering/live-log/byte-ranges.ts'
import { beginningOf, CUT } from '../../rendering/live-log/cut-line.ts'
import {
  createOutputLog,
  type LivePiece,
  type LogText,
} from '../../rendering/live-log/output-log.ts'
import { logEnd, logPart } from './output-fetch.ts'
import { outputLines } from './output-lines.ts'

/** The output of one step. */
export interface OutputPane {
  section: HTMLElement
  artifact: string
  piece(piece: LivePiece): void
  /** No more is told live of this step: from now on its log is looked at each second. */
  silent(): void
  /** How the log stands in a newer page. */
  learn(next: HTMLElement): void
  /** Shows what has come, as much as one frame has room for; true when there is more. */
  paint(maxLines: number): boolean
  lines(): number
  drop(count: number): void
}

/** What a frame shows of what waits: more would be seen by nobody, and hold the page up. */
const FRAME_CHARACTERS = 32 * 1024
/** A page that is further behind leaves out what is between: the whole log is one click away. */
const MAX_BEHIND = 512 * 1024
const END_BYTES = 128 * 1024
const AGAIN_MS = 1000
/** Where nothing answers. */
const LATER_MS = 2000

interface PaneEvents {
  /** There is something to paint. */
  changed(): void
  /** Pieces were missed: how the log stands is to be asked. */
  missed(): void
}

export function outputPane(
  section: HTMLElement,
  base: string,
  { changed, missed }: PaneEvents,
): OutputPane {
  const { artifact = '', from, to, stderr = '' } = section.dataset
  const address = base + artifact
  const log = createOutputLog(Number(from))
  const pre = section.querySelector<HTMLElement>('.lines')!
  let isFinished = section.hasAttribute('data-finished')
  let isSilent = !isFinished && section.hasAttribute('data-silent')
  /** So far it is known of which stream each byte is: further ones are not fetched yet. */
  let sure = Number(to)
  let fetching = false
  let waiting: LogText[] = []
  let timer: number | undefined
  const shown = outputLines(pre)
  if (isFinished && pre.childElementCount > 0) log.skipTo(Number(to))
  else {
    // what the page came with is read again, so that colours and the last line go on as they were
    pre.replaceChildren()
    if (section.hasAttribute('data-mid-line')) take([{ text: CUT, isError: false }])
    log.learn(Number(to), readRanges(stderr))
    void catchUp()
  }

  function take(texts: LogText[]): void {
    if (texts.length === 0) return
    waiting.push(...texts)
    changed()
  }

  /** Fetches until the page has all that the log is known to have. */
  async function catchUp(): Promise<void> {
    if (fetching || artifact === '' || !section.isConnected) return
    fetching = true
    let isThere = true
    try {
      while (log.end() < sure || isSilent) {
        const before = log.end()
        const length = isSilent ? MAX_BEHIND : Math.min(MAX_BEHIND, sure - before)
        // with a byte that is there already: the bytes behind the end are an error
        const from = Math.max(0, before - 1)
        const part = await logPart(address, from, before - from + length)
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
    // where nothing answers, the next page that is fetched asks again
    if (isSilent || !isThere) return
    if (log.end() < sure) timer = setTimeout(() => void catchUp(), AGAIN_MS)
    else if (log.end() < log.known()) timer = setTimeout(missed, AGAIN_MS)
  }

  /** Where a part did not reach the end, only the end is of interest. */
  async function skipToEnd(): Promise<void> {
    const part = await logEnd(address, END_BYTES)
    if (part === null || part.from <= log.end()) return
    const { start, isMidLine } = beginningOf(part.bytes)
    log.skipTo(part.from + start)
    // what was shown last need not have come to the end of its line
    waiting = [{ text: isMidLine ? CUT : `${CUT}\n`, isError: false }]
    sayLeftOut()
    take(log.bytes(part.from, part.bytes))
  }

  function sayLeftOut(): void {
    section.querySelector('.left-out')?.removeAttribute('hidden')
  }

  return {
    section,
    artifact,
    piece(piece) {
      take(log.piece(piece))
      if (piece.offset > log.end()) return missed()
      sure = Math.max(sure, log.known())
      if (log.end() < sure) void catchUp()
    },
    silent() {
      isSilent = !isFinished
      void catchUp()
    },
    learn(next) {
      const header = next.querySelector(':scope > header')
      if (header) section.querySelector(':scope > header')?.replaceWith(header.cloneNode(true))
      if (next.hasAttribute('data-finished')) {
        section.setAttribute('data-finished', '')
        isFinished = true
      }
      isSilent = !isFinished && (isSilent || next.hasAttribute('data-silent'))
      const ranges: ByteRange[] = readRanges(next.dataset.stderr ?? '')
      sure = Math.max(sure, Number(next.dataset.to))
      log.learn(sure, ranges)
      if (log.end() < log.known() || isSilent) void catchUp()
    },
    paint(maxLines) {
      let room = FRAME_CHARACTERS
      const now: LogText[] = []
      while (room > 0 && waiting.length > 0) {
        const { text, isError } = waiting[0]!
        now.push({ text: text.slice(0, room), isError })
        if (text.length > room) waiting[0] = { text: text.slice(room), isError }
        else waiting.shift()
        room -= text.length
      }
      if (now.length > 0 && shown.add(now, maxLines) > 0) sayLeftOut()
      return waiting.length > 0
    },
    lines: () => shown.count() || pre.childElementCount,
    drop(count) {
      if (shown.count() > 0) shown.drop(count)
      else for (let left = count; left > 0; left--) pre.firstElementChild?.remove()
      sayLeftOut()
    },
  }
}
