/** Parses the query language: words, phrases in quotes, filters such as `state:OPEN`. */

import { AppError } from '../model/app-error.ts'
import {
  FILTER_NAMES,
  FILTERED,
  type FilteredField,
  type FilterName,
} from '../model/case-fields.ts'
import { isCaseState } from '../model/case-state.ts'
import type { TriageRow } from '../model/triage-row.ts'
import { isCommon, plainWordsIn, wordsIn } from './words.ts'

/** Accepted values by filter name; a case needs one of them. */
export type Filters = Partial<Record<FilterName, string[]>>

/** The values of a case that filters compare, and the title and time that the index stores. */
export type CaseSummary = Readonly<Pick<TriageRow, 'title' | FilteredField | 'updated_at'>>

/** A word of the query, or a compound name such as `foo_bar` with its parts. */
export interface QueryTerm {
  text: string
  parts: readonly string[]
  /** True for one or two characters of a script without spaces. */
  isPair: boolean
}

export interface SearchQuery {
  /** The words outside of quotation marks; without common words such as `the`, if there are others. */
  terms: QueryTerm[]
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
  const words: string[] = []
  const quotedTexts: string[] = []
  for (const [piece] of text.replace(/[“”„]/g, '"').matchAll(PIECE)) {
    const [, name, values] = FILTER.exec(piece) ?? []
    if (name !== undefined && values !== undefined) {
      addFilter(filters, name.toLowerCase() as FilterName, values)
    } else {
      words.push(piece)
      if (piece.startsWith('"')) quotedTexts.push(piece.slice(1, -1))
    }
  }
  const phrases = quotedTexts.filter((text) => plainWordsIn(text).length > 0)
  const allTerms = parseTerms(words.join(' '))
  const unquoted = parseTerms(words.filter((piece) => !piece.startsWith('"')).join(' '))
  const rareTerms = unquoted.filter(({ text }) => !isCommon(text))
  const terms = rareTerms.length > 0 || phrases.length > 0 ? rareTerms : unquoted
  const count = allTerms.filter(({ text, isPair }) => !isPair && !isCommon(text)).length
  if (count > MAX_WORDS) throw queryError(`expected at most ${MAX_WORDS} words; got ${count}`)
  const isEmpty = terms.length === 0 && phrases.length === 0
  if (isEmpty && (words.length > 0 || Object.keys(filters).length === 0)) {
    const quoted = JSON.stringify(text.slice(0, 60).toWellFormed())
    throw queryError(`expected a word to look for, or a filter such as state:OPEN; got ${quoted}`)
  }
  const pasted = allTerms.length < MIN_PASTED_WORDS ? '' : words.join(' ')
  return { terms, phrases, pasted, filters }
}

/** Splits a text into query terms, each once, in order. */
export function parseTerms(text: string): QueryTerm[] {
  const terms = new Map<string, QueryTerm>()
  const words = [...wordsIn(text)]
  for (const [index, { whole, parts, isPair, to }] of words.entries()) {
    // the last character alone is already part of the pair before it
    const isTail = words[index - 1]?.to === to
    if (!isTail) terms.set(whole, { text: whole, parts, isPair })
  }
  return [...terms.values()]
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
