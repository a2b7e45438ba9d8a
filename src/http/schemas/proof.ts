import * as z from 'zod'
import { MAX_FAILED_TESTS } from '../../model/failed-test.ts'
import { PICTURE_TYPES } from '../../model/picture.ts'
import { count, id, time } from '../../model/schemas.ts'
import { proofType } from './checklist.ts'
import { RESOLVED } from './params.ts'
import { type JsonOf, sentId } from './primitives.ts'
import { failedTest, flaky } from './session.ts'
import { notBlank, oneLine } from './text-fields.ts'

export const newProofSchema = z
  .object({
    type: proofType
      .nullish()
      .describe('Null makes it the type of what it is. Required with `content`.'),
    content: notBlank('content').optional().describe('Any text.'),
    artifact: z
      .string()
      .max(200)
      .optional()
      .describe('The name of a candidate of a session, whose text becomes the content.'),
    session_id: sentId.nullish().describe('The session that it belongs to.'),
  })
  .refine((proof) => proof.type !== undefined || proof.artifact !== undefined, {
    path: ['type'],
    when: () => true, // also if other fields are wrong, so that one response names all that is missing
    message: 'expected a string, or null for what the content is, but it is missing',
  })
  .refine((proof) => (proof.content === undefined) !== (proof.artifact === undefined), {
    path: ['content'],
    when: () => true,
    message: "expected either content, or artifact: the name of one of the session's candidates",
  })
  .meta({ id: 'NewProof', examples: [{ artifact: '1-test.tap' }] })

/** For a body that is a picture. */
export const pictureQuery = {
  type: proofType.optional().describe('Of a picture: the type of proof, `screenshot` by default.'),
  session_id: z
    .union([sentId, z.literal('none')])
    .optional()
    .describe('Of a picture: the session that it belongs to, or `none`.'),
}

export const verifySchema = z
  .object({
    accept: oneLine(2000).nullish().meta({
      description: 'Why the proof counts although it does not support its claim by itself.',
    }),
  })
  .meta({ id: 'Verification', examples: [{ accept: 'It was tried by hand as well.' }] })

const testReport = z
  .object({
    run: count,
    passed: count,
    failed: count,
    flaky,
    incomplete: z
      .literal(true)
      .optional()
      .describe('Only if the report is cut off or contradicts its own totals.'),
  })
  .meta({ id: 'TestReport' })

const image = z
  .object({
    type: z.enum(PICTURE_TYPES),
    width: count.describe('In pixels.'),
    height: count,
    bytes: count,
    url: z.string().describe('The path of the picture itself.'),
  })
  .meta({ id: 'ProofImage' })

const proofHead = {
  id,
  case_id: id,
  session_id: id.nullable().describe('The session that it belongs to, if any.'),
  type: z.string(),
  verified: z.boolean().describe('Whether the operator has verified this content.'),
  verified_at: time.nullable(),
  verified_by: z.string().nullable(),
  meets: z.array(z.string()).describe('The checklist items that it met when it was verified.'),
  tests: testReport.nullable().describe('The counts, if it is a test report.'),
  failed_tests: z.array(failedTest).describe(`The first ${MAX_FAILED_TESTS} at most.`),
  flaky_tests: z
    .array(z.string())
    .describe('The names of tests that passed on a retry, the first 20 at most.'),
  unread: z
    .string()
    .nullable()
    .describe('The kind of test report, such as `NUnit 3 XML`, if Casefile does not read it.'),
  exit_code: z
    .int()
    .nullable()
    .describe('The exit code of the step that it comes from; null if that was 0 or is unknown.'),
  accepted: z
    .string()
    .nullable()
    .describe('Why the operator accepts it although it does not support its claim by itself.'),
  supports: z
    .boolean()
    .describe('Whether it supports its claim, so that it counts once it is verified.'),
  why_not: z.string().nullable().describe('Why it does not support its claim.'),
  image: image.nullable().describe('The picture, if the proof is one.'),
  sha256: z.string().describe('SHA-256 of the content, or of the picture, in hex.'),
  created_at: time,
  updated_at: time,
}

const head = z.object(proofHead)

const EXAMPLE = {
  id: RESOLVED.pid,
  case_id: RESOLVED.id,
  session_id: RESOLVED.sid,
  type: 'operator-note',
  verified: true,
  verified_at: '2026-11-11T15:40:00.025Z',
  verified_by: 'Ada',
  meets: ['Somebody else has read the change'],
  tests: null,
  failed_tests: [],
  flaky_tests: [],
  unread: null,
  exit_code: null,
  accepted: null,
  supports: true,
  why_not: null,
  image: null,
  sha256: '91ec1f31d2239a37ec9146db9228b0f892ffa92436dbb15263cbab002d13e819',
  created_at: '2026-11-11T15:40:00.002Z',
  updated_at: '2026-11-11T15:40:00.025Z',
  content: 'Read by Grace on 11 November, see review.md. Old hashes were tried and still work.',
}

export const proof = z
  .object({ ...proofHead, content: z.string() })
  .meta({ id: 'Proof', examples: [EXAMPLE] })

export const listedProof = z
  .object({
    ...proofHead,
    content: z.string().optional().describe('Missing with `content=false`.'),
  })
  .meta({ id: 'ListedProof', examples: [EXAMPLE] })

export type ProofHeadJson = JsonOf<typeof head>
export type ProofJson = JsonOf<typeof proof>
