/** The size limit of a published piece. A piece never ends inside a character. */
const MAX_PIECE_BYTES = 16 * 1024
const MAX_STEP_BYTES = 1024 * 1024

type Stream = 'stdout' | 'stderr'

/** Decodes a step's output for live subscribers, in whole characters. */
export interface LiveOutput {
  /** Publishes the bytes and returns their text. Past the limit it returns only the end, at least one piece. */
  write(stream: Stream, bytes: Buffer): string
  /** Publishes and returns any incomplete characters at the end of the output. */
  end(): string
}

/**
 * `offset` is the number of bytes of both streams published before, which is the piece's position in the log
 * artifact. If one stream pauses inside a character while the other continues, the log has up to three bytes
 * earlier. Null for the service's own messages.
 */
export type PublishPiece = (stream: Stream, text: string, offset: number | null) => void

/**
 * Publishes a step's output as it arrives, in pieces of at most 16 KiB. After 1 MiB it publishes one line that says
 * where the rest is, so that clients are not flooded; artifacts have everything.
 */
export function createLiveOutput(publish: PublishPiece, whole: string): LiveOutput {
  const incomplete: Record<Stream, Buffer> = { stdout: NO_BYTES, stderr: NO_BYTES }
  let sent = 0
  let silent = false

  function publishBytes(stream: Stream, bytes: Buffer): string {
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
      `\n[casefile: live output stops here at 1 MiB; the full output is in ${whole}]\n`,
      null,
    )
  }

  return {
    write(stream, chunk) {
      const bytes =
        incomplete[stream].length > 0 ? Buffer.concat([incomplete[stream], chunk]) : chunk
      const end = wholeCharacters(bytes)
      incomplete[stream] = Buffer.from(bytes.subarray(end)) // a copy, so that the large chunk can be freed
      let text = ''
      for (let from = 0; from < end; ) {
        const rest = bytes.subarray(from, end)
        // past the limit nothing is published, so only the end needs to be decoded
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
        text += publishBytes(stream, rest.subarray(0, size))
        from += size
      }
      stopAtLimit(stream)
      return text
    },
    end() {
      const rest =
        publishBytes('stdout', incomplete.stdout) + publishBytes('stderr', incomplete.stderr)
      incomplete.stdout = incomplete.stderr = NO_BYTES
      return rest
    },
  }
}

const NO_BYTES = Buffer.alloc(0)

/** The length without an incomplete UTF-8 character at the end. */
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
