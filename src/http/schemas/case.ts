import * as z from 'zod'
import { CASE_FIELDS } from '../../model/case-fields.ts'
import { CASE_STATES, SESSION_TYPES } from '../../model/case-state.ts'
import { KNOWN_PROOF_TYPES } from '../../model/known-words.ts'
import { SLUG, SLUG_RULE, UUID } from '../../model/words.ts'
import { settableShape } from './case-fields.ts'
import { oneLine, trimmedLine, upTo, WORDS } from './text-fields.ts'

/**
 * What request bodies must hold. Unknown fields are dropped (design §4). The API's description is made of
 * these: so a rule is a pattern where it can be one, and `meta` tells what no pattern can.
 */

const slug = z.string().regex(SLUG, `expected ${SLUG_RULE}`)
const proofType = slug.meta({
  description: `Known: ${KNOWN_PROOF_TYPES.join(', ')}; or ${SLUG_RULE}.`,
  examples: [...KNOWN_PROOF_TYPES],
})
const uuid = z.string().regex(UUID, 'expected a UUID in lower case')
const text = z.string()

export const newCaseSchema = z.object(settableShape)

export const caseFieldsSchema = newCaseSchema.partial({ title: true })

export const stateSchema = z.object({
  state: z.string().meta({ enum: [...CASE_STATES] }),
  outcome: settableShape.outcome,
  reason: oneLine(CASE_FIELDS.reason.max).nullish(),
})

export const answerSchema = z.object({
  text: upTo(20_000).regex(WORDS, 'expected an answer that says something'),
})

export const checklistItemSchema = z.object({
  description: trimmedLine(500),
  type: proofType,
  required: z.boolean().default(false),
})

export const newSessionSchema = z
  .object({
    type: z.enum(SESSION_TYPES).optional(),
    provider: slug.optional(),
    note: upTo(20_000).optional(),
    again: uuid.optional(),
  })
  .check(({ value, issues }) => {
    if (value.type !== undefined || value.again !== undefined) return
    const message = `expected one of ${SESSION_TYPES.join(', ')}, or "again" with the id of a session that failed`
    issues.push({ code: 'custom', path: ['type'], message, input: undefined })
  })

export const planSchema = z.object({
  plan: text.regex(WORDS, 'expected a plan that says something'),
  hypothesis: text.optional(),
})

export const approveSchema = z.object({
  plan_sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'expected the 64 hex digits of plan_sha256')
    .toLowerCase()
    .optional(),
})

export const reviseSchema = z.object({
  note: upTo(20_000).regex(WORDS, 'expected what to change'),
})

export const promptSchema = z.object({
  prompt: text.regex(WORDS, 'expected a prompt that says something'),
})

export const abandonSchema = z.object({ reason: oneLine(2000).optional() })

export const newProofSchema = z
  .object({
    type: proofType,
    content: text.regex(WORDS, 'expected content that says something').optional(),
    artifact: z.string().max(200).optional(),
    session_id: uuid.nullish(),
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
