/** Some grammars take quadratic time on long lines without blanks. */
const MAX_LINE = 1000

/** Pure. Whether a source is small enough to be highlighted. */
export function isHighlightable(
  source: string,
  { characters = 256 * 1024, lines = 5000 }: { characters?: number; lines?: number } = {},
): boolean {
  if (source.length > characters) return false
  let count = 1
  let from = 0
  for (let end = source.indexOf('\n'); end >= 0; end = source.indexOf('\n', from)) {
    if (end - from > MAX_LINE) return false
    from = end + 1
    count++
  }
  return source.length - from <= MAX_LINE && count <= lines
}
