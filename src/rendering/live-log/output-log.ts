import { type ByteRange, leastBytes, splitBy, withRange } from './byte-ranges.ts'

/** A part of a log’s text, in order; `isError` if it came from standard error. */
export interface LogText {
  text: string
  isError: boolean
}

/** A piece of a log from the event stream. */
export interface LivePiece {
  offset: number
  text: string
  isError: boolean
}

/**
 * Combines live pieces and fetched bytes of a growing log, so that a page shows every byte exactly once. Pure: it
 * knows no page and no network.
 */
export interface OutputLog {
  /** How many bytes of the log have been taken. */
  end(): number
  /** The least size of the log that is known. If it is more than `end`, fetch the bytes between. */
  known(): number
  /** The new part of a live piece; empty if bytes before it are missing, and `known` is then more than `end`. */
  piece(piece: LivePiece): LogText[]
  /** The new part of fetched bytes, which begin at `from`. */
  bytes(from: number, bytes: Uint8Array): LogText[]
  /** Sets the size of the log, and which of its bytes came from standard error. */
  learn(size: number, stderr: readonly ByteRange[]): void
  /** Skips everything before `from`. */
  skipTo(from: number): void
}

export function createOutputLog(from: number): OutputLog {
  let end = from
  let known = from
  let stderr: readonly ByteRange[] = []
  let decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const encoder = new TextEncoder()

  function take(start: number, bytes: Uint8Array): LogText[] {
    const fresh = bytes.subarray(Math.max(0, end - start))
    if (start > end || fresh.length === 0) return []
    const range = { from: end, to: end + fresh.length }
    end = range.to
    known = Math.max(known, end)
    return splitBy(stderr, range).flatMap(({ from, to, inside }) => {
      const part = fresh.subarray(from - range.from, to - range.from)
      // a character cut at the end continues in the next part of the same stream
      const text = decoders[inside ? 'stderr' : 'stdout'].decode(part, { stream: true })
      return text === '' ? [] : [{ text, isError: inside }]
    })
  }

  return {
    end: () => end,
    known: () => known,
    piece({ offset, text, isError }) {
      // a U+FFFD may replace any number of bytes, so the end of such a piece is unknown
      const isExact = !text.includes('\ufffd')
      const to = offset + leastBytes(text)
      known = Math.max(known, to)
      if (isError) stderr = withRange(stderr, { from: offset, to })
      return isExact ? take(offset, encoder.encode(text)) : []
    },
    bytes: take,
    learn(size, ranges) {
      known = Math.max(known, size)
      for (const range of ranges) stderr = withRange(stderr, range)
    },
    skipTo(from) {
      if (from <= end) return
      end = from
      known = Math.max(known, from)
      decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
    },
  }
}
