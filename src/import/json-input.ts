import { decodeUtf8 } from '../files/safe-read.ts'
import { utf16Name } from '../files/utf-16.ts'
import { AppError } from '../model/app-error.ts'
import { visibleText } from '../model/visible-text.ts'
import type { InputFile } from './item.ts'

/** The text of a file without its byte order mark. Throws if it is empty or not UTF-8. */
export function decodeText({ bytes, path }: InputFile, expected: string): string {
  const utf16 = utf16Name(bytes)
  if (utf16) {
    const makeUtf8 = `iconv -f ${utf16} -t UTF-8 issues.json > issues-utf-8.json`
    throw unreadable(
      path,
      expected,
      `it looks like ${utf16}, as written by > in Windows PowerShell. Convert it to UTF-8: ${makeUtf8}`,
    )
  }
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) {
    throw unreadable(path, expected, `it is not UTF-8 (line ${decoded.line}). Save it as UTF-8`)
  }
  const text = decoded.text.replace(/^\ufeff/, '')
  if (text.trim() === '') throw unreadable(path, expected, 'it is empty')
  return text
}

const parsed = new WeakMap<Uint8Array, { value: unknown }>()

/** The JSON value of a file; undefined if it is not JSON. Each file is parsed once. */
export function jsonOf({ bytes }: InputFile): unknown {
  let known = parsed.get(bytes)
  if (known === undefined) {
    known = { value: tryJson(bytes) }
    parsed.set(bytes, known)
  }
  return known.value
}

function tryJson(bytes: Uint8Array): unknown {
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return undefined
  try {
    return JSON.parse(decoded.text.replace(/^\ufeff/, ''))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Same; throws if it is not JSON. */
export function parseJson(file: InputFile, expected: string): unknown {
  const text = decodeText(file, expected)
  const value = jsonOf(file)
  if (value !== undefined) return value
  throw unreadable(file.path, expected, `it is not JSON: ${whyNotJson(text)}`)
}

/** The JSON values of a text with one on each line; empty lines are skipped. */
export function parseLines(file: InputFile, expected: string): { line: number; value: unknown }[] {
  const lines = decodeText(file, expected).split('\n')
  return lines.flatMap((text, index) => {
    if (text.trim() === '') return []
    const value = tryJson(Buffer.from(text))
    if (value !== undefined) return [{ line: index + 1, value }]
    const why = `line ${index + 1} is not JSON: ${whyNotJson(text)}`
    throw unreadable(file.path, expected, why)
  })
}

/** The parser's own message, which mostly has a position. */
function whyNotJson(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return visibleText((error as SyntaxError).message)
  }
}

export function unreadable(path: string, expected: string, why: string): AppError {
  const what = path === '' ? 'the list' : visibleText(path)
  return new AppError(
    'bad_request',
    `Nothing was imported, because ${what} cannot be read: ${why}. Expected ${expected}.`,
  )
}

export function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return value === null ? 'null' : `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`
}
