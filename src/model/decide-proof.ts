import { type CaseFolder, type Edit, newest, proofOf, sessionOf } from './case-folder.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import { Refusal } from './refusal.ts'
import { hasProof, isSealed, type Session } from './session.ts'
import { isRunning } from './session-state.ts'
import { numbered } from './trail.ts'

export interface NewProof {
  id: string
  type: string
  content: string
  sha256: string
  /** Undefined: the newest complete session without proof, if there is one. Null: none. */
  session_id?: string | null | undefined
}

/** The session that a proof is for; a Refusal where the named one has not run to its end. */
export function sessionForProof(folder: CaseFolder, id: string | null | undefined): Session | null {
  if (id === null) return null
  if (id === undefined) {
    const waiting = folder.sessions.filter(
      (session) => session.state === 'complete' && !hasProof(session, folder.proofs),
    )
    return (
      newest(waiting.map((session) => ({ ...session, created_at: session.started_at }))) ?? null
    )
  }
  const session = sessionOf(folder, id)
  if (isRunning(session.state) || session.state === 'plan_ready') {
    throw new Refusal(
      'wrong_state',
      `Session ${session.number} is ${session.state}: proof can be linked once it is complete, failed or abandoned.`,
    )
  }
  return session
}

/** Attaches proof; with it a complete session ends, and is sealed (specification §2.2, rule 1). */
export function attachProof(folder: CaseFolder, wanted: NewProof, now: string): Edit[] {
  const session = sessionForProof(folder, wanted.session_id)
  const proof: Proof = {
    id: wanted.id,
    case_id: folder.case.id,
    session_id: session?.id ?? null,
    type: wanted.type,
    created_at: now,
    sha256: wanted.sha256,
    verified: false,
    verified_at: null,
    intact: true,
  }
  const edits: Edit[] = [{ file: 'new-proof', proof, content: wanted.content }]
  if (session && !isSealed(session)) {
    const line = { event: 'proof_attached', fields: { proof_id: proof.id, proof_type: proof.type } }
    edits.push({
      file: 'session',
      number: session.number,
      edit: { lines: numbered(session.trail, [line], now), seal: { time: now } },
    })
  }
  return edits
}

/** Verifies the content as it stands now; verifying what is verified already changes nothing. */
export function verifyProof(folder: CaseFolder, id: string, now: string): Edit[] {
  const proof = proofOf(folder, id)
  return countsAsVerified(proof) ? [] : [{ file: 'proof', id, verified_at: now }]
}
