import { isCaseState } from '../model/case-state.ts'
import { Refusal } from '../model/refusal.ts'
import { isCommon, isUnspaced, wordsIn } from './words.ts'

export const FILTERS = ['state', 'type', 'tag', 'outcome'] as const
export type FilterName = (typeof FILTERS)[number]
/** By name, the values of which one must fit. */
export type Filters = Partial<Record<FilterName, string[]>>

/** A word of the query, or one of a name that is made of several. */
export interface Wanted {
  whole: string
  parts: readonly string[]
}

export interface SearchQuery {
  wanted: Wanted[]
  filters: Filters
}

export const MAX_QUERY_LENGTH = 1000
const MAX_WORDS = 32
const FILTER = new RegExp(`^(${FILTERS.join('|')}):(.*)$`, 'i')

/**
 * What is looked for: words, and filters such as `state:RESOLVED` or `tag:auth,login` among them. Any other word with a
 * colon in it is text. Refuses with `bad_request`, for a filter that cannot fit anything too.
 */
export function parseQuery(text: string): SearchQuery {
  if (text.length > MAX_QUERY_LENGTH) {
    throw wrong(`expected at most ${MAX_QUERY_LENGTH} characters; got ${text.length}`)
  }
  const filters: Filters = {}
  const words: string[] = []
  for (const each of text.split(/\s+/)) {
    const [, name, values] = FILTER.exec(each) ?? []
    if (name === undefined || values === undefined) words.push(each)
    else addFilter(filters, name.toLowerCase() as FilterName, values)
  }
  const all = wantedIn(words.join(' '))
  const told = all.filter(({ whole }) => !isCommon(whole))
  const wanted = told.length > 0 ? told : all
  if (wanted.length > MAX_WORDS) {
    throw wrong(`expected at most ${MAX_WORDS} words; got ${wanted.length}`)
  }
  if (wanted.length === 0 && (words.some((word) => word !== '') || isEmpty(filters))) {
    const came = JSON.stringify(text.slice(0, 60).toWellFormed())
    throw wrong(`expected a word to look for, or a filter such as state:OPEN; got ${came}`)
  }
  return { wanted, filters }
}

/** The words of a text, each once, in their order. */
export function wantedIn(text: string): Wanted[] {
  const wanted = new Map<string, Wanted>()
  const words = [...wordsIn(text)]
  for (const [index, { whole, parts, from }] of words.entries()) {
    // the end of a run of characters is part of the pair before it
    const isTail = isUnspaced(whole) && (words[index - 1]?.to ?? 0) > from
    if (!isTail) wanted.set(whole, { whole, parts })
  }
  return [...wanted.values()]
}

function isEmpty(filters: Filters): boolean {
  return Object.keys(filters).length === 0
}

function addFilter(filters: Filters, name: FilterName, text: string): void {
  const values = text.split(',').filter((value) => value !== '')
  if (values.length === 0) {
    throw wrong(`expected a value after "${name}:", as in ${EXAMPLES[name]}`)
  }
  const known = filters[name] ?? []
  filters[name] = [...known, ...values.map((value) => (name === 'state' ? stateOf(value) : value))]
}

/** In any case of letters; a word that is no state is left as it is, for whoever checks states. */
function stateOf(value: string): string {
  const state = value.toUpperCase()
  return isCaseState(state) ? state : value
}

const EXAMPLES: Record<FilterName, string> = {
  state: 'state:RESOLVED',
  type: 'type:bug',
  tag: 'tag:auth',
  outcome: 'outcome:ConfirmedCodeBug',
}

function wrong(message: string): Refusal {
  return new Refusal('bad_request', `q: ${message}.`, { errors: [{ path: 'q', message }] })
}
