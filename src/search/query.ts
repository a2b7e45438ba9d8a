/** Parses the query language: words, phrases in quotes, filters such as `state:OPEN`. */

import { AppError } from '../model/app-error.ts'
import { FILTER_NAMES, FILTERED, type FilterName } from '../model/case-fields.ts'
import { isCaseState } from '../model/case-state.ts'
import { separated, UNSPACED } from './indexed-text.ts'

/** Accepted values by filter name; a case needs one of them. */
export type Filters = Partial<Record<FilterName, string[]>>

export interface SearchQuery {
  /** The words outside of quotation marks; without common words such as `the`, if there are others. */
  words: string[]
  /** The texts in quotation marks. */
  phrases: string[]
  /** The whole query if it is long enough to be pasted text, which ranks cases that contain it first; else empty. */
  pasted: string
  filters: Filters
}

export const MAX_QUERY_LENGTH = 1000
/** For words separated by spaces. Scripts without spaces are searched by pairs of characters. */
const MAX_WORDS = 32
const MIN_PASTED_WORDS = 3
/** Shorter beginnings match too many words. */
const MIN_BEGINNING = 3
const START = String.raw`[[\p{L}\p{N}]--[${UNSPACED}]]`
const LETTER = String.raw`[[\p{L}\p{N}\p{M}]--[${UNSPACED}]]`
/** Letters and digits, joined by `.`, `_` and `-`; or a run of a script without blanks. */
const WORD = new RegExp(
  `[${UNSPACED}][${UNSPACED}\\p{M}]*|${START}${LETTER}*(?:[._\\-]+${LETTER}+)*`,
  'gv',
)
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'v')
/** With the vowels and other marks behind it. */
const CHARACTER = /.\p{M}*/gsu
/** Words that a query ignores if it has others. */
const COMMON = new Set(
  'a an and are as at be but by do for from has have i if in into is it its no not of on or so that the then there this to was we when with you'.split(
    ' ',
  ),
)
const NAMES = FILTER_NAMES.join('|')
const FILTER = new RegExp(`^(${NAMES}):(.*)$`, 'is')
/** A filter, whose values may be in quotation marks; a phrase in quotation marks; or a word. */
const PIECE = new RegExp(`(?<!\\S)(?:${NAMES}):(?:"[^"]*"|[^\\s"]+)+|"[^"]*"|[^\\s"]+`, 'gi')

/**
 * Parses words, phrases in quotation marks, and filters such as `state:RESOLVED` or `tag:auth,login`. Another word
 * with a colon is text, and so is text after an unclosed quotation mark. Throws `bad_request`, also for a filter that
 * cannot match anything.
 */
export function parseQuery(text: string): SearchQuery {
  if (text.length > MAX_QUERY_LENGTH) {
    throw queryError(`expected at most ${MAX_QUERY_LENGTH} characters; got ${text.length}`)
  }
  const filters: Filters = {}
  const pieces: string[] = []
  const quotedTexts: string[] = []
  for (const [piece] of text.replace(/[“”„]/g, '"').matchAll(PIECE)) {
    const [, name, values] = FILTER.exec(piece) ?? []
    if (name !== undefined && values !== undefined) {
      addFilter(filters, name.toLowerCase() as FilterName, values)
    } else {
      pieces.push(piece)
      if (piece.startsWith('"')) quotedTexts.push(piece.slice(1, -1))
    }
  }
  const phrases = quotedTexts.filter((text) => wordsIn(text).length > 0)
  const allWords = wordsIn(pieces.join(' '))
  const unquoted = wordsIn(pieces.filter((piece) => !piece.startsWith('"')).join(' '))
  const rareWords = unquoted.filter((word) => !isCommon(word))
  const words = rareWords.length > 0 || phrases.length > 0 ? rareWords : unquoted
  const count = allWords.filter((word) => !isUnspaced(word) && !isCommon(word)).length
  if (count > MAX_WORDS) throw queryError(`expected at most ${MAX_WORDS} words; got ${count}`)
  const isEmpty = words.length === 0 && phrases.length === 0
  if (isEmpty && (pieces.length > 0 || Object.keys(filters).length === 0)) {
    const quoted = JSON.stringify(text.slice(0, 60).toWellFormed())
    throw queryError(`expected a word to look for, or a filter such as state:OPEN; got ${quoted}`)
  }
  const isPasted = unquoted.length > 0 && allWords.length >= MIN_PASTED_WORDS
  return { words, phrases, pasted: isPasted ? pieces.join(' ') : '', filters }
}

/** Returns the words of a text, each once, in order. Of a script without blanks, each pair of characters is a word. */
export function wordsIn(text: string): string[] {
  const words = text
    .toLowerCase()
    .normalize()
    .match(WORD)
    ?.flatMap((word) => {
      const characters = isUnspaced(word) ? word.match(CHARACTER)! : []
      if (characters.length < 2) return word
      return characters.slice(1).map((second, index) => characters[index] + second)
    })
  return [...new Set(words)]
}

export function isCommon(word: string): boolean {
  return COMMON.has(word) || /^[a-z]$/.test(word)
}

function isUnspaced(word: string): boolean {
  return STARTS_UNSPACED.test(word)
}

/** The FTS5 expression for texts with this word, or, from three letters, one that begins with it. */
export function wordExpression(word: string): string {
  const isBeginning = word.length >= MIN_BEGINNING && !isUnspaced(word)
  return `${phraseExpression(word)}${isBeginning ? '*' : ''}`
}

/** The FTS5 expression for texts with these words in sequence. */
export function phraseExpression(phrase: string): string {
  return `"${separated(phrase).replace(/["\0]/g, ' ')}"`
}

/**
 * Adds comma-separated values to a filter. Rejects spaces, because no value has any: people know
 * `label:"good first issue"` from other tools.
 */
function addFilter(filters: Filters, name: FilterName, text: string): void {
  const values = text
    .replaceAll('"', '')
    .split(',')
    .filter((value) => value !== '')
  if (values.length === 0) {
    throw queryError(`expected a value after "${name}:", as in ${filterExample(name)}`)
  }
  if (/\s/.test(text)) {
    throw queryError(
      `expected a value without spaces after "${name}:", as in ${filterExample(name)}`,
    )
  }
  const known = filters[name] ?? []
  filters[name] = [
    ...known,
    ...values.map((value) => (name === 'state' ? parseState(value) : value)),
  ]
}

/** Ignores upper and lower case. An unknown state is returned unchanged; the caller checks states. */
function parseState(value: string): string {
  const state = value.toUpperCase()
  return isCaseState(state) ? state : value
}

function filterExample(name: FilterName): string {
  return `${name}:${FILTERED.find(({ filter }) => filter === name)!.example}`
}

function queryError(message: string): AppError {
  return new AppError('bad_request', `q: ${message}.`, { errors: [{ path: 'q', message }] })
}
