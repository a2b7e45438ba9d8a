import { type ByteRange, leastBytes, splitBy, withRange } from './byte-ranges.ts'

/** Text of a log in its order, and where it came from. */
export interface LogText {
  text: string
  isError: boolean
}

/** A piece of a log as it is told live. */
export interface LivePiece {
  offset: number
  text: string
  isError: boolean
}

/**
 * How much of a growing log a page has, so that nothing of it is shown twice or left out, whichever way
 * it comes: told live, or fetched as bytes. Pure: it knows no page and no network.
 */
export interface OutputLog {
  /** How many bytes of the log are taken. */
  end(): number
  /** How many there are at least. More than `end`: the bytes between are to be fetched. */
  known(): number
  /** What of a live piece is new; nothing where bytes before it are missing, which `known` tells then. */
  piece(piece: LivePiece): LogText[]
  /** What of fetched bytes, which begin at `from`, is new. */
  bytes(from: number, bytes: Uint8Array): LogText[]
  /** The log has that many bytes, and these of them came from standard error. */
  learn(size: number, stderr: readonly ByteRange[]): void
  /** Leaves out what comes before `from`. */
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
    const whole = { from: end, to: end + fresh.length }
    end = whole.to
    known = Math.max(known, end)
    return splitBy(stderr, whole).flatMap(({ from, to, inside }) => {
      const part = fresh.subarray(from - whole.from, to - whole.from)
      // a character that is cut goes on in its own stream
      const text = decoders[inside ? 'stderr' : 'stdout'].decode(part, { stream: true })
      return text === '' ? [] : [{ text, isError: inside }]
    })
  }

  return {
    end: () => end,
    known: () => known,
    piece({ offset, text, isError }) {
      // where a text with U+FFFD ends is not known from the text
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
