import type { CaseSummary } from './case-summary.ts'
import type { MatchingLine } from './matching-lines.ts'
import type { SearchQuery } from './query.ts'

/** A case as the thread is told of it; it reads the files itself. */
export interface CaseToSearch {
  id: string
  /** Of its folders and files, as in a `KeptCase`. */
  names: readonly string[]
  /** Of their stamps; 0 where these do not vouch for them. */
  print: number
  facts: CaseSummary
}

export interface Where {
  /** The folder of all cases. */
  cases: string
  /** The same as it is shown, relative to the workspace. */
  shown: string
  /** What is kept for the next start: the file, and the first line that it must have. */
  cache: { path: string; title: string }
}

export interface LineOfFile extends MatchingLine {
  /** Relative to the workspace. */
  file: string
}

export interface Hit {
  id: string
  score: number
  /** Words of the query that the case does not have. */
  missing: string[]
  lines: LineOfFile[]
}

export interface SimilarCase {
  id: string
  /** 1 for a case that has all the words of this one, and no fewer times. */
  score: number
  /** Some of the words that both have. */
  words: string[]
}

/** What comes without a number is answered with nothing. */
export type Ask =
  | { kind: 'cases'; cases: CaseToSearch[]; gone: readonly string[]; all: boolean }
  | { kind: 'find'; n: number; query: SearchQuery; limit: number }
  | { kind: 'similar'; n: number; id: string; limit: number }
  | { kind: 'close' }

export interface FindAnswer {
  total: number
  hits: Hit[]
}

export type Told =
  | { kind: 'answer'; n: number; answer: FindAnswer | SimilarCase[] }
  | { kind: 'refused'; n: number; why: string }
  | { kind: 'log'; line: string }
