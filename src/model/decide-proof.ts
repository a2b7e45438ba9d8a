import { AppError } from './app-error.ts'
import {
  type CaseContents,
  type Edit,
  gateOf,
  newest,
  proofOf,
  sessionOf,
} from './case-contents.ts'
import {
  type Counted,
  countsAsVerified,
  isToBeStamped,
  type Proof,
  type ReportCounts,
} from './proof.ts'
import { proofSummary } from './proof-summary.ts'
import { isDiff, shownType } from './proof-type.ts'
import { hasProof, isSealed, type Session } from './session.ts'
import { isActive } from './session-state.ts'
import type { NewTrailLine } from './trail.ts'
import { numbered } from './trail-lines.ts'

export interface NewProof {
  id: string
  /** Null gives it the type of what it is. */
  type: string | null
  content: string
  /** The name of the file that it comes from. */
  artifact?: string | undefined
  /** The bytes of the picture, if the proof is one. */
  picture: Uint8Array | null
  counted: Counted
  /** Exit code of the step that the content comes from, if it was not 0. */
  exit_code: number | null
  /** Undefined chooses the newest complete session without proof, if there is one; null links no session. */
  session_id?: string | null | undefined
}

/** Returns the session that a proof is for. Throws `wrong_state` if the given session is not over. */
export function sessionForProof(
  contents: CaseContents,
  id: string | null | undefined,
): Session | null {
  if (id === null) return null
  if (id === undefined) {
    const waiting = contents.sessions.filter(
      (session) => session.state === 'complete' && !hasProof(session, contents.proofs),
    )
    return (
      newest(waiting.map((session) => ({ ...session, created_at: session.started_at }))) ?? null
    )
  }
  const session = sessionOf(contents, id)
  if (isActive(session.state) || session.state === 'plan_ready') {
    throw new AppError(
      'wrong_state',
      `Session ${session.number} is ${session.state}. Proof can be linked once it is complete, failed or abandoned.`,
    )
  }
  return session
}

/** Attaches proof. This ends and seals a complete session. */
export function attachProof(contents: CaseContents, wanted: NewProof, now: string): Edit[] {
  const session = sessionForProof(contents, wanted.session_id)
  const { counted, exit_code, content, picture, artifact } = wanted
  const session_id = session?.id ?? null
  const is_diff = picture === null && isDiff(content)
  const shown = { ...counted, session_id, is_diff }
  const proof: Proof = {
    ...shown,
    exit_code,
    artifact,
    id: wanted.id,
    case_id: contents.case.id,
    type: wanted.type ?? shownType(shown, contents.sessions),
    created_at: now,
    verified: false,
    verified_at: null,
    verified_by: null,
    meets: [],
    accepted: null,
    intact: true,
    stamped: true,
    empty: false,
    uncounted: false,
  }
  const edits: Edit[] = [
    {
      file: 'new-proof',
      proof,
      content,
      picture,
      summary: proofSummary(proof, content, session),
    },
  ]
  if (session && !isSealed(session)) {
    const fields = { proof_id: proof.id, proof_type: proof.type }
    const line: NewTrailLine = { event: 'proof_attached', fields }
    edits.push({
      file: 'session',
      number: session.number,
      edit: { lines: numbered(session.trail, [line], now), seal: { time: now } },
    })
  }
  return edits
}

/**
 * Verifies the current content, whose tests were counted as `counted`. `accept` is a reason to accept a proof that
 * does not support its claim. Verifying again without a new reason changes nothing.
 */
export function verifyProof(
  contents: CaseContents,
  id: string,
  {
    counted,
    accept,
    by,
    now,
  }: { counted: Counted; accept: string | null; by: string; now: string },
): Edit[] {
  const proof = proofOf(contents, id)
  if (accept !== null && proof.empty) {
    const message = 'the proof is empty, so it cannot be accepted'
    throw new AppError('bad_request', `accept: ${message}. Attach a proof with content.`, {
      errors: [{ path: 'accept', message }],
    })
  }
  const isSame = countsAsVerified(proof) && !isToBeStamped(proof)
  if (isSame && (accept === null || accept === proof.accepted)) return []
  // a reason for accepting changed content no longer applies
  const accepted = accept ?? (proof.intact ? proof.accepted : null)
  const stated = accept === null && countsAsVerified(proof) ? proof : null
  const verified_at = stated?.verified_at ?? now
  const verified_by = stated?.verified_by ?? by
  const found = withMissingReport(counted, proof)
  const verified = { ...proof, ...found, verified: true, intact: true, uncounted: false, accepted }
  const meets = itemsMet(contents, verified)
  const verification = { verified_at, verified_by, meets, accepted }
  return [{ file: 'proof', id, counted: found, verification }]
}

/** The checklist items that a proof meets, as it is now. */
function itemsMet(contents: CaseContents, proof: Proof): string[] {
  const proofs = contents.proofs.map((each) => (each.id === proof.id ? proof : each))
  return gateOf({ ...contents, proofs })
    .items.filter(({ satisfied_by }) => satisfied_by === proof.id)
    .map(({ description }) => description)
}

/** Writes hash and test counts into a proof that a person wrote or edited; nothing if they are right. */
export function stampProof(contents: CaseContents, id: string, counted: Counted): Edit[] {
  const proof = contents.proofs.find((each) => each.id === id)
  if (!proof || proof.sha256 !== counted.sha256) return []
  if (!isToBeStamped(proof) && !contradicts(counted.tests, proof.tests)) return []
  return [{ file: 'proof', id, counted: withMissingReport(counted, proof), verification: null }]
}

/** Keeps `run: 0` of a step that should have left a report but did not; the content does not show that. */
function withMissingReport(counted: Counted, { intact, tests }: Proof): Counted {
  const isMissing = counted.tests === null && intact && tests?.run === 0
  return isMissing ? { ...counted, tests } : counted
}

function contradicts(counted: ReportCounts | null, stated: ReportCounts | null): boolean {
  if (counted === null) return (stated?.run ?? 0) > 0
  return (
    counted.run !== stated?.run ||
    counted.failed !== stated.failed ||
    (counted.flaky ?? 0) !== (stated.flaky ?? 0) ||
    (counted.incomplete ?? false) !== (stated.incomplete ?? false)
  )
}
