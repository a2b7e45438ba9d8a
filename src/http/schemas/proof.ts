import * as z from 'zod'
import { KNOWN_PROOF_TYPES } from '../../model/known-words.ts'
import { SLUG, SLUG_RULE } from '../../model/words.ts'
import { count, id, type JsonOf, sentId, time } from './primitives.ts'
import { oneLine, trimmedLine, WORDS } from './text-fields.ts'

const proofType = z
  .string()
  .regex(SLUG, `expected ${SLUG_RULE}`)
  .meta({
    description: `Known: ${KNOWN_PROOF_TYPES.join(', ')}; or ${SLUG_RULE}.`,
    examples: [...KNOWN_PROOF_TYPES],
  })

export const checklistItemSchema = z.object({
  description: trimmedLine(500),
  type: proofType,
  required: z.boolean().default(false),
})

export const newProofSchema = z
  .object({
    type: proofType,
    content: z.string().regex(WORDS, 'expected content that says something').optional(),
    artifact: z.string().max(200).optional(),
    session_id: sentId.nullish(),
  })
  .refine((proof) => (proof.content === undefined) !== (proof.artifact === undefined), {
    path: ['content'],
    when: () => true, // also beside other wrong fields: so that all that is missing is named at once
    message: "expected either content, or artifact: the name of one of the session's candidates",
  })

export const verifySchema = z.object({
  accept: oneLine(2000).nullish().meta({
    description: 'Why the proof counts although it does not support its claim by itself.',
  }),
})

const proofHead = {
  id,
  case_id: id,
  session_id: id.nullable(),
  type: z.string(),
  verified: z.boolean(),
  verified_at: time.nullable(),
  tests: z
    .object({
      run: count,
      passed: count,
      failed: count,
      incomplete: z.literal(true).optional().describe('Only where the report breaks off.'),
    })
    .nullable()
    .describe('What the test report in it says; null where it is none.'),
  failed_tests: z
    .array(
      z.object({
        name: z.string(),
        message: z.string().nullable(),
        file: z.string().nullable(),
        line: z.number().nullable(),
      }),
    )
    .describe('The first 20.'),
  exit_code: z
    .int()
    .nullable()
    .describe('Of the step that it comes from; null where that was 0, or is not known.'),
  accepted: z
    .string()
    .nullable()
    .describe('Why the operator accepts it although it does not support its claim by itself.'),
  supports: z.boolean().describe('Whether it opens the gate once it is verified.'),
  why_not: z.string().nullable().describe('Why it supports nothing.'),
  sha256: z.string(),
  created_at: time,
  updated_at: time,
}

const head = z.object(proofHead)

export const proof = z.object({ ...proofHead, content: z.string() }).meta({
  id: 'Proof',
})

export const listedProof = z
  .object({
    ...proofHead,
    content: z.string().optional().describe('Not with `content=false`.'),
  })
  .meta({ id: 'ListedProof' })

export type ProofHeadJson = JsonOf<typeof head>
export type ProofJson = JsonOf<typeof proof>
