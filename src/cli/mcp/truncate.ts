import * as z from 'zod'
import type { ApiReader } from '../../client/client.ts'
import { partOfList } from '../../client/pages.ts'
import { AppError } from '../../model/app-error.ts'

/** The most characters of one text in an answer: about 6,000 tokens. */
const TEXT_CHARACTERS = 24_000
export const MOST_CHARACTERS = 200_000
const ROWS = 50
const MOST_ROWS = 200

/** A text, or the part of it that fits in an answer. */
export interface TextPart {
  text: string
  offset: number
  total_characters: number
  /** The offset of the next part; null at the end. */
  next_offset: number | null
}

export const textPartShape = {
  offset: z.number(),
  total_characters: z.number(),
  next_offset: z.number().nullable().describe('Pass it as offset to read on; null at the end'),
}

export const textRange = {
  offset: z.number().int().min(0).default(0).describe('The first character'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MOST_CHARACTERS)
    .default(TEXT_CHARACTERS)
    .describe('Maximum number of characters'),
}

/** Never splits a character that takes two UTF-16 units. */
export function partOf(text: string, offset = 0, limit = TEXT_CHARACTERS): TextPart {
  const total_characters = text.length
  if (offset > total_characters) throw beyond('offset', offset, total_characters, 'characters')
  const begin = splits(text, offset) ? offset - 1 : offset
  const wanted = Math.min(total_characters, begin + limit)
  const end = splits(text, wanted) ? wanted + 1 : wanted
  const next_offset = end < total_characters ? end : null
  return { text: text.slice(begin, end), offset: begin, total_characters, next_offset }
}

function splits(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff
}

export const rowRange = {
  offset: z.number().int().min(0).default(0).describe('How many entries to skip'),
  limit: z.number().int().min(1).max(MOST_ROWS).default(ROWS).describe('Maximum number of entries'),
}

export const rowsShape = {
  total: z.number(),
  next_offset: z.number().nullable().describe('Pass it as offset for more; null at the end'),
}

export interface Rows<T> {
  items: T[]
  total: number
  next_offset: number | null
}

export function rowsOf<T>(all: readonly T[], offset = 0, limit = ROWS): Rows<T> {
  const total = all.length
  if (offset > total) throw beyond('offset', offset, total, 'entries')
  const end = offset + limit
  return { items: all.slice(offset, end), total, next_offset: end < total ? end : null }
}

/** The same for a list of the API, of which only the pages up to the last entry are requested. */
export async function rowsAt<T>(
  client: ApiReader,
  path: string,
  { offset = 0, limit = ROWS }: { offset?: number; limit?: number } = {},
): Promise<Rows<T>> {
  const { items, total } = await partOfList<T>(client, path, { offset, limit })
  if (offset > total) throw beyond('offset', offset, total, 'entries')
  return { items, total, next_offset: offset + limit < total ? offset + limit : null }
}

function beyond(name: string, value: number, total: number, what: string): AppError {
  return new AppError(
    'bad_request',
    `${name} is ${value}, but there are only ${total} ${what}. Use 0, or the next_offset of the last answer.`,
  )
}

/** Shortens the long texts of a record, with a sentence in `cut` for each. */
export function withCutTexts<T extends object>(
  record: T,
  keys: readonly (keyof T & string)[],
  readOn: (key: string) => string,
): T & { cut: string[] } {
  const cut: string[] = []
  const shown = { ...record }
  for (const key of keys) {
    const { text, total_characters, next_offset } = partOf(String(record[key] ?? ''))
    if (next_offset === null) continue
    Object.assign(shown, { [key]: text })
    cut.push(`${key}: the first ${next_offset} of ${total_characters} characters. ${readOn(key)}`)
  }
  return { ...shown, cut }
}
