/** Letters that are written from right to left, with their marks. */
const FROM_RIGHT =
  '[\\u0590-\\u08ff\\u200f\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]'
const FROM_RIGHT_WORDS = new RegExp(`(${FROM_RIGHT}+)`, 'u')
const FROM_RIGHT_LETTERS = new RegExp(FROM_RIGHT, 'gu')
const LETTERS = /\p{L}/gu

/**
 * Pure. The direction in which most letters of a text are written; none if it has no letters from right to left. One
 * letter at its start does not decide: it would put the words of an English sentence in another order.
 */
export function directionOf(text: string): 'ltr' | 'rtl' | undefined {
  const fromRight = text.match(FROM_RIGHT_LETTERS)?.length ?? 0
  if (fromRight === 0) return undefined
  return fromRight * 2 > (text.match(LETTERS)?.length ?? 0) ? 'rtl' : 'ltr'
}

/**
 * Pure. Code cut into other text and words written from right to left, in turn. Each such word is isolated on the page,
 * so that what runs stands in the order in which it runs: `rm א/1` not as `rm 1/א`.
 */
export function cutAtWordsFromRight(code: string): string[] {
  return code.split(FROM_RIGHT_WORDS)
}

/** Pure. The same for a terminal, where a direction mark after each such word keeps what follows in its place. */
export function inOrder(code: string): string {
  return code.replace(new RegExp(FROM_RIGHT_WORDS, 'gu'), '$1\u200e')
}
