import type { ChecklistItem } from '../model/gate.ts'
import { SLUG } from '../model/name-patterns.ts'
import { KNOWN_PROOF_TYPES } from '../model/suggested-values.ts'
import { trimBlanks } from './lines.ts'

/** An item as read. `unclear`: it says "required" but not which proof, so it stays unmet. */
export interface ItemReading extends ChecklistItem {
  unclear: boolean
}

const EXACT = /^\(([a-z0-9][a-z0-9._-]{0,63})(?:,[ \t]*(required|optional))?\)$/
/** Misspellings and synonyms of `required`. */
const NEARLY_REQUIRED = /^(?:req|reqd|requires?|re?q[uired]{2,7}d|mandatory)$/
/** Words before "required" that make it prose. */
const PROSE = /^(?:if|as|when|where|not|no longer|is|are|be|may be|not always)$/
const OPENINGS = '([{\uff08'
const CLOSINGS = ')]}\uff09'

/** Reads the text of an item: `<description> (<type>, required)`, also in a similar form. */
export function readItem(text: string, checked: boolean): ItemReading {
  const read = readEnd(text, checked)
  if (read.required || !saysRequired(text)) return read
  return { description: text, type: null, required: true, checked, unclear: true }
}

function readEnd(text: string, checked: boolean): ItemReading {
  const at = text.lastIndexOf('(')
  const exact = EXACT.exec(text.slice(at))
  const head = trimBlanks(text.slice(0, at))
  if (exact && head !== '' && !isFlag(exact[1]!)) {
    const [, type, flag] = exact
    return {
      description: head,
      type: type!,
      required: flag === 'required',
      checked,
      unclear: false,
    }
  }
  const plain = { description: text, type: null, required: false, checked, unclear: false }
  const group = lastGroup(text)
  if (!group) return plain
  const { type, flag } = meaning(group.inner)
  if (flag === 'unclear') return { ...plain, required: true, unclear: true }
  if (type === null || (group.before === '' && flag !== 'required')) return plain
  return { ...plain, description: group.before || text, type, required: flag === 'required' }
}

/** Whether a text says "required" in another place or form than at its end. */
function saysRequired(text: string): boolean {
  if (!/required/i.test(text)) return false
  if (/[,;:|/\u2013\u2014-][ \t*_`]*required[ \t.,;:!*_`)\]}|]*$/i.test(text)) return true
  // after the brackets, before a colon, or with a mark: (log) required, (required: log), required:
  // x, (log, required?)
  if (/[)\]}][ \t]*required\b|(?:^|[([{,])[ \t]*required[ \t]*:|\brequired[?!]/i.test(text))
    return true
  const groups = text.matchAll(/[([{]([^()[\]{}]*)[)\]}]/g)
  return [...groups].some(([, inner]) => meaning(inner!).flag === 'required')
}

/** Whether a line looks like an item with a required type. A box or a known type distinguishes it from prose. */
export function looksRequired(text: string, hasBox: boolean): boolean {
  const { type, required, unclear } = readItem(text, false)
  if (unclear || !required || type === null) return false
  return hasBox || isKnown(type)
}

function meaning(inner: string): {
  type: string | null
  flag: 'required' | 'optional' | 'unclear' | null
} {
  const parts = inner
    .split(/[,;/|+&\uff0c\u3001]/)
    .map(bare)
    .filter((part) => part !== '')
  const words = parts.filter((part) => !isFlag(part))
  const flags = new Set(parts.filter(isFlag).map((part) => part.toLowerCase()))
  if (flags.size === 0 && parts.length === 1) return meaningOfWords(parts[0]!)
  if (flags.size === 0) {
    const isNear = parts.some((part) => NEARLY_REQUIRED.test(part.toLowerCase()))
    return { type: null, flag: isNear ? 'unclear' : null }
  }
  const type = words.length === 1 ? typeOf(words[0]!) : null
  if (flags.size === 1) {
    const flag = flags.has('required') ? 'required' : 'optional'
    if (type !== null || flag === 'optional') return { type, flag }
  }
  return { type: null, flag: 'unclear' }
}

/** Reads words without a separator: a proof type, alone or with its flag. */
function meaningOfWords(part: string): ReturnType<typeof meaning> {
  const words = part.toLowerCase().split(/\s+/)
  const first = words[0]!
  const last = words.at(-1)!
  if (NEARLY_REQUIRED.test(part.toLowerCase())) return { type: null, flag: 'unclear' }
  if (words.length > 1 && (isFlag(last) || isFlag(first))) {
    const flag = isFlag(last) ? last : first
    const rest = (isFlag(last) ? words.slice(0, -1) : words.slice(1)).join(' ')
    const type = typeOf(rest)
    if (type !== null && isKnown(type)) return { type, flag: flag as 'required' | 'optional' }
    const isShort = words.length <= 3 && !PROSE.test(rest)
    return { type: null, flag: flag === 'required' && isFlag(last) && isShort ? 'unclear' : null }
  }
  const type = typeOf(part)
  return { type: type !== null && (isKnown(type) || type === part) ? type : null, flag: null }
}

function isFlag(part: string): boolean {
  return /^(?:required|optional)$/i.test(part)
}

/** Returns the type that a word means: types are lower case, and known ones may be written with a space. */
function typeOf(word: string): string | null {
  const lower = word.toLowerCase()
  if (SLUG.test(lower)) return lower
  const joined = lower.replace(/[\s_]+/g, '-')
  return isKnown(joined) ? joined : null
}

function isKnown(type: string): boolean {
  return (KNOWN_PROOF_TYPES as readonly string[]).includes(type)
}

/** Returns the content of the brackets at the end of a text, also of unclosed ones. */
function lastGroup(text: string): { before: string; inner: string } | null {
  const end = tail(text)
  const isClosed = CLOSINGS.includes(end.at(-1) ?? ' ')
  const to = isClosed ? end.length - 1 : end.length
  let from = to - 1
  while (from >= 0 && !OPENINGS.includes(end[from]!) && !CLOSINGS.includes(end[from]!)) from--
  if (from < 0 || !OPENINGS.includes(end[from]!)) return null
  const inner = end.slice(from + 1, to)
  if (!isClosed && !/\brequired\b/i.test(inner)) return null
  return { before: trimBlanks(end.slice(0, from)), inner }
}

/** Removes punctuation and emphasis at the end, in linear time. */
function tail(text: string): string {
  let end = text.length
  while (end > 0 && ' \t.,;:!*_`'.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

function bare(part: string): string {
  let [from, to] = [0, part.length]
  while (from < to && ' \t\r\n*_`'.includes(part[from]!)) from++
  while (to > from && ' \t\r\n*_`.'.includes(part[to - 1]!)) to--
  return part.slice(from, to)
}
