import { createPostings, type PackedPostings } from './postings.ts'
import type { Wanted } from './query.ts'
import { countIn, firstOf, type Hits, hitsOf, inAll, inAny } from './ranking.ts'
import { PLACES, type Place } from './searched-lines.ts'
import type { How, Variant } from './vocabulary.ts'
import { termsOf } from './words.ts'

/** The texts of one case by where they stand. */
export type CaseTexts = Record<'title' | 'tags' | Place, string>

export interface Found {
  id: string
  score: number
  /** Words of the index that the query's words stand for in this case. */
  terms: ReadonlySet<string>
  /** What the case does not have of the query. */
  missing: string[]
  /** Where the words stand. */
  places: ReadonlySet<string>
}

export interface FoundCases {
  /** How many there are. */
  total: number
  /** The best first, as many as were asked for. */
  best: Found[]
}

interface Limits {
  /** Which cases count. */
  fits(id: string): boolean
  limit: number
}

/** The words of all cases, and who has them. */
export interface CaseIndex {
  /** In place of what was known of the case. */
  put(id: string, texts: CaseTexts): void
  remove(id: string): void
  /**
   * Cases with all the words as they are; where these are fewer than `enough`, also those with
   * words that begin so, and, for words that few cases have, with slips of the finger; where there is none, those
   * with some of the words. A word that is wanted as it is typed must be there in any case.
   */
  find(wanted: readonly Wanted[], limits: Limits & { enough: number }): FoundCases
  /**
   * Cases that have many of these terms, most of all those that few have. `own`: the score of this case itself,
   * 0 where it has none of them.
   */
  alike(id: string, terms: readonly string[], limits: Limits): { own: number; best: Found[] }
  /** Whether any other case than this one has the term. */
  isShared(id: string, term: string): boolean
  /** What is kept for the next time, without any word of what was removed or replaced. */
  pack(): PackedPostings
  /** Takes a second of ten thousand cases, which else the first search that needs it takes. */
  warmUp(): void
}

const FIELDS = ['title', 'tags', ...PLACES] as const
const BOOST: Record<(typeof FIELDS)[number], number> = {
  ...{ title: 6, tags: 4, case: 2, notes: 1.5, sessions: 1, proof: 0.7 },
}
const BOOSTS = FIELDS.map((field) => BOOST[field])

const AS_TYPED: How = { beginnings: false, slips: false }
const BEGINNING: How = { beginnings: true, slips: false }
const NEAR: How = { beginnings: true, slips: true }

/** What one word of a query stands for, and who has it. */
interface Meant {
  whole: string
  variants: Variant[]
  hits: Hits
}

function countOf(meant: readonly Meant[], { document }: Pick<Ranked, 'document'>): number {
  return meant.filter(({ hits }) => hits[document]! > 0).length
}

interface Ranked {
  document: number
  id: string
  score: number
  /** How many of the words it has, and how many of them as they were typed. */
  has: number
  asTyped: number
}

/** Those with most of the words first, and of these those that have them as they were typed; equal ones in an order that is always the same. */
function byScore(a: Ranked, b: Ranked): number {
  return b.has - a.has || b.asTyped - a.asTyped || b.score - a.score || (a.id < b.id ? -1 : 1)
}

/** `packed` is what `pack` gave before. */
export function createCaseIndex(packed?: PackedPostings): CaseIndex {
  const postings = createPostings(FIELDS.length, packed)

  function meantOne(term: string, how: How): Meant {
    const variants = postings.vocabulary.variants(term, how)
    return { whole: term, variants, hits: hitsOf(postings, variants, BOOSTS) }
  }

  /** A name that is made of several is found whole, or else by all of its parts. */
  function meantBy({ whole, parts }: Wanted, how: How): Meant {
    const own = meantOne(whole, how)
    if (parts.length === 0) return own
    const each = parts.map((part) => meantOne(part, how))
    const hits = inAny([own.hits, inAll(each.map((part) => part.hits))])
    return { whole, variants: [own, ...each].flatMap((one) => one.variants), hits }
  }

  function fitting(hits: Hits, fits: Limits['fits']): Ranked[] {
    const { ids } = postings
    const found: Ranked[] = []
    for (const [document, score] of hits.entries()) {
      if (score === 0) continue
      const id = ids[document]!
      if (fits(id)) found.push({ document, id, score, has: 0, asTyped: 0 })
    }
    return found
  }

  function foundIn(ranked: Ranked[], meant: readonly Meant[], limit: number): FoundCases {
    const best = firstOf(ranked, limit, byScore)
    return { total: ranked.length, best: best.map((each) => foundOf(each, meant)) }
  }

  function foundOf({ id, document, score }: Ranked, meant: readonly Meant[]): Found {
    const terms = new Set<string>()
    const places = new Set<string>()
    for (const { term, word } of meant.flatMap(({ variants }) => variants)) {
      for (const field of postings.fieldsOf(document, word)) {
        terms.add(term)
        places.add(FIELDS[field]!)
      }
    }
    const missing = meant.filter(({ hits }) => hits[document] === 0).map(({ whole }) => whole)
    return { ...{ id, score, terms, places }, missing }
  }

  return {
    put: (id, texts) =>
      postings.put(
        id,
        FIELDS.map((field) => termsOf(texts[field])),
      ),
    remove: postings.remove,
    find(wanted, { fits, limit, enough }) {
      const exact = wanted.map((each) => meantBy(each, AS_TYPED))
      const found = fitting(inAll(exact.map(({ hits }) => hits)), fits)
      if (found.length >= enough) return foundIn(found, exact, limit)
      // what many cases have is as it was meant; and what is near it is in very many
      const near = wanted.map((each, index) => {
        if (each.asTyped) return exact[index]!
        return meantBy(each, countIn(exact[index]!.hits) < enough ? NEAR : BEGINNING)
      })
      const close = fitting(inAll(near.map(({ hits }) => hits)), fits)
      for (const each of close) each.asTyped = countOf(exact, each)
      if (close.length > 0 || wanted.length === 1) return foundIn(close, near, limit)
      const musts = exact.filter((_, index) => wanted[index]!.asTyped).map(({ hits }) => hits)
      const any = inAny(near.map(({ hits }) => hits))
      const some = fitting(musts.length > 0 ? inAll([any, ...musts]) : any, fits)
      for (const each of some) {
        each.has = countOf(near, each)
        each.asTyped = countOf(exact, each)
      }
      return foundIn(some, near, limit)
    },
    alike(id, terms, { fits, limit }) {
      const meant = terms.map((term) => meantOne(term, AS_TYPED))
      const self = postings.numberOf(id)
      if (self === undefined || meant.length === 0) return { own: 0, best: [] }
      const hits = inAny(meant.map((each) => each.hits))
      for (const [document, score] of hits.entries()) {
        if (score > 0) hits[document] = score * countOf(meant, { document })
      }
      const others = fitting(hits, (other) => other !== id && fits(other))
      return { own: hits[self]!, best: foundIn(others, meant, limit).best }
    },
    isShared(id, term) {
      const word = postings.vocabulary.numberOf(term)
      if (word === undefined) return false
      for (const { entries, from, to } of postings.entriesOf(word)) {
        for (let at = from; at < to; at += 2) {
          const other = postings.ids[entries[at]!]
          if (other !== undefined && other !== id) return true
        }
      }
      return false
    },
    pack: postings.pack,
    warmUp: () => postings.vocabulary.warmUp(),
  }
}
