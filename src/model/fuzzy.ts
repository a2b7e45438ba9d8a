/**
 * How well a text fits what somebody types into a search box: each word has to be in the text as a whole or as letters
 * in this order, so `lgn` fits "login". Higher is better; null if it does not fit. An empty query fits everything.
 */
export function fuzzyScore(query: string, text: string): number | null {
  const lower = text.toLowerCase()
  let score = 0
  for (const word of query.toLowerCase().split(/\s+/)) {
    if (word === '') continue
    const found = wordScore(word, lower)
    if (found === null) return null
    score += found
  }
  // of two that fit equally well, the shorter one is meant
  return score - lower.length / 1000
}

/** Words of a question that say nothing of what it is about. */
const EMPTY_WORDS = new Set(
  'a an and are be can do does for from how i in is it my of on or the this to what when where which who why will with you'.split(
    ' ',
  ),
)

/**
 * The same for a whole question: how many of its words are in the text, or begin a word of it or are begun by one. It is
 * lower than that of any text that fits; null if none is there.
 */
export function questionScore(query: string, text: string): number | null {
  const asked = wordsOf(query).filter((word) => !EMPTY_WORDS.has(word))
  const there = wordsOf(text).filter((word) => !EMPTY_WORDS.has(word))
  const found = asked.filter((word) => there.some((each) => isAlike(word, each)))
  return found.length === 0 ? null : found.length / (asked.length + 1) - text.length / 100_000
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

const LEAST_ALIKE = 4

/** `agent` and `agents`, `install` and `installed`. */
function isAlike(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return a === b || (short.length >= LEAST_ALIKE && long.startsWith(short))
}

const AT_START = 100
const IN_A_ROW = 5
const NEW_WORD = 6
const LETTER = 2
const GAP = 1

function wordScore(word: string, text: string): number | null {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (startsWord(text, at)) return AT_START + word.length
  if (text.includes(word)) return IN_A_ROW * word.length
  if (word.length < 2) return null
  let best: number | null = null
  for (let from = text.indexOf(word[0]!); from !== -1; from = text.indexOf(word[0]!, from + 1)) {
    const score = scatteredScore(word, text, from)
    if (score === null) break // no later start can fit
    if (best === null || score > best) best = score
  }
  return best !== null && best > 0 ? best : null
}

/** The letters of the word one after another from an index on, each as early as possible. */
function scatteredScore(word: string, text: string, from: number): number | null {
  let score = 0
  let last = from - 1
  for (const letter of word) {
    const at = text.indexOf(letter, last + 1)
    if (at === -1) return null
    if (startsWord(text, at)) score += NEW_WORD
    else if (at === last + 1) score += IN_A_ROW
    else score += LETTER - GAP * (at - last - 1)
    last = at
  }
  return score
}

function startsWord(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!)
}
