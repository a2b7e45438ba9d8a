import * as z from 'zod'
import { ATTENTION_KINDS } from '../../model/attention.ts'
import { FILTERED, type FilterName } from '../../model/case-fields.ts'
import { UUID } from '../../model/name-patterns.ts'
import { caseState } from '../../model/schemas.ts'
import { caseIdParam } from './params.ts'
import { exampleOf } from './primitives.ts'

/** Query parameters that must not be sent empty: an empty filter would select everything. */
export const NEVER_EMPTY = z.registry<{ content: RegExp }>()

/** A filter with several values: separated by commas, or the parameter repeated. */
export function oneOf<Value extends z.ZodType>(value: Value) {
  return z
    .array(value)
    .optional()
    .register(NEVER_EMPTY, { content: /[^,\s]/ })
}

export function wholeNumber(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

export const paging = {
  limit: wholeNumber(1, 1000)
    .optional()
    .meta({
      description: 'Page size, 1 to 1000. Without it the whole list is returned.',
      examples: [2],
    }),
  cursor: z
    .string()
    .optional()
    .describe('From the `Link` header of the previous page. Requires `limit`.'),
}

export const content = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .optional()
  .describe('`false` leaves out the texts, which can be large.')

/** The filters by field. A case matches if it has one of the values of each. */
export const caseFilters = Object.fromEntries(
  FILTERED.map(({ name, filter, known }) => {
    const value = name === 'state' ? caseState : z.string()
    const words = known ? ` Known: ${known.join(', ')}.` : ''
    return [
      filter!,
      oneOf(value).describe(`Only cases with one of these values of \`${name}\`.${words}`),
    ]
  }),
) as Record<FilterName, z.ZodOptional<z.ZodArray<z.ZodString>>>

export const listFilters = {
  ...caseFilters,
  q: z
    .string()
    .optional()
    .register(NEVER_EMPTY, { content: /\S/ }) // a comma is a word that can be searched
    .describe('Only cases with all words of this query, as `GET /search` finds them.'),
}

const KINDS = ['any', ...ATTENTION_KINDS] as const

export const triageQuery = {
  needs: oneOf(
    z.enum(KINDS, { error: `expected any, or some of ${ATTENTION_KINDS.join(', ')}` }),
  ).meta({
    description:
      'Only cases that need one of these. `any` is what the operator can act on: every kind except `blocked` and `running`.',
    examples: [['any']],
  }),
  named: z
    .string()
    .optional()
    .register(NEVER_EMPTY, { content: /[^,\s]/ })
    .describe(
      'The cases with exactly this title; if there is none, those whose id begins with it or whose title contains it. Case-insensitive.',
    ),
  open: z
    .enum(['true', 'false'], { error: 'expected true or false' })
    .optional()
    .describe('`true` leaves out closed cases that need nothing.'),
  ...listFilters,
}

/** Where an event stream resumes. */
export const resuming = {
  query: {
    after: z.string().optional().describe('The id to resume after; same as `Last-Event-ID`.'),
  },
  headers: {
    'Last-Event-ID': z.string().optional().describe('The last id that the client received.'),
  },
}

export const caseInQuery = z
  .string()
  .regex(UUID, 'expected the UUID of a case in lower case')
  .optional()
  .meta({ description: 'Only the events of this case.', examples: [exampleOf(caseIdParam)] })
