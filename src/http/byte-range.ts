/** A part of a file, from the first to the last byte. */
export interface ByteRange {
  first: number
  last: number
}

const SINGLE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/i

/**
 * The requested range of a file with `size` bytes (RFC 9110 §14). `null` is the whole file: the field is missing,
 * malformed, of another unit, or has several ranges. `none`: the file has no such bytes. A range over `most` bytes is
 * shortened: `bytes=-n` at its beginning, any other at its end.
 */
export function byteRange(
  field: string | undefined,
  size: number,
  most: number,
): ByteRange | 'none' | null {
  const [, from, to, suffix] = SINGLE.exec(field?.trim() ?? '') ?? []
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size, most)
    return length === 0 ? 'none' : { first: size - length, last: size - 1 }
  }
  if (from === undefined) return null
  const first = Number(from)
  const last = to === undefined ? size - 1 : Number(to)
  if (to !== undefined && last < first) return null
  return first >= size ? 'none' : { first, last: Math.min(last, size - 1, first + most - 1) }
}
