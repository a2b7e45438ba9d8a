import type { LineEnding } from './lines.ts'

/**
 * Returns a section's text, which is between one blank line after its heading and one before the next heading; the
 * last section ends with the file's last line ending. This and the functions below are inverse: text in a `verbatim`
 * fence, and any other section text, comes back exactly.
 */
export function regionText(region: string, last: boolean, eol: LineEnding): string {
  let text = region.startsWith(eol) ? region.slice(eol.length) : region.replace(/^[\r\n]/, '')
  text = withoutEnding(text, eol)
  if (!last) text = withoutEnding(text, eol)
  const verbatim = verbatimText(text, eol)
  if (verbatim !== null) return verbatim
  const plain = text.replaceAll('\r\n', '\n')
  // a CRLF file's sections are CRLF throughout: callers see and send LF
  return eol === '\r\n' && !plain.includes('\r') && !/(?<!\r)\n/.test(text) ? plain : text
}

/** Returns the region for `text` without a fence. Only re-reading the whole file shows whether that is safe. */
export function plainRegion(text: string, last: boolean, eol: LineEnding): string {
  if (text === '') return last ? '' : eol
  const lines = eol === '\r\n' && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text
  return eol + lines + (last ? eol : eol + eol)
}

/** Returns a region for any text: one fence, longer than every run of backticks in it. */
export function verbatimRegion(text: string, last: boolean, eol: LineEnding): string {
  const fence = fenceFor(text)
  return `${eol}${fence}verbatim${eol}${text}${eol}${fence}${last ? eol : eol + eol}`
}

/** Returns a fence of this character that no line of the text can close. */
export function fenceFor(text: string, character: '`' | '~' = '`'): string {
  let longest = 2
  let run = 0
  for (let at = text.indexOf(character); at >= 0; ) {
    run++
    longest = Math.max(longest, run)
    const next = text.indexOf(character, at + 1)
    if (next !== at + 1) run = 0
    at = next
  }
  return character.repeat(longest + 1)
}

const VERBATIM = /^(`{3,})verbatim[ \t]*(?:\r\n|\n|\r)/

/** Returns the content if the whole text is one verbatim fence, else null. */
function verbatimText(text: string, eol: LineEnding): string | null {
  const opening = VERBATIM.exec(text)
  if (!opening) return null
  const fence = opening[1]!
  if (!text.endsWith(fence)) return null
  const content = text.slice(opening[0].length, -fence.length)
  if (content !== '' && !/[\r\n]$/.test(content)) return null
  const inner = withoutEnding(content, eol)
  return inner.includes(fence) ? null : inner
}

function withoutEnding(text: string, eol: LineEnding): string {
  if (text.endsWith(eol)) return text.slice(0, -eol.length)
  return /[\r\n]$/.test(text) ? text.slice(0, -1) : text
}
