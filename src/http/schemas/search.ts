import * as z from 'zod'
import { FILTERED, type FilteredField } from '../../model/case-fields.ts'
import { caseState, id, time } from '../../model/schemas.ts'
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

const resolvedProof = z
  .object({
    id,
    type: z.string(),
    verified_at: time.nullable(),
    accepted: z
      .string()
      .nullable()
      .describe('Why the operator accepted it although it does not support its claim by itself.'),
    accepted_despite: z
      .string()
      .nullable()
      .describe('What speaks against it, such as failed tests.'),
  })
  .meta({ id: 'ResolvedProof' })

export const resolvedCase = z
  .object({
    id,
    title: z.string(),
    type: z.string(),
    state: caseState,
    outcome: z.string().nullable(),
    reason: z.string().nullable().describe('Why it was resolved, in the words of the operator.'),
    cause: z.string().nullable().describe('The hypothesis of its last complete session.'),
    proof: z.array(resolvedProof).describe('The verified proof that counts.'),
    score: z.number().min(0).max(1).describe('1 if the case has all words of this one.'),
    words: z.array(z.string()).describe('Some of the words that both cases have.'),
  })
  .meta({
    id: 'ResolvedCase',
    examples: [
      {
        id: RESOLVED.id,
        title: 'Two people with one password have the same hash',
        type: 'bug',
        state: 'RESOLVED',
        outcome: 'ConfirmedCodeBug',
        reason: null,
        cause: 'All passwords are hashed with one salt.',
        proof: [
          {
            id: RESOLVED.pid,
            type: 'operator-note',
            verified_at: '2026-11-11T15:40:00.025Z',
            accepted: null,
            accepted_despite: null,
          },
        ],
        score: 0.198,
        words: ['signed', 'password', 'seconds', 'sign-in'],
      },
    ],
  })

export type FoundCaseJson = JsonOf<typeof foundCase>
export type ResolvedCaseJson = JsonOf<typeof resolvedCase>
