import { isUtf8 } from 'node:buffer'
import { AppError, type FieldError } from '../model/app-error.ts'
import { fieldPath } from './schemas/parse-fields.ts'

/** No valid request is nested deeper than a few levels. Later code may therefore walk a body recursively. */
const MAX_DEPTH = 64

interface JsonNode {
  value: object
  key: string | number
  parent: JsonNode | null
  depth: number
}

/** Parses the JSON object of a body. Its texts are well-formed, and it has no `__proto__`. */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  const value = parse(decode(bytes))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const came = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`
    throw new AppError(
      'invalid_json',
      `The body is ${came}. Send a JSON object: {"name": "value"}.`,
    )
  }
  const errors = cleaned(value)
  if (errors.length > 0) {
    const message = `${errors[0]!.path || 'The body'} ${errors[0]!.message}.`
    throw new AppError('bad_request', message, { errors })
  }
  return value as Record<string, unknown>
}

function decode(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes)
  const again = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  const at = bytes.findIndex((byte, i) => byte !== again[i])
  throw new AppError(
    'invalid_json',
    `The body is not UTF-8: byte ${at} is invalid. Send it as UTF-8.`,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const at = errorOffset(text, error.message)
    const before = text.slice(0, at ?? 0).split('\n')
    const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`
    const what = error.message.replace(/,? (in JSON )?at position.*$/s, '').toWellFormed()
    const where = at === null || text === '' ? '' : ` (${place})`
    const message = text === '' ? 'The body is empty' : `The body is not JSON: ${what}${where}`
    throw new AppError('invalid_json', `${message}. Send a JSON object: {"name": "value"}.`)
  }
}

/**
 * V8 names the position in most of its messages, but not for "Unexpected token". There a binary search finds it: every
 * prefix that includes the token has the error, no shorter one has.
 */
function errorOffset(text: string, message: string): number | null {
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  if (message.startsWith('Unexpected end')) return text.length
  if (!message.startsWith('Unexpected token')) return null
  let without = 0
  let within = text.length
  while (within - without > 1) {
    const middle = (without + within) >> 1
    if (hasUnexpectedToken(text.slice(0, middle))) within = middle
    else without = middle
  }
  return within - 1
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return error instanceof SyntaxError && error.message.startsWith('Unexpected token')
  }
}

/** Removes `__proto__` keys in place, and returns the texts that are not well-formed. Not recursive, because the sender chooses the depth. */
function cleaned(root: object): FieldError[] {
  const errors: FieldError[] = []
  const places: JsonNode[] = [{ value: root, key: '', parent: null, depth: 1 }]
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (place.depth > MAX_DEPTH) {
      const message = `The body is nested deeper than ${MAX_DEPTH} levels. Send it flatter.`
      throw new AppError('invalid_json', message)
    }
    const { value } = place
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
    const isArray = Array.isArray(value)
    for (const [name, child] of Object.entries(value)) {
      const key = isArray ? Number(name) : name
      if (!name.isWellFormed()) errors.push(broken([...keysTo(place), key], 'has a name with'))
      if (typeof child === 'string' && !child.isWellFormed()) {
        errors.push(broken([...keysTo(place), key], 'has'))
      }
      if (typeof child === 'object' && child !== null) {
        places.push({ value: child, key, parent: place, depth: place.depth + 1 })
      }
    }
  }
  return errors.slice(0, 20)
}

function broken(keys: (string | number)[], has: string): FieldError {
  const message = `${has} half of a surrogate pair (\\ud800 to \\udfff alone), which no UTF-8 file can hold; send whole characters`
  return { path: fieldPath(keys), message }
}

function keysTo(place: JsonNode): (string | number)[] {
  return place.parent === null ? [] : [...keysTo(place.parent), place.key]
}
