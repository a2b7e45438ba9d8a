/** Bytes from `from` up to, and without, `to`. */
export interface ByteRange {
  from: number
  to: number
}

/** More of them are not kept: what they would have said is for comfort. */
const MAX_RANGES = 2000

/** Pure. Sorted ranges with one more in them, touching ones made one. */
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

/** Pure. `whole` in pieces, each said to lie in the ranges or outside of them. */
export function splitBy(
  ranges: readonly ByteRange[],
  whole: ByteRange,
): (ByteRange & { inside: boolean })[] {
  const pieces: (ByteRange & { inside: boolean })[] = []
  let at = whole.from
  const cut = (to: number, inside: boolean) => {
    if (to > at) pieces.push({ from: at, to, inside })
    at = Math.max(at, to)
  }
  for (const { from, to } of ranges) {
    if (to <= at) continue
    if (from >= whole.to) break
    cut(Math.min(from, whole.to), false)
    cut(Math.min(to, whole.to), true)
  }
  cut(whole.to, false)
  return pieces
}

/** Pure. How many bytes a text was at least: a U+FFFD in it may stand for one, or be itself. */
export function leastBytes(text: string): number {
  return ENCODER.encode(text.replaceAll('\ufffd', '?')).length
}

const ENCODER = new TextEncoder()

/** Pure. As `0-12 40-52`. */
export function rangesText(ranges: readonly ByteRange[]): string {
  return ranges.map(({ from, to }) => `${from}-${to}`).join(' ')
}

/** Pure. What `rangesText` wrote. */
export function readRanges(text: string): ByteRange[] {
  return [...text.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => ({
    from: Number(from),
    to: Number(to),
  }))
}
