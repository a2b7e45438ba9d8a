import { visibleOutput } from '../hidden-characters.ts'
import { createEscapeReader } from './escapes.ts'
import { nextStyle, PLAIN } from './style.ts'

export interface TerminalOptions {
  colors: boolean
}

/**
 * Pure. Makes output of an agent or a step safe for the operator’s terminal: only colours pass, or nothing if `colors`
 * is false. Nothing moves the cursor, so the output cannot overwrite other text: a lone CR becomes a line end. The
 * text may come in chunks of any size; each line and each chunk ends in plain style.
 */
export function createTerminalFilter({ colors }: TerminalOptions): (chunk: string) => string {
  let output = ''
  /** As the text wants it, and as the terminal has it. */
  let style = PLAIN
  let current = PLAIN
  let returned = false
  let lineIsEmpty = true
  let half = ''

  const change = (to: typeof PLAIN) => {
    if (colors && to.key !== current.key) output += `\x1b[${to.key}m`
    current = to
  }
  const endLine = () => {
    change(PLAIN)
    output += '\n'
    lineIsEmpty = true
  }
  const print = (text: string) => {
    if (returned && !lineIsEmpty) endLine()
    returned = false
    lineIsEmpty = false
    change(style)
    output += visibleOutput(text)
  }
  const read = createEscapeReader({
    text: print,
    control(character) {
      if (character === '\n') {
        returned = false
        endLine()
      } else if (character === '\r') returned = true
      else print(character)
    },
    sequence(parameters, final) {
      if (final === 'm') style = nextStyle(style, parameters)
    },
  })

  return (chunk) => {
    const text = half + chunk
    half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : ''
    read(half === '' ? text : text.slice(0, -1))
    change(PLAIN)
    const printed = output
    output = ''
    return printed
  }
}
