import { FIELD_BITS, FIELD_MASK, type Postings } from './postings.ts'
import type { Variant } from './vocabulary.ts'

/** The score of each document by its number, 0 for those that were not found: thousands may be, and a map would take ten times as long. */
export type Hits = Float64Array

/** Of BM25+: how soon more of the same word count no more, how much a long text counts less, what any match is worth. */
const [K, B, DELTA] = [1.2, 0.7, 0.5]

/** The documents with some of these words, by BM25+; `boosts`: what a match in each field counts. */
export function hitsOf(
  postings: Postings,
  variants: readonly Variant[],
  boosts: readonly number[],
): Hits {
  const { ids, lengths } = postings
  const fields = boosts.length
  const hits = new Float64Array(ids.length)
  const averages = boosts.map((_, field) => postings.averageLength(field))
  for (const { word, weight } of variants) {
    const value = weight * rarity(postings, word)
    for (const { entries, from, to } of postings.entriesOf(word)) {
      for (let at = from; at < to; at += 2) {
        const document = entries[at]!
        if (ids[document] === undefined) continue
        const [field, times] = [entries[at + 1]! & FIELD_MASK, entries[at + 1]! >> FIELD_BITS]
        const length = lengths[document * fields + field]! / averages[field]!
        const often = (times * (K + 1)) / (times + K * (1 - B + B * length))
        hits[document]! += value * boosts[field]! * (DELTA + often)
      }
    }
  }
  return hits
}

/** The fewer documents have a word, the more it tells: their inverse frequency, as BM25 has it. */
function rarity({ ids, size, entriesOf }: Postings, word: number): number {
  let count = 0
  let last = -1
  for (const { entries, from, to } of entriesOf(word)) {
    for (let at = from; at < to; at += 2) {
      const document = entries[at]!
      if (document === last || ids[document] === undefined) continue
      last = document
      count++
    }
  }
  return Math.log(1 + (size - count + 0.5) / (count + 0.5))
}

/** Those that are in each; there is at least one. */
export function inAll(all: readonly Hits[]): Hits {
  const [first, ...others] = all as [Hits, ...Hits[]]
  const hits = Float64Array.from(first)
  for (const each of others) {
    for (let document = 0; document < hits.length; document++) {
      const [one, other] = [hits[document]!, each[document]!]
      hits[document] = one > 0 && other > 0 ? one + other : 0
    }
  }
  return hits
}

/** Those that are in some of at least one. */
export function inAny(all: readonly Hits[]): Hits {
  const [first, ...others] = all as [Hits, ...Hits[]]
  const hits = Float64Array.from(first)
  for (const each of others) {
    for (let document = 0; document < hits.length; document++) hits[document]! += each[document]!
  }
  return hits
}

export function countIn(hits: Hits): number {
  let count = 0
  for (const score of hits) if (score > 0) count++
  return count
}

/** The first `count` in this order; quicker than to sort thousands. */
export function firstOf<T>(all: Iterable<T>, count: number, compare: (a: T, b: T) => number): T[] {
  let first: T[] = []
  let last: T | undefined
  for (const each of all) {
    if (last !== undefined && compare(each, last) >= 0) continue
    first.push(each)
    if (first.length < 2 * count) continue
    first = first.sort(compare).slice(0, count)
    last = first.at(-1)
  }
  return first.sort(compare).slice(0, count)
}
