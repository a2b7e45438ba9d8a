import * as z from 'zod'
import type { Answer } from './operation.ts'

/** The query of a list that comes whole, or in pages. */
export const paging = {
  limit: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('How many a page has, 1 to 1000; the list is whole without it.'),
  cursor: z.string().optional().describe('From the Link of the page before.'),
}

/** `too_large`: over 64 MiB in one answer. */
export const LIST_REFUSALS = ['bad_request', 'too_large'] as const

/** A filter that takes several values, with commas. */
export function oneOf<Value extends z.ZodType>(value: Value) {
  return z.array(value).optional()
}

export function listOf(item: z.ZodType, description: string): Record<200, Answer> {
  const sometimes = ['ETag', 'Link', 'X-Total-Count'] as const
  return { 200: { description, json: z.array(item), sometimes } }
}
