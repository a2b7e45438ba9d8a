import { render } from '../render-pool.ts'
import type { Language } from './languages.ts'
import { isHighlightable } from './limits.ts'
import { joinTokens, type Token } from './tokens.ts'

/**
 * The tokens of each of the lines, whose texts put together are the line. Null if the lines are too many or too long,
 * or if highlighting them takes too long: show them plain then.
 */
export async function highlightLines(
  lines: readonly string[],
  language: Language,
): Promise<Token[][] | null> {
  if (!isHighlightable(lines.join('\n'))) return null
  const [tokens = null] = await highlightEach([lines], language)
  return tokens
}

const MAX_OF_ALL = { characters: 512 * 1024, lines: 10_000 }

/** The same for parts of a file that do not follow each other, as in a diff. */
export async function highlightEach(
  parts: readonly (readonly string[])[],
  language: Language,
): Promise<(Token[][] | null)[]> {
  const sources = parts.map((lines) => lines.join('\n'))
  if (!isHighlightable(sources.join('\n'), MAX_OF_ALL)) return parts.map(() => null)
  const answer = await render({
    kind: 'sources',
    sources,
    language,
  })
  return parts.map((lines, index) => {
    const tokens = answer?.sources[index]
    if (tokens?.length !== lines.length) return null
    return lines.every((line, at) => joinTokens(tokens[at]!) === line) ? tokens : null
  })
}
