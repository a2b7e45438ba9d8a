import * as z from 'zod'
import { FILTERED, type FilteredField } from '../../model/case-fields.ts'
import { responseShape } from './case-fields.ts'
import { caseState, id, type JsonOf, time } from './primitives.ts'

const offset = z.int().min(0)

/** A tuple in TypeScript, but a plain array in JSON Schema: client generators know no `prefixItems`. */
const pair = z.array(offset).min(2).max(2) as unknown as z.ZodType<[from: number, to: number]>

const lineOfFile = z
  .object({
    line: z.int().min(1),
    text: z.string().describe('The line, or what of a long one is around the first match.'),
    marks: z
      .array(pair)
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

export const foundCase = z
  .object({
    id,
    title: z.string(),
    ...responseShape<FilteredField>(FILTERED),
    updated_at: time,
    score: z.number().min(0).describe('To be compared within one answer alone.'),
    missing: z
      .array(z.string())
      .describe('Words of the query that the case does not have: empty where any case has all.'),
    lines: z.array(lineOfFile).describe('Up to five, those with most of the words first.'),
  })
  .meta({ id: 'FoundCase' })

export const resolvedCase = z
  .object({
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
  })
  .meta({ id: 'ResolvedCase' })

export type FoundCaseJson = JsonOf<typeof foundCase>
export type ResolvedCaseJson = JsonOf<typeof resolvedCase>
