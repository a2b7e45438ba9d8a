/**
 * Splits texts and queries into words. A compound name such as `foo_bar`, `body.ts` or `readFile` is one word, and so
 * is each of its parts.
 */

/**
 * Letters and digits, joined by `.`, `_` and `-`. Slashes separate, so a path is searched by its names. Excluded are
 * combining marks without a letter (parts of emoji) and the codes that colour terminal output.
 */
const WORD = /(?<!\x1b\[[\d;]{0,20})[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:[._-]+[\p{L}\p{N}\p{M}]+)*/gu
const JOINT = /[._-]+/
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const HAS_HUMP = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
/** Scripts without spaces between words, and Korean, which attaches particles to words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々\u3099\u309a\uff70\uff9e\uff9f]+/gu
/** One character of these scripts, with the voicing marks or vowels that some systems write as separate characters. */
const CHARACTER = /[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|.[\u3099\u309a\uff9e\uff9f]*/gsu
const ASCII = /^[\x00-\x7f]*$/
/** Separate accents. Marks of other scripts are not accents but letters. */
const ACCENTS = /[\u0300-\u036f]/g
/** Only this much of a longer word, such as base64, is indexed. */
const MAX_LENGTH = 64

/** Words that a query ignores if it has others. */
const COMMON = new Set(
  'a an and are as at be but by do for from has have i if in into is it its no not of on or so that the then there this to was we when with you'.split(
    ' ',
  ),
)

export interface Word {
  /** Start and end in the text. */
  from: number
  to: number
  whole: string
  /** The parts of a compound name. */
  parts: readonly string[]
  /** True for one or two characters of a script without spaces, where any part of a text can be searched. */
  isPair: boolean
}

export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Normalizes a word: lower case, no accents, one Unicode form. */
export function normalizeWord(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC')
  return plain.toLowerCase().replaceAll('ß', 'ss')
}

/** Yields the words of a text, in order. */
export function* wordsIn(text: string): Iterable<Word> {
  for (const { 0: found, index } of text.matchAll(WORD)) {
    let from = 0
    for (const run of isAscii(found) ? [] : found.matchAll(UNSPACED)) {
      if (run.index > from) yield wordOf(found.slice(from, run.index), index + from)
      yield* pairsOf(run[0], index + run.index)
      from = run.index + run[0].length
    }
    if (from < found.length) yield wordOf(found.slice(from), index + from)
  }
}

/** Returns all words by which a text can be found. */
export function termsIn(text: string): string[] {
  const terms: string[] = []
  for (const { whole, parts } of wordsIn(text)) terms.push(whole, ...parts)
  return terms
}

/** Returns a text in the form that the index stores. A phrase never matches across a `BREAK`. */
export function indexedText(text: string): string {
  const { plain, names } = readWords(wordsIn(text))
  return names.size > 0 ? `${plain.join(' ')}${BREAK}${[...names].join(' ')}` : plain.join(' ')
}

export const BREAK = ' _ '

/**
 * Returns the words of a text in sequence, as phrases are compared: `foo_bar` counts as two words, and so do two
 * Chinese characters.
 */
export function plainWordsIn(text: string): string[] {
  return plainWords(wordsIn(text))
}

export function plainWords(words: Iterable<Word>): string[] {
  return readWords(words).plain
}

function readWords(words: Iterable<Word>): { plain: string[]; names: Set<string> } {
  const plain: string[] = []
  /** Other words by which the text is found: compound names, and parts that begin with a capital letter. */
  const names = new Set<string>()
  for (const { whole, parts, isPair } of words) {
    if (isPair) {
      plain.push(charactersIn(whole)[0]!)
    } else if (parts === NONE && !JOINT.test(whole)) {
      plain.push(whole)
    } else {
      const own = whole.split(JOINT).filter((word) => word !== '')
      plain.push(...own)
      if (own.length > 1) names.add(whole)
      for (const part of parts) if (!own.includes(part)) names.add(part)
    }
  }
  return { plain, names }
}

/** Returns the characters of a pair as the index stores them, without separate voicing marks. */
export function charactersIn(pair: string): string[] {
  return [...pair].filter((one) => one !== '\u3099' && one !== '\u309a')
}

export function isCommon(term: string): boolean {
  return COMMON.has(term) || /^[a-z]$/.test(term)
}

/** Most words look like this and skip the slower steps below. */
const PLAIN = /^[A-Za-z]?[a-z]{1,63}$/
const NONE: readonly string[] = []

function wordOf(text: string, from: number): Word {
  const to = from + text.length
  if (PLAIN.test(text)) return { from, to, whole: text.toLowerCase(), parts: NONE, isPair: false }
  const cut = text.slice(0, MAX_LENGTH)
  return { from, to, whole: normalizeWord(cut), parts: partsOf(text), isPair: false }
}

function partsOf(text: string): readonly string[] {
  if (!JOINT.test(text) && !HAS_HUMP.test(text)) return NONE
  return text
    .split(JOINT)
    .flatMap((part) => (HAS_HUMP.test(part) ? [part, ...part.split(HUMP)] : part))
    .filter((part) => part.length > 1 && part !== text)
    .map((part) => normalizeWord(part.slice(0, MAX_LENGTH)))
}

/**
 * Yields every pair of neighbouring characters, and the last character alone, so that a search for one character
 * finds it too.
 */
function* pairsOf(run: string, start: number): Iterable<Word> {
  const characters = run.match(CHARACTER) ?? []
  let from = start
  for (const [index, one] of characters.entries()) {
    const both = one + (characters[index + 1] ?? '')
    yield { from, to: from + both.length, whole: normalizeWord(both), parts: NONE, isPair: true }
    from += one.length
  }
}
