import { HIDDEN_CHARACTERS, markHidden } from '../model/visible-text.ts'

/**
 * Pure. For text that people judge (code that will run, sources, changes, names): makes every character visible that
 * they would miss or see in another place. Control characters become symbols (a CR becomes ␍), others `[U+202E]`. Tabs
 * and line feeds stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, shown)
}

/** Pure. The same for a name of one line, such as that of a file: line ends and tabs are shown too. */
export function visibleName(name: string): string {
  return visibleText(name).replace(/[\t\n]/g, controlPicture)
}

/** Pure. A name to be pasted into a shell: quoted if it has characters that would do something there unseen. */
export function copiedName(name: string): string {
  if (visibleName(name) === name) return name
  const quoted = name.replace(/[\\']/g, '\\$&').replace(HIDDEN_CHARACTERS, (character) => {
    const bytes = [...new TextEncoder().encode(character)]
    return bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  })
  return `$'${quoted}'`
}

/**
 * Pure. The same for output of programs, which may also have emoji, wide spaces and icons of private fonts.
 */
export function visibleOutput(text: string): string {
  return markHidden(text, (character) => (PRIVATE.test(character) ? character : shown(character)))
}

const PRIVATE = /\p{Co}/u

/** Pure. The same for prose, which may also have emoji, wide spaces, and the joiners of Arabic and Indic scripts. */
export function visibleProse(text: string): string {
  return markHidden(text, (character) => (character === '\r' ? character : shown(character)))
}

function shown(character: string): string {
  if (character === '\t' || character === '\n') return character
  const code = character.codePointAt(0)!
  if (code < 0x20) return controlPicture(character)
  if (code === 0x7f) return '␡'
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}

/** Of a control character, such as ␍ of a carriage return. */
function controlPicture(character: string): string {
  return String.fromCharCode(0x2400 + character.charCodeAt(0))
}
