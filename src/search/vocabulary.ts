import SearchableMap from 'minisearch/SearchableMap'
import { createSortedWords } from './sorted-words.ts'
import { isUnspaced } from './words.ts'

/** A word of the index that a word of a query may stand for. */
export interface Variant {
  term: string
  /** Its number. */
  word: number
  /** How sure it is that it is meant; 1 for the word itself. */
  weight: number
}

/** What else than the word itself is looked for. */
export interface How {
  /** Words that begin so. */
  beginnings: boolean
  /** Words that are this one but for a slip of the finger. */
  slips: boolean
}

/** All words that any case has, numbered from 0 in the order in which they came. */
export interface Vocabulary {
  readonly size: number
  /** The words by their numbers. */
  readonly words: readonly string[]
  numberOf(term: string): number | undefined
  /** The same, where the word may be a new one. */
  numbered(term: string): number
  variants(term: string, how: How): Variant[]
  /** Makes what is needed to find more than the word itself, so that no search waits for it. */
  warmUp(): void
}

/** A beginning of fewer characters says little, and very many words have it. */
const LEAST_BEGINNING = 3
const BEGINNING_WEIGHT = 0.4
const SLIP_WEIGHT = 0.25

export function createVocabulary(words: string[] = []): Vocabulary {
  const numbers = new Map(words.map((term, number) => [term, number]))
  const inOrder = createSortedWords(words)
  /** Those that a slip may have been made in, as a tree, which takes a while to make. */
  let tree: SearchableMap<number> | null = null

  function slipTree(): SearchableMap<number> {
    if (tree) return tree
    tree = new SearchableMap<number>()
    for (const [term, word] of numbers) if (mayBeMeant(term)) tree.set(term, word)
    return tree
  }

  function* beginningWith(term: string): Iterable<Variant> {
    for (const longer of inOrder.beginningWith(term)) {
      const more = longer.length - term.length
      const weight = (BEGINNING_WEIGHT * longer.length) / (longer.length + 0.3 * more)
      yield { term: longer, word: numbers.get(longer)!, weight }
    }
  }

  function* withSlips(term: string): Iterable<Variant> {
    const most = mostSlips(term)
    if (most === 0) return
    for (const swapped of withTwoSwapped(term)) {
      const word = numbers.get(swapped)
      if (word !== undefined) yield { term: swapped, word, weight: slipWeight(term, 1) }
    }
    for (const [near, [word, slips]] of slipTree().fuzzyGet(term, most)) {
      yield { term: near, word, weight: slipWeight(near, slips) }
    }
  }

  return {
    get size() {
      return words.length
    },
    words,
    numberOf: (term) => numbers.get(term),
    numbered(term) {
      const known = numbers.get(term)
      if (known !== undefined) return known
      const word = words.push(term) - 1
      numbers.set(term, word)
      if (tree && mayBeMeant(term)) tree.set(term, word)
      return word
    },
    warmUp() {
      slipTree()
      inOrder.sort()
    },
    variants(term, { beginnings, slips }) {
      const found = new Map<number, Variant>()
      const own = numbers.get(term)
      if (own !== undefined) found.set(own, { term, word: own, weight: 1 })
      const add = (variants: Iterable<Variant>) => {
        for (const each of variants) if (!found.has(each.word)) found.set(each.word, each)
      }
      // a single character is the first of each pair, but where it ends a run
      if (isUnspaced(term) || (beginnings && term.length >= LEAST_BEGINNING)) {
        add(beginningWith(term))
      }
      if (slips) add(withSlips(term))
      return [...found.values()]
    },
  }
}

/** Names that are made of several are found by their parts; most others are numbers, keys and hashes. */
function mayBeMeant(term: string): boolean {
  return term.length >= 3 && term.length <= 32 && !/[\p{N}._-]/u.test(term)
}

/** How many slips of the finger a word may have. Another number is no slip, but another thing. */
function mostSlips(term: string): number {
  if (term.length < 4 || /\p{N}/u.test(term)) return 0
  return term.length < 8 ? 1 : 2
}

function slipWeight(term: string, slips: number): number {
  return (SLIP_WEIGHT * term.length) / (term.length + slips)
}

/** Two letters that changed places are one slip, which as letters that are wrong would be two. */
function* withTwoSwapped(term: string): Iterable<string> {
  const letters = [...term]
  for (let at = 1; at < letters.length; at++) {
    if (letters[at - 1] === letters[at]) continue
    yield letters
      .with(at - 1, letters[at]!)
      .with(at, letters[at - 1]!)
      .join('')
  }
}
