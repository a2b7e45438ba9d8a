import { TIME } from '../model/name-patterns.ts'

/** A value that this service and every common YAML 1.1 or 1.2 reader read the same. */
export type YamlValue =
  | string
  | number
  | boolean
  | null
  | YamlValue[]
  | { [key: string]: YamlValue }

/**
 * Returns one line of YAML for `value`. Strings are unquoted only if no reader can take them for another type or
 * structure, also in flow collections; others are double-quoted, which YAML shares with JSON. UUIDs and hashes stay
 * unquoted.
 */
export function yamlText(value: YamlValue): string {
  if (value === null) return ''
  if (typeof value === 'string') return isPlain(value) ? value : yamlQuoted(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(inFlow).join(', ')}]`
  const entries = Object.entries(value).map(([key, item]) => `${yamlText(key)}: ${inFlow(item)}`)
  return entries.length ? `{ ${entries.join(', ')} }` : '{}'
}

/** Same for the value of a key: times of the service stay unquoted. */
export function yamlField(key: string, value: YamlValue): string {
  const isTime = key.endsWith('_at') && typeof value === 'string' && TIME.test(value)
  return isTime ? value : yamlText(value)
}

function inFlow(value: YamlValue): string {
  return value === null ? 'null' : yamlText(value)
}

const PLAIN = /^\p{L}(?:[\p{L}\p{N}_\-./()'+&!;@%= ]*[\p{L}\p{N}_\-./()'+&!;@%=])?$/u
const UUID_OR_HASH = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})$/
/** Words that YAML 1.1 or 1.2 reads as another type than string. */
const TYPED_WORD = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity|e[0-9_]+)$/i
const NUMBER_LIKE = /^(?:[0-9]+(?:e[0-9]+)?|0b[01]+)$/

function isPlain(text: string): boolean {
  if (UUID_OR_HASH.test(text)) return !NUMBER_LIKE.test(text)
  return PLAIN.test(text) && !TYPED_WORD.test(text)
}

/** A text in double quotes. */
export function yamlQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
