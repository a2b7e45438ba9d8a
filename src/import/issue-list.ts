import { decodeUtf8 } from '../files/safe-read.ts'
import { utf16Name } from '../files/utf-16.ts'
import { parseFields } from '../http/schemas/parse-fields.ts'
import { AppError, type FieldError } from '../model/app-error.ts'
import { visibleText } from '../model/visible-text.ts'
import { brokenEntry } from './broken-entry.ts'
import { type GithubIssue, issueSchema } from './github-schema.ts'

/** An issue of the list, with a name for messages. */
export interface Entry {
  issue: GithubIssue
  /** How messages refer to it: `entry 3 (#12)`. */
  name: string
}

/** At most this many invalid entries are listed. */
const MAX_LISTED = 10

/**
 * Parses the output of gh. If any issue is invalid, throws an error that lists all invalid ones, so that nothing is
 * silently skipped.
 */
export function parseIssues(bytes: Uint8Array): Entry[] {
  const list = parseList(bytes)
  const errors: FieldError[] = []
  const entries = list.flatMap((value, index) => {
    const name = entryName(index, value)
    if (Object.hasOwn(Object(value), 'html_url')) {
      errors.push({
        path: name,
        message: 'it looks like output of gh api, whose fields have other meanings',
      })
      return []
    }
    try {
      return [{ issue: parseFields(issueSchema, value), name }]
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      for (const { path, message } of error.errors) {
        errors.push({ path: path === '' ? name : `${name}: ${path}`, message })
      }
      return []
    }
  })
  throwIfInvalid(errors)
  return entries
}

/** Throws if there are invalid entries. */
export function throwIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const lines = errors.slice(0, MAX_LISTED).map(({ path, message }) => `  ${path}: ${message}`)
  const more = errors.length > MAX_LISTED ? [`  and ${errors.length - MAX_LISTED} more`] : []
  throw new AppError(
    'bad_request',
    ['Nothing was imported. Errors in the list:', ...lines, ...more].map(visibleText).join('\n'),
    { errors: [...errors] },
  )
}

function parseList(bytes: Uint8Array): unknown[] {
  const utf16 = utf16Name(bytes)
  if (utf16) {
    const makeUtf8 = `iconv -f ${utf16} -t UTF-8 issues.json > issues-utf-8.json`
    throw unreadable(
      `it looks like ${utf16}, as written by > in Windows PowerShell. Convert it to UTF-8: ${makeUtf8}`,
    )
  }
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) {
    throw unreadable(`it is not UTF-8 (line ${decoded.line}). Save it as UTF-8`)
  }
  const text = decoded.text.replace(/^\ufeff/, '')
  if (text.trim() === '') throw unreadable('it is empty')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    if (/^\s*\{/.test(text))
      throw unreadable(`${EXPECTED}; got separate objects. Combine them with jq -s .`)
    const { entry, why, line } = brokenEntry(text)
    const where = entry === null ? `line ${line}` : `entry ${entry} (line ${line})`
    throw unreadable(`${where} is not JSON: ${visibleText(why)}`)
  }
  if (Array.isArray(value)) return value
  throw unreadable(`${EXPECTED}; got ${typeName(value)}`)
}

const EXPECTED = 'expected a list of issues, which begins with ['

function typeName(value: unknown): string {
  return value === null ? 'null' : `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`
}

function unreadable(why: string): AppError {
  return new AppError(
    'bad_request',
    `Nothing was imported, because the list cannot be read: ${why}. Expected what gh issue list --json prints.`,
  )
}

function entryName(index: number, value: unknown): string {
  const number = (value as { number?: unknown } | null)?.number
  return `entry ${index + 1}${Number.isInteger(number) ? ` (#${number})` : ''}`
}
