import { elapsed } from '../../model/amounts.ts'
import { cutTo } from '../output/screen-width.ts'
import type { Terminal } from '../output/terminal.ts'

/** A line below all others that shows the current activity. Does nothing without a terminal. */
export interface ProgressLine {
  /** Sets the text; the clock starts again or continues. */
  show(text: string, from?: number): void
  /** Hides the line while `print` runs. */
  around(print: () => void): void
  end(): void
}

const CLEAR = '\r\u001b[K'

export function progressLine(terminal: Terminal): ProgressLine {
  if (!terminal.hasProgress) return { show() {}, around: (print) => print(), end() {} }
  let text = ''
  let since = 0
  let isShown = false
  const write = (what: string) => void process.stderr.write(what)
  const draw = () => {
    if (text === '') return
    const width = process.stderr.columns || 80
    write(
      `${CLEAR}${terminal.color.dim(cutTo(`${text}  ${elapsed(Date.now() - since)}`, width - 1))}`,
    )
    isShown = true
  }
  const clear = () => {
    if (isShown) write(CLEAR)
    isShown = false
  }
  const timer = setInterval(draw, 1000).unref()
  return {
    show(wanted, from = Date.now()) {
      text = wanted
      since = from
      if (text === '') clear()
      draw()
    },
    around(print) {
      clear()
      print()
      draw()
    },
    end() {
      clearInterval(timer)
      text = ''
      clear()
    },
  }
}
