/** The part of a file that a request asks for: both ends count in. */
export interface ByteRange {
  first: number
  last: number
}

const SINGLE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/i

/**
 * What a `Range` means for a file of `size` bytes (RFC 9110 §14): `null` where it asks for the whole, as
 * does one that is of another kind, malformed, or of several parts; `none` where nothing of it is there.
 * Of a longer part than `most` bytes it gives the beginning, of the end of a file the end.
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
