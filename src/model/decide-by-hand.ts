import { type CaseFolder, type Edit, sessionOf } from './case-folder.ts'
import { byCreation } from './proof.ts'
import { hasProof, isSealed, type Session, type SessionEdit, sessionMove } from './session.ts'
import { stateInTrail } from './session-state.ts'
import { lastOf, numbered, type TrailLine } from './trail.ts'

/**
 * What the service writes in answer to a hand edit: each decision is made on what the
 * files say, gives nothing where nothing is to do, and so may be asked at any time.
 */
export function afterHandEdit(
  folder: CaseFolder,
  id: string,
  texts: TextHashes | null,
  { now, inRun = false }: Circumstances,
): Edit[] {
  const session = sessionOf(folder, id)
  const answer =
    abandoned(session, now) ??
    sealed(folder, session, now) ??
    planEdited(session, texts, { now, inRun })
  return answer ? [sessionEdit(session, answer)] : withTrueLines(folder, id)
}

/** A write that sets nothing, as each one puts true lines back into a changed trail; none where the trail has them. */
export function withTrueLines(folder: CaseFolder, id: string): Edit[] {
  const session = sessionOf(folder, id)
  if (!hasChangedTrail(folder, session)) return []
  return [sessionEdit(session, {})]
}

export function hasChangedTrail({ problems }: CaseFolder, { number }: Session): boolean {
  const file = `sessions/${number}.md`
  return problems.some((problem) => problem.code === 'trail_changed' && problem.file === file)
}

function sessionEdit({ number }: Session, edit: SessionEdit): Edit {
  return { file: 'session', number, edit }
}

export interface Circumstances {
  now: string
  /** Whether programs of a run could write the file meanwhile. */
  inRun?: boolean
}

export interface TextHashes {
  plan: string
  hypothesis: string
}

type SessionEditOrNone = SessionEdit | null

/** `state: abandoned` by hand is carried out, since it only takes power away. */
function abandoned(session: Session, now: string): SessionEditOrNone {
  const state = stateInTrail(session.trail)
  if (session.byHand !== 'abandoned' || state === null) return null
  const reason = 'state: abandoned was written into the file by hand'
  return sessionMove({ ...session, state }, { trigger: 'abandon', now, reason })
}

/** A proof file that names a complete session ends it, no matter who wrote the file. */
function sealed(folder: CaseFolder, session: Session, now: string): SessionEditOrNone {
  if (session.state !== 'complete' || isSealed(session)) return null
  if (!hasProof(session, folder.proofs)) return null
  const lines = folder.proofs
    .filter((proof) => proof.session_id === session.id && !isInTrail(session.trail, proof.id))
    .sort(byCreation)
    .map((proof) => ({
      event: 'proof_attached',
      fields: { proof_id: proof.id, proof_type: proof.type },
    }))
  return { lines: numbered(session.trail, lines, now), seal: { time: now } }
}

function isInTrail(trail: readonly TrailLine[], proofId: string): boolean {
  return trail.some((line) => line.event === 'proof_attached' && line.fields.proof_id === proofId)
}

/** One line for a plan or hypothesis that is not the one the trail names last. */
function planEdited(
  session: Session,
  texts: TextHashes | null,
  { now, inRun }: Circumstances,
): SessionEditOrNone {
  if (session.state !== 'plan_ready' || texts === null) return null
  const { trail } = session
  const written = [lastOf(trail, 'plan_edited'), lastOf(trail, 'plan_written')]
  const plan = newest(written)?.fields.sha256
  const hypothesis = knownHypothesis(trail)
  const otherHypothesis = hypothesis !== undefined && hypothesis !== texts.hypothesis
  if (plan === undefined || (plan === texts.plan && !otherHypothesis)) return null
  const fields = {
    by: 'hand',
    sha256: texts.plan,
    ...(otherHypothesis ? { hypothesis_sha256: texts.hypothesis } : {}),
    ...(inRun ? { in_run: true } : {}),
  }
  return { lines: numbered(trail, [{ event: 'plan_edited', fields }], now) }
}

/** Undefined where the trail does not say: older ones name the hypothesis without its hash. */
function knownHypothesis(trail: readonly TrailLine[]): unknown {
  const edited = trail.findLast(
    (line) => line.event === 'plan_edited' && line.fields.hypothesis_sha256 !== undefined,
  )
  const written = lastOf(trail, 'hypothesis_written')
  const last = newest([edited, written])
  return last?.event === 'plan_edited' ? last.fields.hypothesis_sha256 : last?.fields.sha256
}

function newest(lines: readonly (TrailLine | undefined)[]): TrailLine | undefined {
  return lines
    .filter((line) => line !== undefined)
    .sort((a, b) => a.number - b.number)
    .at(-1)
}
