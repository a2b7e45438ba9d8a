export interface EscapeSink {
  /** Receives text without control characters. */
  text(text: string): void
  /** Receives a C0 control character other than ESC, or DEL. */
  control(character: string): void
  /**
   * Receives a whole control sequence: `31;1` and `m` for `ESC [ 31;1 m`. Sequences with intermediates are dropped.
   */
  sequence(parameters: string, final: string): void
}

type State = 'text' | 'escape' | 'intermediate' | 'csi' | 'string'

const TEXT = /[^\0-\x1f\x7f-\x9f]+/y
const STRING_END = /[\x07\n\r\x18\x1a\x1b\x9c]/g
const MAX_PARAMETERS = 256

/**
 * Pure. Parses terminal output that comes in chunks of any size, and passes the parts to the sink. Only text, control
 * characters and control sequences pass; OSC, DCS, APC, PM, SOS, character sets and C1 are dropped. A string sequence
 * without an end stops at the end of its line, so that it cannot hide the rest of the output.
 */
export function createEscapeReader(sink: EscapeSink): (chunk: string) => void {
  let state: State = 'text'
  let parameters = ''
  let understood = true

  const begin = (next: State) => {
    state = next
    parameters = ''
    understood = true
  }

  /** Each reads one character, and returns whether it has consumed it. */
  const steps: Record<Exclude<State, 'string'>, (character: string, code: number) => boolean> = {
    text(character, code) {
      if (code === 0x1b) begin('escape')
      else if (code === 0x9b) begin('csi')
      else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) begin('string')
      else if (code < 0x80) sink.control(character)
      return true
    },
    escape(character, code) {
      if (code === 0x1b) return true
      if (character === '[') begin('csi')
      else if (']PX^_'.includes(character)) begin('string')
      else if (code >= 0x20 && code < 0x30) begin('intermediate')
      else begin('text')
      return code >= 0x20 && code < 0x7f
    },
    intermediate(_, code) {
      if (code < 0x20 || code >= 0x30) begin('text')
      return code >= 0x20 && code < 0x7f
    },
    csi(character, code) {
      if (code >= 0x30 && code < 0x40 && parameters.length < MAX_PARAMETERS) parameters += character
      else if (code >= 0x20 && code < 0x40) understood = false
      else {
        if (code >= 0x40 && code < 0x7f && understood) sink.sequence(parameters, character)
        begin('text')
        return code >= 0x40 && code < 0x7f
      }
      return true
    },
  }

  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (state === 'string') {
        STRING_END.lastIndex = at
        const end = STRING_END.exec(chunk)
        if (!end) return
        const kept = '\n\r\x1b'.includes(end[0])
        at = kept ? end.index : end.index + 1
        begin('text')
        continue
      }
      if (state === 'text') {
        TEXT.lastIndex = at
        const text = TEXT.exec(chunk)?.[0]
        if (text !== undefined) {
          sink.text(text)
          at += text.length
          continue
        }
      }
      if (steps[state](chunk[at]!, chunk.charCodeAt(at))) at++
    }
  }
}
