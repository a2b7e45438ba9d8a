import type { SearchTables } from '../state/search-tables.ts'
import { readSearched } from './case-files.ts'
import { any, quoted } from './expressions.ts'
import { searchedLines } from './searched-lines.ts'
import { isCommon, termsIn } from './words.ts'

export interface SimilarNumber {
  number: number
  /** 1 for a case that has all words of this one at least as often. */
  score: number
  /** Some of the words that both cases have. */
  words: string[]
}

/** More words take longer and hardly change the result. */
const MAX_TERMS = 32
const MAX_LOOKED_UP = 300
/** The rarest words decide which cases are compared. */
const MAX_RANKED = 12
const MAX_COMPARED = 200
/** A word in more cases than this, or in more than a tenth of all cases, does not count. */
const COMMON_CASES = 1000
/** Unrelated texts about the same program reach lower scores. */
const MIN_SCORE = 0.08
const MAX_WORDS = 8
/** The text from here on is ignored, as proof checklists resemble each other. */
const CHECKLIST = /^## Proof checklist\s*$/m

interface Term {
  word: string
  cases: ReadonlySet<number>
  /** Higher for words in fewer cases. */
  rarity: number
}

/**
 * Finds resolved cases that share rare words with the title and description of one case. `size` is one more than the
 * highest case number.
 */
export function similarCases(
  tables: Pick<SearchTables, 'rank' | 'score' | 'matches'>,
  size: number,
  own: { number: number; title: string; folder: string },
  limit: number,
): SimilarNumber[] {
  const [text = ''] = (readSearched(own.folder, 'case.md') ?? '').split(CHECKLIST, 1)
  const lines = [...searchedLines('description', text)].map((each) => each.text.slice(each.from))
  const terms: Term[] = []
  for (const word of distinctiveWords(own.title, lines.join('\n'))) {
    const cases = tables.matches(quoted(word))
    if (cases.length > Math.max(COMMON_CASES, size / 10)) continue
    // skips hashes, addresses and request ids, of which logs have many
    if (/\p{N}/u.test(word) && cases.length < 2) continue
    const rarity = Math.log(1 + size / (cases.length + 1))
    terms.push({ word, cases: new Set(cases), rarity })
    if (terms.length === MAX_TERMS) break
  }
  const ranked = terms
    .filter(({ cases }) => cases.size > 1)
    .sort((a, b) => b.rarity - a.rarity)
    .slice(0, MAX_RANKED)
  if (ranked.length === 0) return []
  const expression = any(ranked.map(({ word }) => quoted(word)))
  const most = tables.score(expression, own.number)
  if (most === 0) return []
  const all = sum(terms)
  return tables
    .rank(expression, MAX_COMPARED, { state: ['RESOLVED'] })
    .best.filter(([number]) => number !== own.number)
    .map(([number, rank]) => {
      const both = terms.filter(({ cases }) => cases.has(number))
      const score = Math.min(1, rank / most) * (sum(both) / all)
      const words = both.map(({ word }) => word).slice(0, MAX_WORDS)
      return { number, score: Math.round(score * 1000) / 1000, words }
    })
    .filter(({ score }) => score >= MIN_SCORE)
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, limit)
}

function sum(terms: readonly Term[]): number {
  return terms.reduce((total, { rarity }) => total + rarity, 0)
}

/** Returns the words of the title, then the longest words of the text, as longer words tend to be in fewer cases. */
function distinctiveWords(title: string, text: string): string[] {
  const others = termsIn(text).filter(isDistinctive)
  const words = new Set([
    ...termsIn(title).filter(isDistinctive),
    ...others.sort((a, b) => b.length - a.length),
  ])
  return [...words].slice(0, MAX_LOOKED_UP)
}

function isDistinctive(word: string): boolean {
  return word.length > 1 && !isCommon(word) && !/^[\p{N}._-]+$/u.test(word)
}
