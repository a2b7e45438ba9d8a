/** Turns words of a query into FTS5 expressions, with their typos and beginnings. */

import type { Wanted } from './query.ts'
import { charactersIn, plainWordsIn } from './words.ts'

/** What a word of the query stands for: as an expression of FTS5, and as the words of a line that match. */
export interface Meaning {
  expression: string
  words: string[]
  /** Words that begin with one of these match too. */
  beginnings: string[]
}

/** A shorter beginning says little, and very many words have it. */
const LEAST_BEGINNING = 3

/** The word itself. A name that is made of several is found whole, or by all of its parts. */
export function exactMeaning(wanted: Wanted): Meaning {
  return meaning(wanted, exactly)
}

/** The word, words that begin with it, and what `typos` knows of words that it may be a slip of. */
export function nearMeaning(wanted: Wanted, typos: (word: string) => string[]): Meaning {
  return meaning(wanted, (word) => {
    if (wanted.isPair) return exactly(word, true)
    const slips = typos(word)
    const isBeginning = word.length >= LEAST_BEGINNING
    const alternatives = [quoted(word) + (isBeginning ? '*' : ''), ...slips.map(quoted)]
    return {
      expression: any(alternatives),
      words: [word, ...slips],
      beginnings: isBeginning ? [word] : [],
    }
  })
}

/** Its words one after the other. */
export function phraseMeaning(phrase: string): Meaning {
  return { expression: quoted(plainWordsIn(phrase).join(' ')), words: [], beginnings: [] }
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

type OneWord = (word: string, isPair: boolean) => Meaning

function exactly(word: string, isPair: boolean): Meaning {
  const characters = isPair ? charactersIn(word) : []
  return {
    expression: quoted(isPair ? characters.join(' ') : word),
    words: [word],
    beginnings: characters.length === 1 ? [word] : [], // the first of a pair
  }
}

function meaning({ whole, parts, isPair }: Wanted, one: OneWord): Meaning {
  const own = one(whole, isPair)
  if (parts.length === 0) return own
  const each = parts.map((part) => one(part, false))
  return {
    expression: any([own.expression, all(each.map(({ expression }) => expression))]),
    words: [own, ...each].flatMap(({ words }) => words),
    beginnings: [own, ...each].flatMap(({ beginnings }) => beginnings),
  }
}
