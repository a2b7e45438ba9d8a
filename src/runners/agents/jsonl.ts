/** One message of an agent may hold a whole file; what is longer is none. */
export const MAX_LINE_MIB = 8
const LF = 0x0a

export interface LineSink {
  line(text: string): void
  /** A line is too long: none of it is kept, and this is told as soon as it is known. */
  dropped(): void
}

export interface Lines {
  write(bytes: Buffer): void
  /** What stands behind the last line ending is a line too. */
  end(): void
}

/** Cuts bytes, however they are chunked, into lines of text without LF or CRLF. */
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
