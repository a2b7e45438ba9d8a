import type { Element, ElementContent } from 'hast'
import { highlightCode } from '../highlight/code.ts'
import { languageOfFence } from '../highlight/languages.ts'
import { isHighlightable } from '../highlight/limits.ts'
import { tokenClass } from '../highlight/tokens.ts'
import { element, text } from './hast.ts'

/** For all fences of a text together, as one hostile fence can make the whole text take too long. */
const MAX_CHARACTERS = 128 * 1024
const MAX_LINES = 4000

/** Returns a function that gives the code of a fence its colours. What is too large stays plain. */
export function createPainter(): (code: string, language: string) => ElementContent[] {
  let left = MAX_CHARACTERS
  return (code, language) => {
    const known = languageOfFence(language)
    if (!known || !isHighlightable(code, { characters: left, lines: MAX_LINES }))
      return [text(code)]
    left -= code.length
    const tokens = highlightCode(code, known)
    if (!tokens) return [text(code)]
    return tokens.map((token): Element | ReturnType<typeof text> => {
      const piece = text(token.text)
      return token.kind ? element('span', { className: [tokenClass(token.kind)] }, [piece]) : piece
    })
  }
}
