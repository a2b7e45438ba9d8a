import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { readTrail } from '../markdown/trail.ts'
import { type CaseContents, gateOf } from '../model/case-contents.ts'
import type { CommitTrailer } from '../model/commit-trailer.ts'
import { capital } from '../model/one-line.ts'
import { planViolation, planViolationText } from '../model/plan-violation.ts'
import { isBreaking } from '../model/problem.ts'
import { countsAsVerified } from '../model/proof.ts'
import { objectionTo } from '../model/proof-objections.ts'
import { isSealed, type Session } from '../model/session.ts'
import { hasEnded } from '../model/session-state.ts'
import { standingApproval } from '../model/trail.ts'
import { faultsInTrail } from '../model/trail-rules.ts'
import { changedProofs, changedSession, goneSessions, goneSignature } from './history-rules.ts'
import { type ReadContext, readSession } from './read-session.ts'
import type { RecordHistory } from './record-history.ts'
import type { Claim, ClaimedSession, Failure } from './result.ts'

export interface ClaimContext extends ReadContext {
  signers: string
  history: RecordHistory
  requireSignature: boolean
}

/** Everything about a session that does not depend on the commit that names it. */
export interface CheckedSession extends Pick<Claim, 'session' | 'failures' | 'notes'> {
  /** As the record has it; null if it has none that can be read. */
  record: Session | null
}

/** Looks up the session that a trailer names, and checks whether the record supports it. */
export async function checkSession(
  trailer: CommitTrailer,
  context: ClaimContext,
): Promise<CheckedSession> {
  const { snapshot } = context
  const { case_id, session: number } = trailer
  const contents = snapshot.catalog.folder(case_id)
  const entry = snapshot.catalog.entry(case_id)
  if (!contents || !entry) {
    return failed('no_case', `The record has no case ${case_id}.`)
  }
  const broken = entry.file.problems.find(isBreaking)
  if (broken) return failed('unreadable', `case.md cannot be read: ${broken.message}.`)
  const session = sessionFor(trailer, contents)
  if (!session) {
    const record = entry.sessions.get(number)
    const why = record?.problems.find(isBreaking)?.message
    if (why) return failed('unreadable', `Session ${number} cannot be read: ${why}.`)
    return failed('no_session', `Case ${case_id.slice(0, 8)} has no session ${number}.`)
  }
  return checkFound(trailer, contents, session, context)
}

function failed(code: Failure['code'], message: string): CheckedSession {
  return { session: null, failures: [{ code, message }], notes: [], record: null }
}

/** By number; if that session has another plan, the one that had this number before two branches were merged. */
export function sessionFor(
  { session: number, plan }: CommitTrailer,
  { sessions }: CaseContents,
): Session | undefined {
  const fits = (session: Session) => approvedHash(session)?.startsWith(plan) ?? false
  const numbered = sessions.find((session) => session.number === number)
  if (numbered && fits(numbered)) return numbered
  const hadNumber = ({ trail }: Session) =>
    trail.some((line) => line.event === 'renumbered' && line.fields.from === number)
  return sessions.find((session) => hadNumber(session) && fits(session)) ?? numbered
}

export function approvedHash({ trail }: Session): string | null {
  const hash = standingApproval(trail)?.fields.plan_sha256
  return typeof hash === 'string' ? hash : null
}

