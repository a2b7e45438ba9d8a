import { wrapped } from '../output/wrapped.ts'

/** Wider lines are hard to read. */
const MOST_COLUMNS = 100

/** Breaks lines between words, on a terminal; what goes on begins below the text of a list item. */
export function brokenLines(text: string, width: number): string {
  if (!Number.isFinite(width)) return text
  const columns = Math.min(width, MOST_COLUMNS)
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ *(?:\d+\. )?(?:[●○] )?/.exec(line)![0]
      return wrapped(line, columns, ' '.repeat(mark.length))
    })
    .join('\n')
}
