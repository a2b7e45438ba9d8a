import { planViolation, planViolationText } from '../model/plan-violation.ts'
import { artifactType, type ShownType, stepOfArtifact } from '../model/proof-type.ts'
import type { Candidate, Session } from '../model/session.ts'
import { lastOf } from '../model/trail.ts'
import { isPassingNote } from '../runners/reports/test-results.ts'
import { artifactExitCode } from './proof-content.ts'

/** A file of a session that can be attached as proof, and what it would be worth. */
export interface JudgedCandidate extends Candidate {
  /** The type that proof of it has. */
  type: ShownType
  /** Why proof of it would not count, as far as the session's file says; null if it would. */
  why_not: string | null
  /** The hash of what the session left, in its audit trail; null if the trail has none. */
  sha256: string | null
}

export function judgeCandidate(session: Session, candidate: Candidate): JudgedCandidate {
  const { artifact, note } = candidate
  const type = artifactType(session, candidate)
  const sha256 = recordedHash(session, artifact)
  return { artifact, note, type, why_not: whyNot(session, type, candidate), sha256 }
}

/** The note on the log of a step that ended by itself; older versions wrote `exit 0 after 1.2 s`. */
const EXIT = /^exit \d+(?:,| after) /

function whyNot(session: Session, type: ShownType, { artifact, note }: Candidate): string | null {
  const exit = artifactExitCode(session, artifact)
  const step = stepOfArtifact(session, artifact)
  const isLog = step?.artifacts.log === artifact && step.proof === 'test'
  const isGreen = isPassingNote(note) || (isLog && EXIT.test(note))
  if (type === 'test-log' && !isGreen) return note
  if (exit !== null) return `the step ended with exit code ${exit}`
  if (session.state === 'failed') return `session ${session.number} failed`
  const violation = planViolation(session)
  return violation && `${planViolationText(violation)}, so it counts only with a reason`
}

function recordedHash(session: Session, artifact: string): string | null {
  const step = stepOfArtifact(session, artifact)
  const { log_sha256, report_sha256 } = step?.finished?.fields ?? {}
  const ofStep = step?.artifacts.report === artifact ? report_sha256 : log_sha256
  const found = step ? ofStep : lastOf(session.trail, 'diff_taken')?.fields.patch_sha256
  return typeof found === 'string' ? found : null
}
