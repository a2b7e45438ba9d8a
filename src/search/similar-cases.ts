import { caseOf, type SearchTables } from '../state/search-tables.ts'
import { isCommon, phraseExpression, wordsIn } from './query.ts'

export interface SimilarCase {
  id: string
  /** 1 for a case that has all words of this one. Rare words count more. */
  score: number
  /** Some of the words that both cases have. */
  words: string[]
}

/** More words take longer and hardly change the result. */
const MAX_TERMS = 32
const MAX_LOOKED_UP = 100
/** A word in so many files, or as many as a tenth of all cases, does not count. */
const COMMON_FILES = 1000
/** Unrelated texts about the same program reach lower scores. */
const MIN_SCORE = 0.25
const MAX_WORDS = 8

/** Finds the candidates that share rare words with the title and description of a case. */
export function similarCases(
  { matches }: Pick<SearchTables, 'matches'>,
  { title, description, count }: { title: string; description: string; count: number },
  candidates: ReadonlySet<number>,
): (Omit<SimilarCase, 'id'> & { number: number })[] {
  const found = new Map<number, { rarity: number; words: string[] }>()
  const most = Math.max(COMMON_FILES, Math.floor(count / 10))
  let all = 0
  let terms = 0
  for (const word of distinctiveWords(title, description)) {
    const rows = matches(phraseExpression(word), most)
    if (rows.length === most) continue
    const numbers = new Set(rows.map(caseOf))
    const rarity = Math.log(1 + count / (numbers.size + 1))
    all += rarity
    for (const number of numbers) {
      if (!candidates.has(number)) continue
      const known = found.get(number) ?? { rarity: 0, words: [] }
      found.set(number, { rarity: known.rarity + rarity, words: [...known.words, word] })
    }
    if (++terms === MAX_TERMS) break
  }
  return [...found]
    .map(([number, { rarity, words }]) => {
      const score = Math.round((rarity / all) * 1000) / 1000
      return { number, score, words: words.slice(0, MAX_WORDS) }
    })
    .filter(({ score }) => score >= MIN_SCORE)
}

/** Returns the words of the title, then the longest words of the text, as longer words tend to be in fewer cases. */
function distinctiveWords(title: string, text: string): string[] {
  const longest = wordsIn(text).sort((a, b) => b.length - a.length)
  const words = new Set([...wordsIn(title), ...longest])
  // without hashes, addresses and ids, which no other case has
  return [...words]
    .filter((word) => word.length > 1 && !isCommon(word) && !/\p{N}/u.test(word))
    .slice(0, MAX_LOOKED_UP)
}
