import * as z from 'zod'
import { FILTERED, type FilteredField } from '../../model/case-fields.ts'
import { id, time } from '../../model/schemas.ts'
import { attention } from './case.ts'
import { exampleFields, responseShape } from './case-fields.ts'
import { RESOLVED } from './params.ts'
import { type JsonOf, lineNumber } from './primitives.ts'

const offset = z.int().min(0)

/** A tuple in TypeScript, but a plain array in JSON Schema: client generators know no `prefixItems`. */
const pair = z.array(offset).min(2).max(2) as unknown as z.ZodType<[from: number, to: number]>

const lineOfFile = z
  .object({
    line: lineNumber,
    text: z.string().describe('The line; of a long one, the part around the first match.'),
    marks: z
      .array(pair)
      .describe('The start and end of each matching word in `text`, in UTF-16 units.'),
    file: z.string().describe('Relative to the workspace.'),
  })
  .meta({ id: 'MatchingLine' })

export const foundCase = z
  .object({
    id,
    title: z.string(),
    ...responseShape<FilteredField>(FILTERED),
    updated_at: time,
    needs: attention.nullable(),
    score: z.number().min(0).describe('Only comparable within one response.'),
    missing: z
      .array(z.string())
      .describe(
        'Words of the query that the case lacks. If some case has all words, others are not listed.',
      ),
    lines: z.array(lineOfFile).describe('Up to five lines, those with the most words first.'),
  })
  .meta({
    id: 'FoundCase',
    examples: [
      {
        id: RESOLVED.id,
        title: 'Two people with one password have the same hash',
        ...exampleFields<FilteredField>(FILTERED),
        updated_at: '2026-11-12T09:00:00.051Z',
        needs: null,
        score: 17.99,
        missing: [],
        lines: [
          {
            file: `memory/cases/${RESOLVED.id}/case.md`,
            line: 11,
            text: 'All passwords are hashed with one salt. So two people who chose the same password have the same',
            marks: [[34, 38]],
          },
        ],
      },
    ],
  })

export type FoundCaseJson = JsonOf<typeof foundCase>
