import { type AnsiLine, createAnsiReader, lineText } from '../../../rendering/ansi/lines.ts'
import { lookOf } from '../../../rendering/ansi/look.ts'
import { looksLikeError } from '../../../rendering/live-log/error-text.ts'
import { numberLines } from '../../../rendering/live-log/line-numbers.ts'
import type { LogText } from '../../../rendering/live-log/output-log.ts'

/** Text of a log. `line` is given where the numbers of the lines jump: null if they are not known from here on. */
export interface NumberedText extends LogText {
  line?: number | null
}

/** Lines of output in a `<pre>`, the last of which may still grow. */
interface OutputLines {
  /** Adds text, and keeps at most `max` lines; returns how many were removed. */
  add(texts: readonly NumberedText[], max: number): number
  /** Removes the first lines. */
  drop(count: number): void
  count(): number
}

/** Lines come in blocks, so that the browser lays out only the block that changes. */
const BLOCK_LINES = 250

/** `prefix` begins the ids of the lines, `first` is the number of the first one. */
export function outputLines(
  pre: HTMLElement,
  { prefix, first }: { prefix: string; first: number | null },
): OutputLines {
  const reader = createAnsiReader()
  const numbers = numberLines(first)
  let open: HTMLElement | null = null
  let isError = false
  let count = 0

  function drop(lineCount: number): void {
    let left = lineCount
    while (left > 0 && pre.firstElementChild) {
      const block = pre.firstElementChild
      if (!(block instanceof HTMLDivElement)) {
        block.remove() // a line that the page came with
        left--
        continue
      }
      const isWholeBlock = block.childElementCount <= left
      const gone = isWholeBlock ? block.childElementCount : left
      if (isWholeBlock) block.remove()
      else for (let each = 0; each < gone; each++) block.firstElementChild!.remove()
      left -= gone
      count -= gone
    }
    if (open && !open.isConnected) open = null
  }

  function append(line: HTMLElement): void {
    const last = pre.lastElementChild
    const isRoomy = last instanceof HTMLDivElement && last.childElementCount < BLOCK_LINES
    if (isRoomy) last.append(line)
    else {
      const block = document.createElement('div')
      block.append(line)
      pre.append(block)
    }
    count++
  }

  return {
    count: () => count,
    drop,
    add(texts, max) {
      const made: ShownLine[] = []
      for (const part of texts) {
        if (part.line !== undefined) numbers.restart(part.line)
        isError ||= part.isError
        for (const line of reader.write(part.text, part.isError ? 'stderr' : 'stdout')) {
          made.push({ line, isError, number: numbers.next(line) })
          isError = part.isError
        }
        if (reader.open() === null) isError = false
      }
      if (open) {
        open.remove()
        count--
      }
      const left = Math.max(0, made.length - max)
      for (const each of made.slice(left)) append(element(each, prefix))
      const rest = reader.open()
      open = rest
        ? element({ line: rest, isError, number: numbers.peek(), isOpen: true }, prefix)
        : null
      if (open) append(open)
      const over = Math.max(0, count - max)
      drop(over)
      return left + over
    },
  }
}

interface ShownLine {
  line: AnsiLine
  isError: boolean
  number: number | null
  /** It may still grow. */
  isOpen?: boolean
}

function element(shown: ShownLine, prefix: string): HTMLElement {
  const { isError, number, isOpen = false } = shown
  const { runs, wrapped } = shown.line
  const line = document.createElement('span')
  line.className = isError ? 'line error' : 'line'
  if (looksLikeError(lineText(shown.line))) line.classList.add('suspect')
  if (number !== null) {
    line.id = `L${prefix}${number}`
    line.dataset.line = String(number)
  }
  for (const { text, style } of runs) {
    const { classes, color, background } = lookOf(style)
    if (classes.length === 0 && color === undefined && background === undefined) {
      line.append(text)
      continue
    }
    const run = document.createElement('span')
    run.className = classes.join(' ')
    if (color !== undefined) run.style.color = color
    if (background !== undefined) run.style.background = background
    run.textContent = text
    line.append(run)
  }
  if (!wrapped && !isOpen) line.append('\n')
  return line
}
