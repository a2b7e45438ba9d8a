import { createVocabulary, type Vocabulary } from './vocabulary.ts'

/**
 * Which documents have which words, in which fields, and how often. Documents are numbered in the order in which they
 * came; one that comes again is a new one. `entries` are pairs: the number of the document, and the times that it
 * has the word, of which the three low bits are the field. Those of a document stand together, and the documents of
 * a word ascend: first those that were packed, then those that came since.
 */
export interface Postings {
  readonly vocabulary: Vocabulary
  /** How many documents are there. */
  readonly size: number
  put(id: string, fields: readonly (readonly string[])[]): void
  remove(id: string): void
  /** By the number of the document; undefined where it is gone. */
  readonly ids: readonly (string | undefined)[]
  numberOf(id: string): number | undefined
  /** The lists of entries that a word has, each with where it begins and ends there. Documents that are gone are among them. */
  entriesOf(word: number): Iterable<EntryList>
  /** The fields of a document that have the word. */
  fieldsOf(document: number, word: number): number[]
  /** How many different words there are, for each document, for each field. */
  readonly lengths: readonly number[]
  averageLength(field: number): number
  /** What is kept for the next time: nothing of what was removed or replaced is in it. */
  pack(): PackedPostings
}

export interface EntryList {
  entries: ArrayLike<number>
  from: number
  to: number
}

export interface PackedPostings {
  /** Joined by line feeds, as UTF-8. */
  words: Uint8Array
  ids: string[]
  /** For each document, for each field. */
  lengths: Uint32Array
  entries: Uint32Array
  /** For each word, where its entries end. */
  ends: Uint32Array
}

export const FIELD_BITS = 3
export const FIELD_MASK = (1 << FIELD_BITS) - 1
const MOST_TIMES = 1 << 20
/** So many documents that are gone, beside half of all, are worth the time to be left out. */
const WORTH_PACKING = 1000

const NOTHING: PackedPostings = {
  ...{ words: new Uint8Array(), ids: [], lengths: new Uint32Array() },
  ...{ entries: new Uint32Array(), ends: new Uint32Array() },
}

function wordsOf({ words }: PackedPostings): string[] {
  const text = Buffer.from(words.buffer, words.byteOffset, words.length).toString()
  return text === '' ? [] : text.split('\n')
}

/** `packed` is what `pack` gave before. */
export function createPostings(fields: number, packed?: PackedPostings): Postings {
  let vocabulary: Vocabulary
  let ids: (string | undefined)[]
  let numbers: Map<string, number>
  let lengths: number[]
  let totals: number[]
  let base: Pick<PackedPostings, 'entries' | 'ends'>
  /** What came since, by word. */
  let added: Map<number, number[]>
  take(packed ?? NOTHING, createVocabulary(wordsOf(packed ?? NOTHING)))

  function take(
    { ids: all, lengths: each, entries, ends }: Omit<PackedPostings, 'words'>,
    words: Vocabulary,
  ): void {
    vocabulary = words
    ids = [...all]
    numbers = new Map(all.map((id, document) => [id, document]))
    lengths = [...each]
    totals = new Array<number>(fields).fill(0)
    for (const [index, length] of lengths.entries()) totals[index % fields]! += length
    base = { entries, ends }
    added = new Map()
  }

  function* entriesOf(word: number): Iterable<EntryList> {
    const to = base.ends[word]
    if (to !== undefined) {
      yield { entries: base.entries, from: word === 0 ? 0 : base.ends[word - 1]!, to }
    }
    const since = added.get(word)
    if (since) yield { entries: since, from: 0, to: since.length }
  }

  const isThere = (document: number) => ids[document] !== undefined

  function remove(id: string): void {
    const document = numbers.get(id)
    if (document === undefined) return
    numbers.delete(id)
    ids[document] = undefined
    for (let field = 0; field < fields; field++) {
      totals[field]! -= lengths[document * fields + field]!
    }
    if (ids.length - numbers.size > WORTH_PACKING + ids.length / 2) pack()
  }

  function pack(): PackedPostings {
    const renumbered = new Int32Array(ids.length).fill(-1)
    const living: string[] = []
    for (const [document, id] of ids.entries()) {
      if (id !== undefined) renumbered[document] = living.push(id) - 1
    }
    let most = base.entries.length
    for (const list of added.values()) most += list.length
    const entries = new Uint32Array(most)
    const words: string[] = []
    const ends: number[] = []
    const allEnds = new Uint32Array(vocabulary.size)
    let end = 0
    for (const [word, term] of vocabulary.words.entries()) {
      const before = end
      for (const list of entriesOf(word)) {
        for (let at = list.from; at < list.to; at += 2) {
          const document = renumbered[list.entries[at]!]!
          if (document === -1) continue
          entries[end++] = document
          entries[end++] = list.entries[at + 1]!
        }
      }
      allEnds[word] = end
      if (end === before) continue
      words.push(term)
      ends.push(end)
    }
    const packed = {
      words: Buffer.from(words.join('\n')),
      ids: living,
      lengths: Uint32Array.from(lengths.filter((_, index) => isThere(Math.floor(index / fields)))),
      entries: entries.slice(0, end),
      ends: Uint32Array.from(ends),
    }
    // its tree takes a second to be made again: words that nobody has any more may stay in memory for a while
    if (words.length > vocabulary.size / 2) take({ ...packed, ends: allEnds }, vocabulary)
    else take(packed, createVocabulary(words))
    return packed
  }

  return {
    get vocabulary() {
      return vocabulary
    },
    get size() {
      return numbers.size
    },
    get ids() {
      return ids
    },
    get lengths() {
      return lengths
    },
    put(id, texts) {
      remove(id)
      const document = ids.push(id) - 1
      numbers.set(id, document)
      for (const [field, terms] of texts.entries()) {
        const times = new Map<string, number>()
        for (const term of terms) times.set(term, (times.get(term) ?? 0) + 1)
        lengths.push(times.size)
        totals[field]! += times.size
        for (const [term, count] of times) {
          const word = vocabulary.numbered(term)
          const entry = (Math.min(count, MOST_TIMES) << FIELD_BITS) | field
          const list = added.get(word)
          if (list) list.push(document, entry)
          else added.set(word, [document, entry])
        }
      }
    },
    remove,
    numberOf: (id) => numbers.get(id),
    entriesOf,
    fieldsOf: (document, word) => [...entriesOf(word)].flatMap((list) => fieldsIn(list, document)),
    averageLength: (field) => totals[field]! / numbers.size,
    pack,
  }
}

function fieldsIn({ entries, from, to }: EntryList, document: number): number[] {
  let [low, high] = [from / 2, to / 2]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[2 * middle]! < document) low = middle + 1
    else high = middle
  }
  const fields: number[] = []
  for (let at = 2 * low; at < to && entries[at] === document; at += 2) {
    fields.push(entries[at + 1]! & FIELD_MASK)
  }
  return fields
}
