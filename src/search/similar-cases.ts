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

interface SimilarDeps {
  tables: Pick<SearchTables, 'rank' | 'matches'>
  /** All cases have a number below this. */
  size: number
  isResolved(number: number): boolean
}

/** More words hardly make a case more alike, and take longer. */
const MOST_TERMS = 32
/** Of these, the rarest decide which cases are compared. */
const MOST_RANKED = 16
/** Any two texts on the same program share less. */
const LEAST_SCORE = 0.12
const MOST_WORDS = 8
/** What is asked for as proof is much the same everywhere. */
const CHECKLIST = /^## Proof checklist\s*$/m

interface Term {
  word: string
  cases: ReadonlySet<number>
  /** The fewer cases have it, the more. */
  rarity: number
}

/** Resolved cases with the words of this one's title and description. */
export function similarCases(
  { tables, size, isResolved }: SimilarDeps,
  own: { number: number; title: string; folder: string },
  limit: number,
): SimilarNumber[] {
  const [text = ''] = (readSearched(own.folder, 'case.md') ?? '').split(CHECKLIST, 1)
  const lines = [...searchedLines('description', text)].map((each) => each.text.slice(each.from))
  const terms: Term[] = []
  for (const word of tellingWords(own.title, lines.join('\n'))) {
    const cases = new Set(tables.matches(quoted(word)))
    // one with digits that no other case has is a hash, an address or the id of a request: a log has many
    if (/\p{N}/u.test(word) && cases.size < 2) continue
    terms.push({ word, cases, rarity: Math.log(1 + size / (cases.size + 1)) })
    if (terms.length === MOST_TERMS) break
  }
  const shared = terms.filter(({ cases }) => cases.size > 1)
  const ranked = shared.sort((a, b) => b.rarity - a.rarity).slice(0, MOST_RANKED)
  if (ranked.length === 0) return []
  const scores = new Map(tables.rank(any(ranked.map(({ word }) => quoted(word))), 'all').best)
  const most = scores.get(own.number)
  if (most === undefined) return []
  const all = sum(terms)
  const similar: SimilarNumber[] = []
  for (const [number, rank] of scores) {
    if (number === own.number) continue
    const both = terms.filter(({ cases }) => cases.has(number))
    const score = Math.min(1, rank / most) * (sum(both) / all)
    if (score < LEAST_SCORE || !isResolved(number)) continue
    const words = both.map(({ word }) => word).slice(0, MOST_WORDS)
    similar.push({ number, score: Math.round(score * 1000) / 1000, words })
  }
  return similar.sort((a, b) => b.score - a.score || a.number - b.number).slice(0, limit)
}

function sum(terms: readonly Term[]): number {
  return terms.reduce((total, { rarity }) => total + rarity, 0)
}

/** The words of the title, then the longest of the text: the longer, the fewer cases have it. */
function tellingWords(title: string, text: string): Set<string> {
  const others = termsIn(text).filter(tellsMuch)
  return new Set([
    ...termsIn(title).filter(tellsMuch),
    ...others.sort((a, b) => b.length - a.length),
  ])
}

function tellsMuch(word: string): boolean {
  return word.length > 1 && !isCommon(word) && !/^[\p{N}._-]+$/u.test(word)
}
