/** Pure. Where the next line begins that starts so, from `at` on; the length of the text if none does. */
export function lineFrom(text: string, at: number, start: string): number {
  if (at === 0 && text.startsWith(start)) return 0
  const found = text.indexOf(`\n${start}`, Math.max(0, at - 1))
  return found < 0 ? text.length : found + 1
}

/** Pure. Where the line after the one at `at` begins. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

/** Pure. How many lines of hunks stand from `at` on, without making a string of each: there may be millions. */
export function signsFrom(
  text: string,
  at: number,
): { lines: number; additions: number; deletions: number } {
  const signs = { lines: 0, additions: 0, deletions: 0 }
  for (let line = at; line < text.length; line = nextLine(text, line)) {
    const sign = text[line]
    if (sign === '+') signs.additions++
    if (sign === '-') signs.deletions++
    if (sign === '+' || sign === '-' || sign === ' ') signs.lines++
  }
  return signs
}
