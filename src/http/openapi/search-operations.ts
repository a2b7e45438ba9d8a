import * as z from 'zod'
import { FILTERED, type FilteredField } from '../../model/case-fields.ts'
import { MAX_QUERY_LENGTH } from '../../search/query.ts'
import type { ResolvedCase } from '../../sessions/resolved-like.ts'
import type { FoundCase } from '../routes/search.ts'
import { responseShape } from '../schemas/case-fields.ts'
import { caseState, id, time } from '../schemas/primitives.ts'
import { caseFilters } from './case-operations.ts'
import type { Operations } from './operation.ts'
import { schemaOf } from './same-type.ts'

const offset = z.int().min(0)

const lineOfFile = z
  .object({
    line: z.int().min(1),
    text: z.string().describe('The line, or what of a long one is around the first match.'),
    marks: z
      .array(z.array(offset).min(2).max(2))
      .describe('Where words that match begin and end in the text, in UTF-16 units.'),
    file: z.string().describe('Relative to the workspace.'),
  })
  .meta({ id: 'MatchingLine' })

const shown = {
  id,
  title: z.string(),
  type: z.string(),
  state: caseState,
  outcome: z.string().nullable(),
}

const foundCase = schemaOf<FoundCase>()(
  z.object({
    id,
    title: z.string(),
    ...responseShape<FilteredField>(FILTERED),
    updated_at: time,
    score: z.number().min(0).describe('To be compared within one answer alone.'),
    missing: z
      .array(z.string())
      .describe('Words of the query that the case does not have: empty where any case has all.'),
    lines: z.array(lineOfFile).describe('Up to five, those with most of the words first.'),
  }),
).meta({ id: 'FoundCase' })

const resolvedCase = schemaOf<ResolvedCase>()(
  z.object({
    ...shown,
    reason: z.string().nullable().describe('Why it was resolved, as the operator said.'),
    cause: z.string().nullable().describe('The hypothesis of its last complete session.'),
    proof: z
      .array(
        z.object({
          id,
          type: z.string(),
          verified_at: time.nullable(),
          accepted: z.string().nullable().describe('The reason why the operator accepted it.'),
          accepted_despite: z
            .string()
            .nullable()
            .describe('What speaks against one that was accepted, such as failed tests.'),
        }),
      )
      .describe('The verified ones that support their claim.'),
    score: z.number().min(0).max(1).describe('1 for a case with all the words of this one.'),
    words: z.array(z.string()).describe('Some of the words that both have.'),
  }),
).meta({ id: 'ResolvedCase' })

const limit = (most: number, otherwise: number) =>
  z.int().min(1).max(most).optional().describe(`How many at most, 1 to ${most}; else ${otherwise}.`)

export const searchOperations: Operations = {
  'GET /search': {
    ...{ id: 'search', tag: 'Cases', summary: 'Full text of cases, sessions, memory and proof' },
    description:
      'The best case first, each with the lines in which the words stand. Needs a word or a filter in `q`.',
    query: {
      q: z
        .string()
        .min(1)
        .max(MAX_QUERY_LENGTH)
        .describe(
          'Words, phrases in `"quotation marks"`, and filters such as `state:RESOLVED`, `type:bug` or `tag:auth`.',
        ),
      ...caseFilters,
      limit: limit(100, 20),
    },
    answers: {
      200: {
        description: 'The cases, the best first.',
        json: z.array(foundCase),
        headers: ['X-Total-Count'],
      },
    },
    refusals: ['bad_request', 'unknown_state'],
  },
  'GET /cases/:id/similar': {
    ...{ id: 'similarCases', tag: 'Cases', summary: 'Resolved cases that resemble this one' },
    description:
      'Found by the words of title and description, with what was learned from each: its outcome, its cause and its verified proof.',
    query: { limit: limit(20, 5) },
    answers: {
      200: { description: 'The cases, the most alike first.', json: z.array(resolvedCase) },
    },
    refusals: ['bad_request'],
  },
}
