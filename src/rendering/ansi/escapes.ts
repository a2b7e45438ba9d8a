export interface EscapeSink {
  /** Without any control character. */
  text(text: string): void
  /** One of C0 but ESC, or DEL. */
  control(character: string): void
  /** A whole control sequence, as `31;1` and `m` of `ESC [ 31;1 m`; one with intermediates is left out. */
  sequence(parameters: string, final: string): void
}

type State = 'text' | 'escape' | 'intermediate' | 'csi' | 'string'

const TEXT = /[^\0-\x1f\x7f-\x9f]+/y
const STRING_END = /[\x07\n\r\x18\x1a\x1b\x9c]/g
const MAX_PARAMETERS = 256

/**
 * Pure. Reads terminal output, cut into chunks anywhere, and tells the sink what it holds. Everything
 * but text, control characters and control sequences is dropped: OSC, DCS, APC, PM, SOS, character
 * sets, C1. A string that is never ended is given up at the end of its line, so that it hides no more.
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

  /** Each takes one character, and says whether it is done with it. */
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
