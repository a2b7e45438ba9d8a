import type { Element, ElementContent } from 'hast'
import { highlightCode } from '../highlight/code.ts'
import { languageOfFence } from '../highlight/languages.ts'
import { isHighlightable } from '../highlight/limits.ts'
import { tokenClass } from '../highlight/tokens.ts'
import { element, text } from './hast.ts'

/** For all fences of a text together. */
const MAX_MS = 700
const MAX_FENCE = { characters: 64 * 1024, lines: 2000 }

/** Returns a function that gives the code of a fence its colours. What takes too long stays plain. */
export function createPainter(): (code: string, language: string) => ElementContent[] {
  let spent = 0
  return (code, language) => {
    const known = languageOfFence(language)
    if (!known || spent > MAX_MS || !isHighlightable(code, MAX_FENCE)) return [text(code)]
    const start = performance.now()
    const tokens = highlightCode(code, known)
    spent += performance.now() - start
    if (!tokens) return [text(code)]
    return tokens.map((token): Element | ReturnType<typeof text> => {
      const piece = text(token.text)
      return token.kind ? element('span', { className: [tokenClass(token.kind)] }, [piece]) : piece
    })
  }
}
