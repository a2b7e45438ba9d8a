import { setImmediate } from 'node:timers/promises'
import type { SearchTables } from '../state/search-tables.ts'

/** The words of all cases in which a slip of the finger is looked for. Loaded when first asked for. */
export interface Vocabulary {
  load(): Promise<void>
  /** Words of a case that was indexed just now. */
  add(words: Iterable<string>): void
  /** The words that this one may be meant for, those with fewer slips first; `load` comes before. */
  near(word: string): string[]
}

/** Words that came since the list was loaded; with more it is loaded again. */
const MOST_RECENT = 5000
const CHUNK = 4000
const MOST_NEAR = 20

export function createVocabulary(tables: Pick<SearchTables, 'vocabulary'>): Vocabulary {
  /** All words of a length one behind the other: a tenth of the memory of a list, and looked through at once. */
  let byLength: Map<number, string> | null = null
  let loading: Promise<void> | null = null
  let recent = new Set<string>()

  async function loadAll(): Promise<void> {
    const lists = new Map<number, string[]>()
    recent = new Set()
    for (let last = ''; ; ) {
      const words = tables.vocabulary(last, CHUNK)
      for (const word of words) {
        if (!mayBeMeant(word)) continue
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

  /** Of a word that differs in `most` letters, one of `most + 1` pieces is as it was, near its place. */
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
      if (byLength && recent.size <= MOST_RECENT) return
      loading ??= loadAll().finally(() => {
        loading = null
      })
      await loading
    },
    add(words) {
      if (!byLength && !loading) return
      for (const word of words) if (mayBeMeant(word) && !has(word)) recent.add(word)
    },
    near(word) {
      const most = mostSlips(word)
      if (most === 0) return []
      const found = new Map<string, number>()
      for (const swapped of withTwoSwapped(word)) if (has(swapped)) found.set(swapped, 1)
      for (const each of candidates(word, most)) {
        if (found.has(each)) continue
        const count = distance(word, each, most)
        if (count > 0 && count <= most) found.set(each, count)
      }
      const sorted = [...found].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
      return sorted.slice(0, MOST_NEAR).map(([each]) => each)
    },
  }
}

/** Names that are made of several are found by their parts; most others are numbers, keys and hashes. */
function mayBeMeant(word: string): boolean {
  return word.length >= 3 && word.length <= 32 && !/[\p{N}._-]/u.test(word)
}

/** How many slips of the finger a word may have. Another number is not a slip, but another thing. */
function mostSlips(word: string): number {
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

/** Two letters that changed places are one slip; as wrong letters they would be two. */
function* withTwoSwapped(word: string): Iterable<string> {
  const letters = [...word]
  for (let at = 1; at < letters.length; at++) {
    if (letters[at - 1] === letters[at]) continue
    const swapped = letters.with(at - 1, letters[at]!).with(at, letters[at - 1]!)
    yield swapped.join('')
  }
}

/** How many letters are wrong, missing or additional (Levenshtein); more than `most` where that is all that counts. */
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
