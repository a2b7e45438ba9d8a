/** Finds cases that share rare words with one case. */

import type { SearchTables } from '../state/search-tables.ts'
import { readSearched } from './case-files.ts'
import { any, quoted } from './expressions.ts'
import { searchedLines } from './searched-lines.ts'
import { isCommon, termsIn } from './words.ts'

export interface SimilarNumber {
  number: number
  /** 1 for a case that has all the words of this one, and no fewer times. */
  score: number
  /** Some of the words that both have. */
  words: string[]
}

/** More words hardly make a case more alike, and take longer. */
const MOST_TERMS = 32
const MOST_LOOKED_UP = 300
/** Of these, the rarest decide which cases are compared. */
const MOST_RANKED = 12
const MOST_COMPARED = 200
/** A word that so many cases have, or more than a tenth of them, does not count. */
const TOO_MANY = 1000
/** Any two texts on the same program share less. */
const LEAST_SCORE = 0.08
const MOST_WORDS = 8
/** What is asked for as proof is much the same everywhere. */
const CHECKLIST = /^## Proof checklist\s*$/m

interface Term {
  word: string
  cases: ReadonlySet<number>
  /** The fewer cases have it, the more. */
  rarity: number
}

/** Resolved cases with the words of this one's title and description. `size`: all numbers are below it. */
export function similarCases(
  tables: Pick<SearchTables, 'rank' | 'score' | 'matches'>,
  size: number,
  own: { number: number; title: string; folder: string },
  limit: number,
): SimilarNumber[] {
  const [text = ''] = (readSearched(own.folder, 'case.md') ?? '').split(CHECKLIST, 1)
  const lines = [...searchedLines('description', text)].map((each) => each.text.slice(each.from))
  const terms: Term[] = []
  for (const word of tellingWords(own.title, lines.join('\n'))) {
    const cases = tables.matches(quoted(word))
    if (cases.length > Math.max(TOO_MANY, size / 10)) continue
    // one with digits that no other case has is a hash, an address or the id of a request: a log has many
    if (/\p{N}/u.test(word) && cases.length < 2) continue
    const rarity = Math.log(1 + size / (cases.length + 1))
    terms.push({ word, cases: new Set(cases), rarity })
    if (terms.length === MOST_TERMS) break
  }
  const ranked = terms
    .filter(({ cases }) => cases.size > 1)
    .sort((a, b) => b.rarity - a.rarity)
    .slice(0, MOST_RANKED)
  if (ranked.length === 0) return []
  const expression = any(ranked.map(({ word }) => quoted(word)))
  const most = tables.score(expression, own.number)
  if (most === 0) return []
  const all = sum(terms)
  return tables
    .rank(expression, MOST_COMPARED, { state: ['RESOLVED'] })
    .best.filter(([number]) => number !== own.number)
    .map(([number, rank]) => {
      const both = terms.filter(({ cases }) => cases.has(number))
      const score = Math.min(1, rank / most) * (sum(both) / all)
      const words = both.map(({ word }) => word).slice(0, MOST_WORDS)
      return { number, score: Math.round(score * 1000) / 1000, words }
    })
    .filter(({ score }) => score >= LEAST_SCORE)
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, limit)
}

function sum(terms: readonly Term[]): number {
  return terms.reduce((total, { rarity }) => total + rarity, 0)
}

/** The words of the title, then the longest of the text: the longer, the fewer cases have it. */
function tellingWords(title: string, text: string): string[] {
  const others = termsIn(text).filter(tellsMuch)
  const words = new Set([
    ...termsIn(title).filter(tellsMuch),
    ...others.sort((a, b) => b.length - a.length),
  ])
  return [...words].slice(0, MOST_LOOKED_UP)
}

function tellsMuch(word: string): boolean {
  return word.length > 1 && !isCommon(word) && !/^[\p{N}._-]+$/u.test(word)
}
