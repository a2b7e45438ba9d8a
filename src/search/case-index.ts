import MiniSearch, { type Query, type SearchOptions, type SearchResult } from 'minisearch'
import type { Wanted } from './query.ts'
import { PLACES, type Place } from './searched-lines.ts'
import { isUnspaced, termsOf } from './words.ts'

/** The texts of one case by where they stand. */
export type CaseTexts = Record<'title' | 'tags' | Place, string>

export interface Found {
  id: string
  score: number
  /** Words of the index that the query's words stand for in this case. */
  terms(): string[]
  /** What the case does not have of the query. */
  missing(): string[]
  /** Where the words stand. */
  places(): Set<string>
}

/** The words of all cases, and who has them. */
export interface CaseIndex {
  readonly size: number
  /** In place of what was known of the case. */
  put(id: string, texts: CaseTexts): void
  remove(id: string): void
  /**
   * The best first: cases with all the words as they are; where these are fewer than `enough`, also those with
   * words that begin so, and, for words that few cases have, with slips of the finger; where there is none, those
   * with some of the words.
   */
  find(wanted: readonly Wanted[], fits: (id: string) => boolean, enough: number): Found[]
  /** Cases that have many of these terms, most of all those that few have. */
  alike(terms: readonly string[], fits: (id: string) => boolean): Found[]
  /** Without any word of what was removed or replaced. */
  clean(): Promise<void>
  toJSON(): unknown
}

const FIELDS = ['title', 'tags', ...PLACES]
const BOOST = { title: 6, tags: 4, case: 2, notes: 1.5, sessions: 1, proof: 0.7 }
const OPTIONS = { fields: FIELDS, tokenize: termsOf, processTerm: (term: string) => term }
/** A beginning of fewer characters says little, and very many words have it. */
const LEAST_PREFIX = 3
const WEIGHTS = { prefix: 0.4, fuzzy: 0.25 }

/** `saved` is what `toJSON` gave before, as text. */
export function createCaseIndex(saved?: string): CaseIndex {
  const index = saved ? MiniSearch.loadJSON(saved, OPTIONS) : new MiniSearch(OPTIONS)
  const asIs: SearchOptions = {
    ...{ boost: BOOST, tokenize: (text) => [text], processTerm: (term) => term },
    ...{ weights: WEIGHTS, combineWith: 'AND' },
  }

  function search(
    queries: readonly Query[],
    fits: (id: string) => boolean,
    combineWith: 'AND' | 'OR',
  ): SearchResult[] {
    const filter = ({ id }: SearchResult) => fits(id)
    return index.search({ queries: [...queries], combineWith }, { ...asIs, filter })
  }

  /** A word that many cases have is as it was meant; and what is near it is in very many. */
  const isRare = (each: Wanted, enough: number) =>
    search([queryOf(each, AS_TYPED)], () => true, 'AND').length < enough

  return {
    get size() {
      return index.documentCount
    },
    put(id, texts) {
      if (index.has(id)) index.discard(id)
      index.add({ id, ...texts })
    },
    remove(id) {
      if (index.has(id)) index.discard(id)
    },
    find(wanted, fits, enough) {
      const exact = search(
        wanted.map((each) => queryOf(each, AS_TYPED)),
        fits,
        'AND',
      )
      if (exact.length >= enough) return foundIn(exact, wanted)
      const near = wanted.map((each) => queryOf(each, isRare(each, enough) ? NEAR : BEGINNING))
      const close = search(near, fits, 'AND')
      if (close.length > 0 || wanted.length === 1) return foundIn(close, wanted)
      return foundIn(byMissing(search(near, fits, 'OR'), wanted), wanted)
    },
    alike: (terms, fits) => foundIn(search([...terms], fits, 'OR'), []),
    clean: () => index.vacuum({ batchSize: Number.MAX_SAFE_INTEGER, batchWait: 0 }),
    toJSON: () => index.toJSON(),
  }
}

interface How {
  prefix: boolean
  fuzzy: boolean
}
const AS_TYPED: How = { prefix: false, fuzzy: false }
const BEGINNING: How = { prefix: true, fuzzy: false }
const NEAR: How = { prefix: true, fuzzy: true }

/** A name that is made of several is found whole, or else by all of its parts. */
function queryOf({ whole, parts }: Wanted, how: How): Query {
  const one = (term: string): Query => ({
    queries: [term],
    prefix: how.prefix && (term.length >= LEAST_PREFIX || isUnspaced(term)),
    fuzzy: how.fuzzy && slips(term),
  })
  if (parts.length === 0) return one(whole)
  return {
    combineWith: 'OR',
    queries: [one(whole), { combineWith: 'AND', queries: parts.map(one) }],
  }
}

/** How many slips of the finger a word may have. Another number is no slip, but another thing. */
function slips(term: string): number | false {
  if (term.length < 4 || /\p{N}/u.test(term)) return false
  return term.length < 8 ? 1 : 2
}

/** Thousands may be found, and few of them are shown. */
function foundIn(results: readonly SearchResult[], wanted: readonly Wanted[]): Found[] {
  return results.map((result) => ({
    ...{ id: result.id, score: result.score },
    terms: () => Object.keys(result.match),
    missing: () => missingIn(result, wanted),
    places: () => new Set(Object.values(result.match).flat()),
  }))
}

function missingIn({ queryTerms }: SearchResult, wanted: readonly Wanted[]): string[] {
  const has = (term: string) => queryTerms.includes(term)
  const isThere = ({ whole, parts }: Wanted) => has(whole) || (parts.length > 0 && parts.every(has))
  return wanted.filter((each) => !isThere(each)).map(({ whole }) => whole)
}

/** Those with most of the words first; they come by their score. */
function byMissing(results: SearchResult[], wanted: readonly Wanted[]): SearchResult[] {
  return results
    .map((result) => ({ result, missing: missingIn(result, wanted).length }))
    .sort((a, b) => a.missing - b.missing)
    .map(({ result }) => result)
}
