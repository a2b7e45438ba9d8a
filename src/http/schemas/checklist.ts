import * as z from 'zod'
import { SLUG, SLUG_RULE } from '../../model/name-patterns.ts'
import { KNOWN_PROOF_TYPES } from '../../model/suggested-values.ts'
import { trimmedLine } from './text-fields.ts'

export const proofType = z
  .string()
  .regex(SLUG, `expected ${SLUG_RULE}`)
  .meta({
    description: `Known: ${KNOWN_PROOF_TYPES.join(', ')}; or ${SLUG_RULE}.`,
    examples: [...KNOWN_PROOF_TYPES],
  })

export const checklistItemSchema = z
  .object({
    description: trimmedLine(500).describe(
      'What the proof must show, in one line without white space at its ends.',
    ),
    type: proofType,
    // no `default`: openapi-typescript would make the field required
    required: z.boolean().optional().describe('`false` by default.'),
  })
  .meta({
    id: 'NewChecklistItem',
    examples: [{ description: 'Signed in with two browsers', type: 'log', required: true }],
  })
