/** Turns words of a query, and beginnings of words, into FTS5 expressions. */

import type { QueryTerm } from './query.ts'
import { charactersIn, plainWordsIn } from './words.ts'

/** What a query word matches: as an FTS5 expression, and as words to mark in a line. */
export interface TermMatches {
  expression: string
  words: string[]
  /** Words that begin with one of these match too. */
  prefixes: string[]
}

/** Shorter prefixes match too many words. */
const MIN_PREFIX = 3

/** Matches the word itself. A compound name matches as a whole, or by all of its parts. */
export function exactMatches(wanted: QueryTerm): TermMatches {
  return combineParts(wanted, exactly)
}

/** Matches the word, and words that begin with it. */
export function nearMatches(wanted: QueryTerm): TermMatches {
  return combineParts(wanted, (word, isPair) => {
    if (isPair || word.length < MIN_PREFIX) return exactly(word, isPair)
    return { expression: `${quoted(word)}*`, words: [word], prefixes: [word] }
  })
}

/** Matches the words of a phrase in sequence. */
export function phraseMatches(phrase: string): TermMatches {
  return { expression: quoted(plainWordsIn(phrase).join(' ')), words: [], prefixes: [] }
}

export function all(expressions: readonly string[]): string {
  return expressions.length === 1 ? expressions[0]! : `(${expressions.join(' AND ')})`
}

export function any(expressions: readonly string[]): string {
  return expressions.length === 1 ? expressions[0]! : `(${expressions.join(' OR ')})`
}

export function quoted(words: string): string {
  return `"${words.replaceAll('"', '""')}"`
}

type OneWord = (word: string, isPair: boolean) => TermMatches

function exactly(word: string, isPair: boolean): TermMatches {
  const characters = isPair ? charactersIn(word) : []
  return {
    expression: quoted(isPair ? characters.join(' ') : word),
    words: [word],
    prefixes: characters.length === 1 ? [word] : [], // the first of a pair
  }
}

function combineParts({ text, parts, isPair }: QueryTerm, one: OneWord): TermMatches {
  const own = one(text, isPair)
  if (parts.length === 0) return own
  const each = parts.map((part) => one(part, false))
  return {
    expression: any([own.expression, all(each.map(({ expression }) => expression))]),
    words: [own, ...each].flatMap(({ words }) => words),
    prefixes: [own, ...each].flatMap(({ prefixes }) => prefixes),
  }
}