async function checkFound(
  trailer: CommitTrailer,
  contents: CaseContents,
  session: Session,
  context: ClaimContext,
): Promise<CheckedSession> {
  const { history } = context
  const { number, trail, state, plan_sha256 } = session
  const read = await readSession(contents, session, context)
  if (!read) return failed('unreadable', `Session ${number} cannot be read.`)
  const { text, plan, changed, described } = read
  const approved = standingApproval(trail)
  const failures: Failure[] = []
  const fail = (code: Failure['code'], message: string) => failures.push({ code, message })

  if (!approved) {
    const wasApproved = trail.some(({ event }) => event === 'plan_approved')
    const why = wasApproved
      ? `The approval of session ${number} was taken back before it started.`
      : `Session ${number} was never approved.`
    fail('not_approved', why)
  } else if (!String(approved.fields.plan_sha256).startsWith(trailer.plan)) {
    const was = String(approved.fields.plan_sha256).slice(0, 12)
    fail(
      'other_plan',
      `The commit names the plan ${trailer.plan}; approved was the plan ${was} of session ${number}.`,
    )
  }
  const isSamePlan =
    approved?.fields.plan_sha256 === sha256(plan) && approved?.fields.plan_sha256 === plan_sha256
  if (approved && !isSamePlan) {
    fail('plan_changed', `The plan in ${relativeFile(session)} is not the text that was approved.`)
  }
  if (state !== 'complete') {
    const is = hasEnded(state) ? `session ${number} ${stateWords(state)}` : `its run is not over`
    fail('not_complete', `The work was not completed: ${is}.`)
  }
  if (!isSealed(session)) {
    fail('not_sealed', `Session ${number} is not sealed: no proof is attached to it.`)
  }
  for (const message of changed) fail('seal_broken', sentence(message))
  const lines = readTrail(text)?.lines.map(({ line }) => line) ?? []
  const { steps } = await readPlan(plan)
  const faults = faultsInTrail(lines, { ...session, steps, planSha256: sha256(plan) })
  if (faults.length > 0)
    fail('trail_gap', `The audit trail was not written like this: ${faults.join('; ')}.`)
  failures.push(...(await changedSession(session, text, history)))
  failures.push(...goneSessions(contents, unreadableIn(contents, context), history))

  const gate = gateOf(contents)
  if (!gate.open)
    fail('proof_missing', `The case is not proved: missing ${gate.missing.join(', and ')}.`)
  const proofs = changedProofs(contents, session, history)
  failures.push(...proofs.failures)
  if (described.signature === null) failures.push(...goneSignature(session, history))
  failures.push(
    ...signatureFailures(described.signature, context.requireSignature && approved !== undefined),
  )

  const { notes } = proofs
  const violation = planViolation(session)
  if (violation) notes.push(`In session ${number}, ${planViolationText(violation)}.`)
  if (gate.open && !isProved(session, contents)) {
    notes.push(`No proof that counts is of session ${number}; ${whatIsProved(contents)}.`)
  }
  return { session: described, failures, notes, record: session }
}

/** The numbers of the session files that are there and cannot be read. */
function unreadableIn({ case: { id } }: CaseContents, { snapshot }: ClaimContext): Set<number> {
  const records = [...(snapshot.catalog.entry(id)?.sessions ?? [])]
  return new Set(records.filter(([, { value }]) => !value).map(([number]) => number))
}

/** What the proofs that count are of, if not of the session. */
function whatIsProved(contents: CaseContents): string {
  const isOther = contents.sessions.some((session) => isProved(session, contents))
  return isOther
    ? 'another session of the case is proved'
    : 'the proof of the case names no session that it has'
}

function relativeFile({ number }: Session): string {
  return `sessions/${number}.md`
}

function stateWords(state: Session['state']): string {
  return state === 'failed' ? 'failed' : 'was abandoned'
}

/** Begins with a capital, and ends with a full stop. */
function sentence(text: string): string {
  return `${capital(text)}.`
}

function signatureFailures(signature: ClaimedSession['signature'], isRequired: boolean): Failure[] {
  if (signature === null) {
    return isRequired ? [{ code: 'unsigned', message: 'The approval is not signed.' }] : []
  }
  const message = signature.reason ?? 'The signature is not valid.'
  if (signature.state === 'invalid') return [{ code: 'bad_signature', message }]
  if (signature.state === 'unknown_signer') return [{ code: 'unknown_signer', message }]
  return signature.state === 'unchecked' && isRequired ? [{ code: 'unsigned', message }] : []
}

/** Whether a proof that counts names the session. */
export function isProved(session: Session, { proofs, sessions }: CaseContents): boolean {
  return proofs.some(
    (proof) =>
      proof.session_id === session.id &&
      countsAsVerified(proof) &&
      objectionTo(proof, sessions) === null,
  )
}
