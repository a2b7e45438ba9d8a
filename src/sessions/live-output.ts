import { StringDecoder } from 'node:string_decoder'

const MAX_EVENT_CHARACTERS = 16 * 1024
const MAX_STEP_BYTES = 1024 * 1024

/** Turns a step's bytes into text for the stream, whole characters only. */
export interface LiveOutput {
  /** The text of these bytes. */
  write(stream: 'stdout' | 'stderr', bytes: Buffer): string
  /** The text of what was still incomplete. */
  end(): string
}

/**
 * Publishes a step's output as it comes, in pieces of at most 16 Ki characters. Past 1 MiB one line
 * says where the rest is: a watcher is never flooded, and artifacts keep it all.
 */
export function createLiveOutput(
  publish: (stream: 'stdout' | 'stderr', text: string) => void,
  whole: string,
): LiveOutput {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
  let bytes = 0
  let silent = false

  function send(stream: 'stdout' | 'stderr', text: string): void {
    if (silent || text === '') return
    for (let from = 0; from < text.length; ) {
      let to = Math.min(from + MAX_EVENT_CHARACTERS, text.length)
      if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1]!)) to--
      publish(stream, text.slice(from, to))
      from = to
    }
    if (bytes <= MAX_STEP_BYTES) return
    silent = true
    publish(stream, `\n[casefile: live output stops here at 1 MiB; the whole is in ${whole}]\n`)
  }

  return {
    write(stream, chunk) {
      bytes += chunk.length
      const text = decoders[stream].write(chunk)
      send(stream, text)
      return text
    },
    end() {
      const rest = decoders.stdout.end() + decoders.stderr.end()
      send('stdout', rest)
      return rest
    },
  }
}
