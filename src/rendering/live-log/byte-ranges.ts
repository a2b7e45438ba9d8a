/** Bytes from `from` up to but excluding `to`. */
export interface ByteRange {
  from: number
  to: number
}

/** Ranges beyond these are dropped: they only colour standard error. */
const MAX_RANGES = 2000

/** Pure. Adds a range to sorted ranges, and joins those that touch. */
export function withRange(ranges: readonly ByteRange[], range: ByteRange): readonly ByteRange[] {
  if (range.to <= range.from) return ranges
  const last = ranges.at(-1)
  if (!last || range.from > last.to) {
    return ranges.length < MAX_RANGES ? [...ranges, range] : ranges
  }
  if (range.from >= last.from) {
    if (range.to <= last.to) return ranges
    return [...ranges.slice(0, -1), { from: last.from, to: range.to }]
  }
  const apart = ranges.filter(({ from, to }) => to < range.from || from > range.to)
  const touching = ranges.filter((each) => !apart.includes(each))
  const from = Math.min(range.from, ...touching.map((each) => each.from))
  const to = Math.max(range.to, ...touching.map((each) => each.to))
  return [...apart, { from, to }].sort((a, b) => a.from - b.from).slice(0, MAX_RANGES)
}

/** Pure. Splits `whole` into pieces that are inside or outside of the ranges. */
export function splitBy(
  ranges: readonly ByteRange[],
  range: ByteRange,
): (ByteRange & { inside: boolean })[] {
  const pieces: (ByteRange & { inside: boolean })[] = []
  let at = range.from
  const cut = (to: number, inside: boolean) => {
    if (to > at) pieces.push({ from: at, to, inside })
    at = Math.max(at, to)
  }
  for (const { from, to } of ranges) {
    if (to <= at) continue
    if (from >= range.to) break
    cut(Math.min(from, range.to), false)
    cut(Math.min(to, range.to), true)
  }
  cut(range.to, false)
  return pieces
}

/** Pure. The least number of bytes that a text was decoded from: a U+FFFD may replace a single byte. */
export function leastBytes(text: string): number {
  return ENCODER.encode(text.replaceAll('\ufffd', '?')).length
}

const ENCODER = new TextEncoder()

/** Pure. Writes ranges as `0-12 40-52`. */
export function rangesText(ranges: readonly ByteRange[]): string {
  return ranges.map(({ from, to }) => `${from}-${to}`).join(' ')
}

/** Pure. Reads the format of `rangesText`. */
export function readRanges(text: string): ByteRange[] {
  return [...text.matchAll(/(?<!\d)(\d+)-(\d+)/g)].map(([, from, to]) => ({
    from: Number(from),
    to: Number(to),
  }))
}
