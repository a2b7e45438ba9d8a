/** A piece is never longer; a character of one or more bytes is never cut. */
const MAX_PIECE_BYTES = 16 * 1024
const MAX_STEP_BYTES = 1024 * 1024

type Stream = 'stdout' | 'stderr'

/** Turns a step's bytes into text for the stream, whole characters only. */
export interface LiveOutput {
  /** The end of the text of these bytes: all that is published, and one piece at the least. */
  write(stream: Stream, bytes: Buffer): string
  /** The text of what was still incomplete. */
  end(): string
}

/**
 * `offset`: how many bytes of the step were told before, of both streams, which is where the piece
 * begins in a file that gets the same bytes. Where one stream breaks off within a character and the
 * other goes on, the file has those bytes, three at most, somewhat earlier. Null for words of the
 * service's own.
 */
export type PublishPiece = (stream: Stream, text: string, offset: number | null) => void

/**
 * Publishes a step's output as it comes, in pieces of at most 16 KiB. Past 1 MiB one line says where
 * the rest is: a watcher is never flooded, and artifacts keep it all.
 */
export function createLiveOutput(publish: PublishPiece, whole: string): LiveOutput {
  const begun: Record<Stream, Buffer> = { stdout: NO_BYTES, stderr: NO_BYTES }
  let sent = 0
  let silent = false

  function tell(stream: Stream, bytes: Buffer): string {
    const text = bytes.toString('utf8')
    if (!silent && text !== '') publish(stream, text, sent)
    sent += bytes.length
    return text
  }

  function stopAtLimit(stream: Stream): void {
    if (silent || sent <= MAX_STEP_BYTES) return
    silent = true
    publish(
      stream,
      `\n[casefile: live output stops here at 1 MiB; the whole is in ${whole}]\n`,
      null,
    )
  }

  return {
    write(stream, chunk) {
      const bytes = begun[stream].length > 0 ? Buffer.concat([begun[stream], chunk]) : chunk
      const end = wholeCharacters(bytes)
      begun[stream] = Buffer.from(bytes.subarray(end)) // a copy, for what came may be much larger
      let text = ''
      for (let from = 0; from < end; ) {
        const rest = bytes.subarray(from, end)
        // nobody is told of it any more, so that none of it need be read but its end
        const skipped = silent ? wholeCharacters(rest.subarray(0, -MAX_PIECE_BYTES)) : 0
        if (skipped > 0) {
          sent += skipped
          from += skipped
          continue
        }
        const size =
          rest.length <= MAX_PIECE_BYTES
            ? rest.length
            : wholeCharacters(rest.subarray(0, MAX_PIECE_BYTES))
        text += tell(stream, rest.subarray(0, size))
        from += size
      }
      stopAtLimit(stream)
      return text
    },
    end() {
      const rest = tell('stdout', begun.stdout) + tell('stderr', begun.stderr)
      begun.stdout = begun.stderr = NO_BYTES
      return rest
    },
  }
}

const NO_BYTES = Buffer.alloc(0)

/** The length without a last character of UTF-8 that has only begun. */
function wholeCharacters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= 0 && at >= bytes.length - 3; at--) {
    const byte = bytes[at]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const width = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf8 ? 4 : 1
    return at + width > bytes.length ? at : bytes.length
  }
  return bytes.length
}
