import * as z from 'zod'
import { SIGNATURE_STATES } from '../../model/approval-statement.ts'
import { time } from '../../model/schemas.ts'
import { PLAN } from './params.ts'
import { planHash, upTo } from './text-fields.ts'

export const approvalSignature = z
  .object({
    state: z
      .enum(SIGNATURE_STATES)
      .describe(
        '`valid`: by a key in `allowed_signers`; `unknown_signer`: by another key; `invalid`: it does not fit the approval; `unchecked`: the service found no `ssh-keygen`.',
      ),
    signer: z.string().nullable().describe('Who signed, as `allowed_signers` names them.'),
    key: z.string().nullable().describe('The fingerprint of the key.'),
    signed_at: time.nullable(),
    reason: z.string().nullable().describe('Why it is not valid.'),
  })
  .meta({ id: 'CheckedSignature' })

const signatureSchema = z
  .object({
    signed_at: time.describe('The time in the signed statement, at most ten minutes ago.'),
    ssh: z
      .string()
      .max(16_384)
      .regex(
        /^-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]+-----END SSH SIGNATURE-----\n?$/,
        'expected the text that ssh-keygen -Y sign writes',
      )
      .describe('The signature, as `ssh-keygen -Y sign -n casefile` writes it.'),
  })
  .describe('Signs the approval. docs/security.md has the statement to sign.')
  .meta({ id: 'ApprovalSignature' })

export const approvalSchema = z
  .object({
    plan_sha256: planHash.optional().describe('SHA-256 of the plan that you have read, in hex.'),
    note: upTo(20_000).optional().describe('A note for the agent, which gets it with its plan.'),
    signature: signatureSchema.optional(),
    queue: z
      .boolean()
      .optional()
      .describe('Waits in line if the working folder is not free, instead of an error.'),
  })
  .meta({ id: 'Approval', examples: [{ plan_sha256: PLAN.plan_sha256 }] })
