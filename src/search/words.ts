/**
 * What counts as a word, the same for texts and for queries. A name that is made of several, such as
 * `foo_bar`, `body.ts` or `readFile`, is one word and each of its parts as well.
 */

/**
 * A path is its names: the rest of it is another on every machine. A mark alone is a part of an emoji, and what colours
 * the output of a terminal is no part of the word behind it.
 */
const WORD = /(?<!\x1b\[[\d;]{0,20})[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:[._-]+[\p{L}\p{N}\p{M}]+)*/gu
const JOINT = /[._-]+/
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const HAS_HUMP = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
/** Scripts that are written without blanks between words, and Korean, whose particles stand on their word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々\u3099\u309a\uff70\uff9e\uff9f]+/gu
/** Of these, with the voicing mark or the vowel that other systems write as a character of its own. */
const CHARACTER = /[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|.[\u3099\u309a\uff9e\uff9f]*/gsu
const ASCII = /^[\x00-\x7f]*$/
/** Accents as they stand alone; the marks of other scripts are letters of theirs. */
const ACCENTS = /[\u0300-\u036f]/g
/** Of a longer one, as in base64, the beginning counts. */
const MAX_LENGTH = 64

/** So common that a query which has other words is none the poorer without them. */
const COMMON = new Set(
  'a an and are as at be but by do for from has have i if in into is it its no not of on or so that the then there this to was we when with you'.split(
    ' ',
  ),
)

export interface Word {
  /** Where it is in the text. */
  from: number
  to: number
  whole: string
  /** Its parts, where it is made of several. */
  parts: readonly string[]
  /** One or two characters of a script in which any part of a text may be looked for. */
  isPair: boolean
}

export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Without case, accents, and differences of writing that only bytes show. */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC')
  return plain.toLowerCase().replaceAll('ß', 'ss')
}

/** The words of a text, in their order. */
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

/** All that a text is found by. */
export function termsIn(text: string): string[] {
  const terms: string[] = []
  for (const { whole, parts } of wordsIn(text)) terms.push(whole, ...parts)
  return terms
}

/** A text as the index takes it. No phrase reaches from before a `BREAK` to behind it. */
export function indexedText(text: string): string {
  const { plain, names } = readWords(wordsIn(text))
  return names.size > 0 ? `${plain.join(' ')}${BREAK}${[...names].join(' ')}` : plain.join(' ')
}

export const BREAK = ' _ '

/** The words of a text one after the other, as a phrase is compared: `foo_bar` is two of them, and so are two characters of Chinese. */
export function plainWordsIn(text: string): string[] {
  return plainWords(wordsIn(text))
}

export function plainWords(words: Iterable<Word>): string[] {
  return readWords(words).plain
}

function readWords(words: Iterable<Word>): { plain: string[]; names: Set<string> } {
  const plain: string[] = []
  /** What else the text is found by: names that are made of several words, and parts that begin at a capital. */
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

/** The characters of a pair as the index has them, without marks that compose with nothing. */
export function charactersIn(pair: string): string[] {
  return [...pair].filter((one) => one !== '\u3099' && one !== '\u309a')
}

export function isCommon(term: string): boolean {
  return COMMON.has(term) || /^[a-z]$/.test(term)
}

/** Most words are so; for them what follows would be three more looks. */
const PLAIN = /^[A-Za-z]?[a-z]{1,63}$/
const NONE: readonly string[] = []

function wordOf(text: string, from: number): Word {
  const to = from + text.length
  if (PLAIN.test(text)) return { from, to, whole: text.toLowerCase(), parts: NONE, isPair: false }
  const cut = text.slice(0, MAX_LENGTH)
  return { from, to, whole: folded(cut), parts: partsOf(text), isPair: false }
}

function partsOf(text: string): readonly string[] {
  if (!JOINT.test(text) && !HAS_HUMP.test(text)) return NONE
  return text
    .split(JOINT)
    .flatMap((part) => (HAS_HUMP.test(part) ? [part, ...part.split(HUMP)] : part))
    .filter((part) => part.length > 1 && part !== text)
    .map((part) => folded(part.slice(0, MAX_LENGTH)))
}

/** Every two neighbours, and the last character, by which a single one is found at the end too. */
function* pairsOf(run: string, start: number): Iterable<Word> {
  const characters = run.match(CHARACTER) ?? []
  let from = start
  for (const [index, one] of characters.entries()) {
    const both = one + (characters[index + 1] ?? '')
    yield { from, to: from + both.length, whole: folded(both), parts: NONE, isPair: true }
    from += one.length
  }
}
