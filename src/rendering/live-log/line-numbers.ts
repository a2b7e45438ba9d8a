import type { AnsiLine } from '../ansi/lines.ts'

export interface LineNumbers {
  /** The number of a finished line; null if it continues the one before, or if the numbers are not known. */
  next(line: AnsiLine): number | null
  /** The number of the line that `next` would be asked for. */
  peek(): number | null
  /** From now on the line that is being read has this number. */
  restart(number: number | null): void
}

/** Numbers lines as an editor does: a line that is too long and was split has one number. */
export function numberLines(first: number | null): LineNumbers {
  let number = first
  let isContinued = false
  const peek = () => (isContinued ? null : number)
  return {
    peek,
    next({ wrapped }) {
      const own = peek()
      isContinued = wrapped
      if (!wrapped && number !== null) number += 1
      return own
    },
    restart(next) {
      number = next
    },
  }
}
