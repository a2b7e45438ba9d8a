import { setImmediate } from 'node:timers/promises'
import type { SearchTables } from '../state/search-tables.ts'

/** All words of the cases, for correcting typos in queries. Loaded on first use. */
export interface Vocabulary {
  load(): Promise<void>
  /** Adds words of a case that was just indexed. */
  add(words: Iterable<string>): void
  /** Returns words that `word` may be a typo of, those with fewer typos first. Call `load` before. */
  near(word: string): string[]
}

/** After so many new words the list is loaded again. */
const MAX_RECENT = 5000
const CHUNK = 4000
const MAX_NEAR = 20

export function createVocabulary(tables: Pick<SearchTables, 'vocabulary'>): Vocabulary {
  /** All words of one length, concatenated: uses a tenth of the memory of an array, and `indexOf` searches it. */
  let byLength: Map<number, string> | null = null
  let loading: Promise<void> | null = null
  let recent = new Set<string>()

  async function loadAll(): Promise<void> {
    const lists = new Map<number, string[]>()
    recent = new Set()
    for (let last = ''; ; ) {
      const words = tables.vocabulary(last, CHUNK)
      for (const word of words) {
        if (!isCorrectable(word)) continue
        const list = lists.get(word.length)
        if (list) list.push(word)
        else lists.set(word.length, [word])
      }
      if (words.length < CHUNK) break
      last = words.at(-1)!
      await setImmediate()
    }
    byLength = new Map([...lists].map(([length, words]) => [length, words.join('')]))
  }

  function has(word: string): boolean {
    if (recent.has(word)) return true
    const words = byLength?.get(word.length) ?? ''
    let at = words.indexOf(word)
    while (at !== -1 && at % word.length !== 0) at = words.indexOf(word, at + 1)
    return at !== -1
  }

  /**
   * Yields words that may differ from `word` in at most `most` letters: if a word is cut into `most + 1` pieces, at
   * least one piece is unchanged and near its position.
   */
  function* candidates(word: string, most: number): Iterable<string> {
    for (const each of recent) if (Math.abs(each.length - word.length) <= most) yield each
    for (let length = word.length - most; length <= word.length + most; length++) {
      const words = byLength?.get(length) ?? ''
      for (const { piece, from } of piecesOf(word, most + 1)) {
        for (let at = words.indexOf(piece); at !== -1; at = words.indexOf(piece, at + 1)) {
          const column = at % length
          if (Math.abs(column - from) > most || column + piece.length > length) continue
          yield words.slice(at - column, at - column + length)
        }
      }
    }
  }

  return {
    async load() {
      if (byLength && recent.size <= MAX_RECENT) return
      loading ??= loadAll().finally(() => {
        loading = null
      })
      await loading
    },
    add(words) {
      if (!byLength && !loading) return
      for (const word of words) if (isCorrectable(word) && !has(word)) recent.add(word)
    },
    near(word) {
      const most = maxTypos(word)
      if (most === 0) return []
      const found = new Map<string, number>()
      for (const swapped of swapNeighbours(word)) if (has(swapped)) found.set(swapped, 1)
      for (const each of candidates(word, most)) {
        if (found.has(each)) continue
        const count = distance(word, each, most)
        if (count > 0 && count <= most) found.set(each, count)
      }
      const sorted = [...found].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
      return sorted.slice(0, MAX_NEAR).map(([each]) => each)
    },
  }
}

/** Excludes compound names, which are found by their parts, and numbers, keys and hashes. */
function isCorrectable(word: string): boolean {
  return word.length >= 3 && word.length <= 32 && !/[\p{N}._-]/u.test(word)
}

/** How many typos a word may have. A different number is not a typo. */
function maxTypos(word: string): number {
  if (word.length < 4 || /\p{N}/u.test(word)) return 0
  return word.length < 8 ? 1 : 2
}

function piecesOf(word: string, count: number): { piece: string; from: number }[] {
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * word.length) / count)
    const to = Math.floor(((index + 1) * word.length) / count)
    return { piece: word.slice(from, to), from }
  })
}

/** Yields the word with two neighbouring letters swapped. That is one typo, but the edit distance counts two. */
function* swapNeighbours(word: string): Iterable<string> {
  const letters = [...word]
  for (let at = 1; at < letters.length; at++) {
    if (letters[at - 1] === letters[at]) continue
    const swapped = letters.with(at - 1, letters[at]!).with(at, letters[at - 1]!)
    yield swapped.join('')
  }
}

/** Levenshtein distance; any number above `most` if it is larger than `most`. */
function distance(a: string, b: string, most: number): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let at = 0; at < a.length; at++) {
    const next = [at + 1]
    for (let other = 0; other < b.length; other++) {
      const same = a[at] === b[other] ? 0 : 1
      next.push(Math.min(row[other]! + same, row[other + 1]! + 1, next[other]! + 1))
    }
    if (Math.min(...next) > most) return most + 1
    row = next
  }
  return row.at(-1)!
}
