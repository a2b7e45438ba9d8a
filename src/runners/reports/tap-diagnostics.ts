import type { Result } from 'tap-parser'
import type { Failure } from './failures.ts'
import { findLocation } from './locations.ts'

/** Reads the YAML that Node, tap and others write below a test point. */
export function failureOf({ name, diag }: Result): Failure {
  const value = valuesIn(diag)
  const stack = textOf(value.stack)
  const said = textOf(value.message) ?? textOf(value.error) ?? textOf(value.reason)
  const message = said ?? differenceIn(textOf(value.diff))
  const place = placeAt(value.at) ?? findLocation(stack ?? '') ?? locationOf(value.location)
  const file = place?.file ?? textOf(value.file)
  const line = place?.line ?? (typeof value.line === 'number' ? value.line : null)
  return { path: [name], message, file, line }
}

/** The changed lines of a diff, which tap writes for most assertions. */
function differenceIn(diff: string | null): string | null {
  const lines = diff?.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line))
  return lines ? lines.join('\n') : null
}

/** A location in `at`: a map in tap; a path or a stack line in others. */
function placeAt(at: unknown): { file: string; line: number | null } | null {
  if (typeof at === 'string') return findLocation(at)
  if (typeof at !== 'object' || at === null) return null
  const { fileName, file, lineNumber, line } = at as Record<string, unknown>
  const name = textOf(fileName) ?? textOf(file)
  const number = lineNumber ?? line
  return name === null ? null : { file: name, line: typeof number === 'number' ? number : null }
}

/** Node's `location`, `<file>:<line>:<column>`: the file may have any name. */
function locationOf(location: unknown): { file: string; line: number } | null {
  const match = typeof location === 'string' ? /^(.+?):(\d{1,9})(?::\d+)?$/s.exec(location) : null
  return match && { file: match[1]!.replace(/^file:\/\//, ''), line: Number(match[2]) }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

function valuesIn(diag: unknown): Record<string, unknown> {
  return typeof diag === 'object' && diag !== null ? (diag as Record<string, unknown>) : {}
}

/** The difference and the stack trace, which say more than the message. */
export function detailsOf({ diag }: Result): string {
  const { diff, stack, expected, actual } = valuesIn(diag)
  const compared =
    diff === undefined && expected !== undefined && actual !== undefined
      ? [`expected: ${short(expected)}`, `actual: ${short(actual)}`]
      : []
  return [...compared, textOf(diff), textOf(stack)].filter(Boolean).join('\n')
}

function short(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, 1000)
  return typeof value === 'object' ? JSON.stringify(value).slice(0, 1000) : String(value)
}
