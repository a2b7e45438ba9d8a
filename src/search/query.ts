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

/** By name, the values of which one must fit. */
export type Filters = Partial<Record<FilterName, string[]>>

/** What decides whether a case fits a filter, where it is among others, and how it is shown when it is found. */
export type CaseSummary = Readonly<Pick<TriageRow, 'title' | FilteredField | 'updated_at'>>

/** A word of the query, or a name that is made of several. */
export interface Wanted {
  whole: string
  parts: readonly string[]
  isPair: boolean
}

export interface SearchQuery {
  /** The words outside of quotation marks. */
  wanted: Wanted[]
  /** The texts in quotation marks, each with its words one after the other. */
  phrases: string[]
  /** The whole text, if it has so many words that a case which has them like this is meant; empty otherwise. */
  pasted: string
  filters: Filters
}

export const MAX_QUERY_LENGTH = 1000
/** Of those that have blanks between them: of others each pair of characters is looked for. */
const MAX_WORDS = 32
const LEAST_PASTED = 3
const NAMES = FILTER_NAMES.join('|')
const FILTER = new RegExp(`^(${NAMES}):(.*)$`, 'is')
/** A filter, whose values may be in quotation marks; what is in them; or a word. */
const PIECE = new RegExp(`(?<!\\S)(?:${NAMES}):(?:"[^"]*"|[^\\s"]+)+|"[^"]*"|[^\\s"]+`, 'gi')

/**
 * What is looked for: words, phrases in quotation marks, and filters such as `state:RESOLVED` or `tag:auth,login` among
 * them. Any other word with a colon in it is text, and so is what follows a mark that no other one ends. Refuses with
 * `bad_request`, for a filter that cannot fit anything too.
 */
export function parseQuery(text: string): SearchQuery {
  if (text.length > MAX_QUERY_LENGTH) {
    throw wrong(`expected at most ${MAX_QUERY_LENGTH} characters; got ${text.length}`)
  }
  const filters: Filters = {}
  const words: string[] = []
  const quoted: string[] = []
  for (const [piece] of text.replace(/[“”„]/g, '"').matchAll(PIECE)) {
    const [, name, values] = FILTER.exec(piece) ?? []
    if (name !== undefined && values !== undefined) {
      addFilter(filters, name.toLowerCase() as FilterName, values)
    } else {
      words.push(piece)
      if (piece.startsWith('"')) quoted.push(piece.slice(1, -1))
    }
  }
  const phrases = quoted.filter((text) => plainWordsIn(text).length > 0)
  const all = wantedIn(words.join(' '))
  const unquoted = wantedIn(words.filter((piece) => !piece.startsWith('"')).join(' '))
  const telling = unquoted.filter(({ whole }) => !isCommon(whole))
  const wanted = telling.length > 0 || phrases.length > 0 ? telling : unquoted
  const count = all.filter(({ whole, isPair }) => !isPair && !isCommon(whole)).length
  if (count > MAX_WORDS) throw wrong(`expected at most ${MAX_WORDS} words; got ${count}`)
  const isEmpty = wanted.length === 0 && phrases.length === 0
  if (isEmpty && (words.length > 0 || Object.keys(filters).length === 0)) {
    const came = JSON.stringify(text.slice(0, 60).toWellFormed())
    throw wrong(`expected a word to look for, or a filter such as state:OPEN; got ${came}`)
  }
  const pasted = all.length < LEAST_PASTED ? '' : words.join(' ')
  return { wanted, phrases, pasted, filters }
}

/** The words of a text, each once, in their order. */
export function wantedIn(text: string): Wanted[] {
  const wanted = new Map<string, Wanted>()
  const words = [...wordsIn(text)]
  for (const [index, { whole, parts, isPair, to }] of words.entries()) {
    // the last character of a run is the end of the pair before it too
    const isTail = words[index - 1]?.to === to
    if (!isTail) wanted.set(whole, { whole, parts, isPair })
  }
  return [...wanted.values()]
}

/** No value has quotes or blanks; elsewhere people write both, as in `label:"good first issue"`. */
function addFilter(filters: Filters, name: FilterName, text: string): void {
  const values = text
    .replaceAll('"', '')
    .split(',')
    .filter((value) => value !== '')
  if (values.length === 0) {
    throw wrong(`expected a value after "${name}:", as in ${exampleOf(name)}`)
  }
  if (/\s/.test(text)) {
    throw wrong(`expected a value without blanks after "${name}:", as in ${exampleOf(name)}`)
  }
  const known = filters[name] ?? []
  filters[name] = [...known, ...values.map((value) => (name === 'state' ? stateOf(value) : value))]
}

/** In any case of letters; a word that is no state is left as it is: the states are checked later. */
function stateOf(value: string): string {
  const state = value.toUpperCase()
  return isCaseState(state) ? state : value
}

function exampleOf(name: FilterName): string {
  return `${name}:${FILTERED.find(({ filter }) => filter === name)!.example}`
}

function wrong(message: string): AppError {
  return new AppError('bad_request', `q: ${message}.`, { errors: [{ path: 'q', message }] })
}
