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
  const source = lines.join('\n')
  if (!isHighlightable(source)) return null
  const highlighted = await render({
    kind: 'source',
    source,
    language,
  })
  const tokens = highlighted?.lines
  if (tokens?.length !== lines.length) return null
  return lines.every((line, index) => joinTokens(tokens[index]!) === line) ? tokens : null
}
