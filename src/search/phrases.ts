import { folded, isUnspaced } from './words.ts'

const RUN = /[\p{L}\p{N}\p{M}]+/gu
const OTHER = '[^\\p{L}\\p{N}\\p{M}]'
/** More than that between two words, such as a table's dashes, is more than a line that was wrapped. */
const MOST_BETWEEN = 20

/** Whether there is more to it than one word, which the index has as it is. */
export function isPhrase(text: string): boolean {
  const words = folded(text).match(RUN) ?? []
  return words.length > 1 || words.some((word) => [...word].some(isUnspaced))
}

/** What stands between two texts in which no phrase is to be found that begins in one and ends in the other. */
export const GAP = '\n'.repeat(MOST_BETWEEN + 1)

/**
 * Whether each of these is in a text that is folded: its words in their order, with nothing but blanks and signs between
 * them, be it in two lines.
 */
export function createPhraseTest(phrases: readonly string[]): (plain: string) => boolean {
  const tests = phrases.map(testOf)
  return (plain) => tests.every((isIn) => isIn(plain))
}

function testOf(phrase: string): (plain: string) => boolean {
  const words: string[] = folded(phrase).match(RUN) ?? []
  if (words.length === 0) return () => false
  // fewest texts have the longest; and to look for a word takes a tenth of trying the pattern at every place
  const longest = words.reduce((one, other) => (other.length > one.length ? other : one))
  const pattern = patternOf(words, words.indexOf(longest))
  return (plain) => {
    for (let at = plain.indexOf(longest); at !== -1; at = plain.indexOf(longest, at + 1)) {
      pattern.lastIndex = at
      if (pattern.test(plain)) return true
    }
    return false
  }
}

/**
 * Fits where the word `at` this index stands, with the others before and behind it. Of a script with blanks between its
 * words no phrase begins or ends within a word.
 */
function patternOf(words: readonly string[], at: number): RegExp {
  const [first = '', last = ''] = [[...(words[0] ?? '')][0], [...(words.at(-1) ?? '')].at(-1)]
  const begin = isUnspaced(first) ? '' : '(?<![\\p{L}\\p{N}\\p{M}])'
  const end = isUnspaced(last) ? '' : '(?![\\p{L}\\p{N}\\p{M}])'
  const between = `${OTHER}{1,${MOST_BETWEEN}}`
  const before = words.slice(0, at).map((word) => word + between)
  return new RegExp(`(?<=${begin}${before.join('')})${words.slice(at).join(between)}${end}`, 'uy')
}
