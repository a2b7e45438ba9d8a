import { highlightCode } from './code.ts'
import { type Language, languageOfFence } from './languages.ts'
import { joinTokens, type Token, tokenLines } from './tokens.ts'

/**
 * Pure. The tokens of each line of a source, null if it is not highlighted. In markdown, a fence
 * has the colours of its language, and the fields at the beginning those of YAML.
 */
export function highlightSource(source: string, language: Language): Token[][] | null {
  if (language !== 'markdown') return linesOf(source, language)
  const lines = markdownParts(source).flatMap((part) => {
    const { lines, language } = part
    if (language === 'fence') return lines.map((text): Token[] => [{ text, kind: 'meta' }])
    return (language && linesOf(lines.join('\n'), language)) || plain(lines)
  })
  return lines.map(joinTokens).join('\n') === source ? lines : null
}

function linesOf(source: string, language: Language): Token[][] | null {
  const tokens = highlightCode(source, language)
  return tokens && tokenLines(tokens)
}

function plain(lines: readonly string[]): Token[][] {
  return lines.map((text) => (text === '' ? [] : [{ text }]))
}

interface MarkdownPart {
  /** `fence` for the line that opens or closes one; null for code of no known language. */
  language: Language | 'fence' | null
  lines: string[]
}

const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[ \t]*([^\s`{]*)/

/** Only for colours: what this takes for a fence may differ from what the renderer does. */
function markdownParts(source: string): MarkdownPart[] {
  const parts: MarkdownPart[] = []
  const begin = (language: MarkdownPart['language'], lines: string[] = []) => {
    parts.push({ language, lines })
  }
  const all = source.split('\n')
  const front = all[0] === '---' ? all.findIndex((line, at) => at > 0 && /^---\s*$/.test(line)) : -1
  if (front > 0) begin('yaml', all.slice(0, front + 1))
  begin('markdown')
  let open = ''
  for (const line of all.slice(front + 1)) {
    const [, mark = '', name = ''] = FENCE.exec(line) ?? []
    const isClosing = open !== '' && mark.startsWith(open) && name === ''
    if (isClosing || (open === '' && mark !== '')) {
      begin('fence', [line])
      begin(isClosing ? 'markdown' : languageOfFence(name))
      open = isClosing ? '' : mark
    } else parts.at(-1)!.lines.push(line)
  }
  return parts.filter(({ lines }) => lines.length > 0)
}
