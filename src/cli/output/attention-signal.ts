import { HIDDEN_CHARACTERS } from '../../model/visible-text.ts'
import type { Terminal } from './terminal.ts'

const MAX_CHARACTERS = 200
const BEL = '\u0007'

export interface SignalOptions {
  env: NodeJS.ProcessEnv
  /** Whether to ring the bell of the terminal as well. */
  bell: boolean
}

/**
 * Makes a terminal show a desktop notification (OSC 9), which most terminals do and the others ignore. Writes nothing
 * to a pipe; a plain terminal (NO_COLOR, TERM=dumb) only gets the bell.
 */
export function createAttentionSignal(
  terminal: Pick<Terminal, 'isTerminal' | 'print'>,
  { env, bell }: SignalOptions,
): (text: string) => void {
  if (!terminal.isTerminal) return () => {}
  const isPlain = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return (text) => {
    // the name in front also keeps `4;1;50`, which some terminals take for a progress bar, from being the beginning
    const shown = isPlain ? '' : `\u001b]9;${notificationText(`Casefile: ${text}`)}${BEL}`
    terminal.print(`${shown}${bell ? BEL : ''}`)
  }
}

/** A control character would end the sequence and let the text write to the terminal. */
function notificationText(text: string): string {
  const clean = text.replace(HIDDEN_CHARACTERS, ' ').replace(/ {2,}/g, ' ').trim()
  const characters = [...clean]
  if (characters.length <= MAX_CHARACTERS) return clean
  return `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}
