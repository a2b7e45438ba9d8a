import * as z from 'zod'
import { TAG, TITLE_MAX } from '../model/name-patterns.ts'

/** The same limit as for a case that is created by a request. */
const MOST_TAGS = 100

/** Converts the CRLF of web forms to LF; a single carriage return stays. */
export function plainBreaks(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Joins lines and replaces characters that a single line cannot have. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()
}

/** The title of a task's case. */
export function caseTitle(title: string | null, name: string): string {
  return (
    oneLine(title ?? '')
      .slice(0, TITLE_MAX)
      .toWellFormed() || name
  )
}

/** `good first issue` becomes `good-first-issue`. A label without letters appears only in the notes. */
export function tagsOf(labels: readonly string[]): string[] {
  const tags = labels.map((label) =>
    label
      .replace(/\s+/g, '-')
      .replace(/[^\p{L}\p{N}._:/+-]/gu, '')
      .replace(/^[^\p{L}\p{N}]+|(?<!-)-+$/gu, '')
      .slice(0, 64)
      .replace(/[\ud800-\udbff]$/, ''),
  )
  return [...new Set(tags)].filter((tag) => TAG.test(tag)).slice(0, MOST_TAGS)
}

/** For the schemas of entries. */
export const wellFormed = z
  .string()
  .refine((value) => value.isWellFormed(), 'expected valid Unicode, got half of a surrogate pair')

/** Programs write no time as the year 1, or as nothing. */
export const time = wellFormed
  .refine((value) => value === '' || !Number.isNaN(Date.parse(value)), 'expected an ISO 8601 time')
  .transform((value) => (value === '' || value.startsWith('0001-') ? null : iso(value)))

/** A text, or a number that is written as one. */
export const textOrNumber = z.union([wellFormed, z.number().transform(String)], {
  error: 'expected a string or a number',
})

/** The fields of an entry that its schema does not name. */
export function unknownFields(value: unknown, schema: z.ZodObject): Record<string, unknown> {
  const entries = Object.entries(value as object)
  return Object.fromEntries(
    entries.filter(([key, each]) => !Object.hasOwn(schema.shape, key) && each !== null),
  )
}

function iso(value: string): string {
  return new Date(value).toISOString()
}
