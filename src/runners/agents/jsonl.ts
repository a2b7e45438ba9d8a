/** One message may contain a whole file. A longer line is not a message. */
export const MAX_LINE_MIB = 8
const LF = 0x0a

export interface LineSink {
  line(text: string): void
  /** Called as soon as a line is known to be too long; the line is discarded. */
  dropped(): void
}

export interface Lines {
  write(bytes: Buffer): void
  /** Ends the input: text after the last line ending is a line, too. */
  end(): void
}

/** Splits chunks of bytes into lines of text, without LF or CRLF. */
export function createLines(sink: LineSink, maxBytes = MAX_LINE_MIB * 1024 * 1024): Lines {
  let parts: Buffer[] = []
  let size = 0
  let tooLong = false

  function keep(part: Buffer): void {
    size += part.length
    if (tooLong) return
    tooLong = size > maxBytes
    if (!tooLong && part.length > 0) parts.push(part)
    if (!tooLong) return
    parts = []
    sink.dropped()
  }

  function finish(): void {
    const text = tooLong ? null : Buffer.concat(parts).toString('utf8')
    parts = []
    size = 0
    tooLong = false
    if (text !== null) sink.line(text.endsWith('\r') ? text.slice(0, -1) : text)
  }

  return {
    write(bytes) {
      let start = 0
      for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
        keep(bytes.subarray(start, end))
        finish()
        start = end + 1
      }
      keep(bytes.subarray(start))
    },
    end() {
      if (size > 0) finish()
    },
  }
}
