/** What an operator signs when they approve a plan with their SSH key. docs/security.md has the format. */
export interface Approval {
  case_id: string
  session_id: string
  plan_sha256: string
  /** When it was signed, as an ISO 8601 time in UTC. */
  signed_at: string
}

/** The namespace of `ssh-keygen -Y`, so that no signature of another program counts as an approval. */
export const SIGNATURE_NAMESPACE = 'casefile'

/** The keys that may sign, in the format of OpenSSH's `allowed_signers`; beside casefile.md. */
export const ALLOWED_SIGNERS = 'allowed_signers'

/** The signed text. `readStatement` reads it back. */
export function approvalStatement({
  case_id,
  session_id,
  plan_sha256,
  signed_at,
}: Approval): string {
  return `Casefile approval
case: ${case_id}
session: ${session_id}
plan_sha256: ${plan_sha256}
signed_at: ${signed_at}
`
}

const ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const STATEMENT = new RegExp(
  `^Casefile approval\\ncase: (${ID})\\nsession: (${ID})\\nplan_sha256: ([0-9a-f]{64})\\nsigned_at: (\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)\\n$`,
)

/** Null for any other text. */
export function readStatement(text: string): Approval | null {
  const match = STATEMENT.exec(text)
  if (!match) return null
  const [, case_id, session_id, plan_sha256, signed_at] = match
  return {
    case_id: case_id!,
    session_id: session_id!,
    plan_sha256: plan_sha256!,
    signed_at: signed_at!,
  }
}

/**
 * What is known about the signature of an approval: `valid` (by a key in `allowed_signers`), `unknown_signer` (intact,
 * but by another key), `invalid` (it does not fit the approval), `unchecked` (`ssh-keygen` is missing).
 */
export const SIGNATURE_STATES = ['valid', 'unknown_signer', 'invalid', 'unchecked'] as const
export type SignatureState = (typeof SIGNATURE_STATES)[number]

export interface CheckedSignature {
  state: SignatureState
  /** The first principal of the key in `allowed_signers`, such as an email address. */
  signer: string | null
  /** The fingerprint of the key, such as `SHA256:…`. */
  key: string | null
  signed_at: string | null
  /** Why it is not valid, as a sentence. */
  reason: string | null
}
