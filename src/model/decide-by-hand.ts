import { type CaseContents, type Edit, sessionOf } from './case-contents.ts'
import { tickedByHand } from './decide-comments.ts'
import { byCreation } from './proof.ts'
import { hasProof, isSealed, type Session, type SessionEdit, sessionMove } from './session.ts'
import { lastOf, type NewTrailLine, newLine, stateInTrail, type TrailLine } from './trail.ts'
import { numbered } from './trail-lines.ts'

/**
 * Decides what the service writes after an edit by a person: carry out `state: abandoned`, seal a session that has
 * proof, or record an edited plan or a ticked comment. Returns no edits if nothing is to do, so it can be called at any time.
 */
export function afterHandEdit(
  contents: CaseContents,
  id: string,
  texts: TextHashes | null,
  { now, inRun = false }: Circumstances,
): Edit[] {
  const session = sessionOf(contents, id)
  const answer =
    abandoned(session, now) ??
    sealed(contents, session, now) ??
    linesOf(session, now, [
      ...planEdited(session, texts, inRun),
      ...tickedByHand(session, contents.texts?.comments ?? []),
    ])
  return answer ? [sessionEdit(session, answer)] : restoreTrail(contents, id)
}

/** Returns an edit without changes if the audit trail was altered, since every write restores its original lines. */
export function restoreTrail(contents: CaseContents, id: string): Edit[] {
  const session = sessionOf(contents, id)
  if (!changedTrails(contents).has(session)) return []
  return [sessionEdit(session, {})]
}

/** The sessions whose audit trail was altered. */
export function changedTrails({ problems, sessions }: CaseContents): Set<Session> {
  const changed = problems.filter(({ code }) => code === 'trail_changed').map(({ file }) => file)
  const files = new Set(changed)
  return new Set(sessions.filter(({ number }) => files.has(`sessions/${number}.md`)))
}

function sessionEdit({ number }: Session, edit: SessionEdit): Edit {
  return { file: 'session', number, edit }
}

export interface Circumstances {
  now: string
  /** Whether programs of a run could have written the file. */
  inRun?: boolean
}

export interface TextHashes {
  plan: string
  hypothesis: string
}

type SessionEditOrNone = SessionEdit | null

/** Carries out a `state: abandoned` that a person wrote. It is allowed because it only stops a session. */
function abandoned(session: Session, now: string): SessionEditOrNone {
  const state = stateInTrail(session.trail)
  if (session.byHand !== 'abandoned' || state === null) return null
  const reason = 'state: abandoned was written into the file by hand'
  return sessionMove({ ...session, state }, { trigger: 'abandon', now, reason })
}

/** Seals a complete session once a proof file names it, no matter who wrote the file. */
function sealed(contents: CaseContents, session: Session, now: string): SessionEditOrNone {
  if (session.state !== 'complete' || isSealed(session)) return null
  if (!hasProof(session, contents.proofs)) return null
  const lines = contents.proofs
    .filter((proof) => proof.session_id === session.id && !isInTrail(session.trail, proof.id))
    .sort(byCreation)
    .map((proof): NewTrailLine => {
      const { id: proof_id, type: proof_type } = proof
      return { event: 'proof_attached', fields: { proof_id, proof_type } }
    })
  return { lines: numbered(session.trail, lines, now), seal: { time: now } }
}

function isInTrail(trail: readonly TrailLine[], proofId: string): boolean {
  return trail.some((line) => line.event === 'proof_attached' && line.fields.proof_id === proofId)
}

/** Records a plan or hypothesis that differs from the last one in the audit trail. */
function planEdited(session: Session, texts: TextHashes | null, inRun: boolean): NewTrailLine[] {
  if (session.state !== 'plan_ready' || texts === null) return []
  const { trail } = session
  const written = [lastOf(trail, 'plan_edited'), lastOf(trail, 'plan_written')]
  const plan = newest(written)?.fields.sha256
  const hypothesis = knownHypothesis(trail)
  const otherHypothesis = hypothesis !== undefined && hypothesis !== texts.hypothesis
  if (plan === undefined || (plan === texts.plan && !otherHypothesis)) return []
  const line = newLine('plan_edited', {
    by: 'hand',
    sha256: texts.plan,
    hypothesis_sha256: otherHypothesis ? texts.hypothesis : undefined,
    in_run: inRun || undefined,
  })
  return [line]
}

function linesOf(
  { trail }: Session,
  now: string,
  lines: readonly NewTrailLine[],
): SessionEditOrNone {
  return lines.length === 0 ? null : { lines: numbered(trail, lines, now) }
}

/** Returns undefined if the audit trail does not say, as older ones have no hash of the hypothesis. */
function knownHypothesis(trail: readonly TrailLine[]): unknown {
  const edited = trail.findLast(
    (line) => line.event === 'plan_edited' && line.fields.hypothesis_sha256 !== undefined,
  )
  const last = newest([edited, lastOf(trail, 'hypothesis_written')])
  if (last?.event === 'plan_edited') return last.fields.hypothesis_sha256
  return last?.event === 'hypothesis_written' ? last.fields.sha256 : undefined
}

function newest<Line extends TrailLine>(lines: readonly (Line | undefined)[]): Line | undefined {
  return lines
    .filter((line) => line !== undefined)
    .sort((a, b) => a.number - b.number)
    .at(-1)
}
