import { decodeUtf8 } from '../files/safe-read.ts'
import { readProof } from '../markdown/proof-file.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { readTrail, trailLineText } from '../markdown/trail.ts'
import { readStatement } from '../model/approval-statement.ts'
import type { CaseContents } from '../model/case-contents.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { type FileLine, standingApproval, type TrailLine, trueLines } from '../model/trail.ts'
import type { FileVersion, RecordHistory, SessionVersion } from './record-history.ts'
import type { Claim, Failure } from './result.ts'

/**
 * Compares a session with every version of it that git has, wherever that lay: a line of its trail stays word for word,
 * and a sealed file stays byte for byte, except that a session may get another number.
 */
export async function changedSession(
  session: Session,
  text: string,
  { sessions }: RecordHistory,
): Promise<Failure[]> {
  const present = new Set(linesOf(text).map(trailLineText))
  const gone = new Map<string, GoneLine>()
  const failures: Failure[] = []
  const fail = (code: Failure['code'], message: string) => failures.push({ code, message })
  for (const earlier of sessions.filter(({ id }) => id === session.id)) {
    const commit = shortId(earlier.commit)
    const isMoved = earlier.caseId !== session.case_id
    const seal = earlier.lines.find(isSeal)
    if (failures.length > 0 || earlier.text === text) {
      // named already, or the same
    } else if (isMoved) {
      const was = `session ${earlier.number} of case ${earlier.caseId.slice(0, 8)}`
      fail(
        seal ? 'seal_broken' : 'trail_changed',
        `In commit ${commit} this was ${was}${seal ? ', sealed' : ''}.`,
      )
    } else if (seal && !(await isRenumbered(earlier, seal, text))) {
      fail(
        'seal_broken',
        `The session was sealed in commit ${commit}, and its file is another one now.`,
      )
    }
    for (const line of earlier.lines) {
      const written = trailLineText(line)
      if (isReplaceable(line) || present.has(written) || gone.has(written)) continue
      gone.set(written, { line, commit: earlier.commit })
    }
  }
  if (gone.size > 0) fail('trail_changed', goneText(removedFrom(text, [...gone.values()])))
  return failures
}

type GoneLine = { line: FileLine; commit: string }

/** Without the lines that only have another number now, as each after a removed one, unless that is all. */
function removedFrom(text: string, gone: readonly GoneLine[]): readonly GoneLine[] {
  const withoutNumber = (line: FileLine) => trailLineText({ ...line, number: 0 })
  const present = new Set(linesOf(text).map(withoutNumber))
  const removed = gone.filter(({ line }) => !present.has(withoutNumber(line)))
  return removed.length > 0 ? removed : gone
}

/** Whether the present text is what comes from giving the sealed one other numbers. */
async function isRenumbered(
  { number, text }: SessionVersion,
  { fields }: FileLine,
  present: string,
): Promise<boolean> {
  const moves = linesOf(present).filter((line) => line.event === 'renumbered')
  const first = moves.findIndex((move) => move.fields.was_sealed === fields.sha256)
  if (first < 0) return false
  let from = number
  let moved = text
  for (const { fields, time } of moves.slice(first)) {
    if (typeof fields.to !== 'number') return false
    moved = await renumberedSession(moved, { from, to: fields.to, time })
    from = fields.to
  }
  return moved === present
}

/** The sealed sessions of a case that its record no longer has. `unreadable` are numbers of files that are there. */
export function goneSessions(
  { case: { id: caseId }, sessions: present }: CaseContents,
  unreadable: ReadonlySet<number>,
  { sessions }: RecordHistory,
): Failure[] {
  const known = new Set(present.map(({ id }) => id))
  const failures: Failure[] = []
  for (const { id, number, commit, lines, ...version } of sessions) {
    if (version.caseId !== caseId || known.has(id) || !lines.some(isSeal)) continue
    known.add(id)
    if (unreadable.has(number)) continue
    const message = `Session ${number} (${id.slice(0, 8)}) of this case was sealed in commit ${shortId(commit)} and is gone.`
    failures.push({ code: 'seal_broken', message })
  }
  return failures
}

/** The content of a proof stays as it was when it was attached, and a proof that is in the trail stays. */
export function changedProofs(
  { proofs, sessions }: CaseContents,
  { id, case_id, number, trail }: Session,
  { files }: RecordHistory,
): Pick<Claim, 'failures' | 'notes'> {
  const failures: Failure[] = []
  const notes: string[] = []
  const fail = (code: Failure['code'], message: string) => failures.push({ code, message })
  const versionsOf = (proofId: string) =>
    files.filter(({ caseId, path }) => caseId === case_id && path === `proof/${proofId}.md`)
  for (const proof of proofs) {
    const name = `Proof ${proof.id.slice(0, 8)}`
    const other = versionsOf(proof.id).find((version) => isOtherProof(version, proof))
    if (other) {
      fail('proof_changed', `${name} has another content than in commit ${shortId(other.commit)}.`)
    } else if (!proof.intact && proof.session_id === id) {
      fail('proof_changed', `${name} has another content than its sha256 says.`)
    }
  }
  for (const proofId of attachedIn(trail)) {
    const name = `Proof ${proofId.slice(0, 8)}, which was attached to session ${number},`
    const proof = proofs.find((each) => each.id === proofId)
    const version = versionsOf(proofId)[0]
    const named = sessions.find((each) => each.id === proof?.session_id)
    if (!proof && version)
      fail('proof_missing', `${name} is gone; commit ${shortId(version.commit)} has it.`)
    else if (!proof) notes.push(`${name} is not in the record.`)
    if (named && named.id !== id)
      fail('proof_changed', `${name} says now that it is of session ${named.number}.`)
  }
  return { failures, notes }
}

/** The ids of the proofs that the trail says were attached. */
function attachedIn(trail: readonly TrailLine[]): string[] {
  return trail.flatMap(({ event, fields }) =>
    event === 'proof_attached' && typeof fields.proof_id === 'string' ? [fields.proof_id] : [],
  )
}

function isOtherProof({ bytes }: FileVersion, proof: Proof): boolean {
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return false
  const { value } = readProof(decoded.text, proof)
  if (!value?.stamped || !value.intact) return false
  return value.sha256 !== proof.sha256 || !proof.intact
}

/** The signature of the session's approval, if git has one and the record does not. */
export function goneSignature(
  { id, case_id, trail }: Session,
  { files }: RecordHistory,
): Failure[] {
  const approved = standingApproval(trail)
  // an earlier approval of the same plan may have been taken back
  const takenBack = trail.findLast(
    ({ event, fields }) =>
      event === 'session_state_changed' &&
      fields.old_state === 'approved' &&
      fields.new_state === 'plan_ready',
  )
  const version = files.find(({ caseId, path, bytes }) => {
    if (caseId !== case_id || path !== `sessions/${id}.approval`) return false
    const signed = readStatement(bytes.toString('latin1'))
    const isOfThis = signed?.session_id === id && signed.signed_at > (takenBack?.time ?? '')
    return isOfThis && signed.plan_sha256 === approved?.fields.plan_sha256
  })
  if (!version) return []
  const message = `The signature of the approval is gone; commit ${shortId(version.commit)} has it.`
  return [{ code: 'bad_signature', message }]
}

/** The lines of a trail that count. */
function linesOf(text: string): FileLine[] {
  return trueLines(readTrail(text)?.lines.map(({ line }) => line) ?? [])
}

/** A merge replaces these when it gives a session another number. */
function isReplaceable({ event }: FileLine): boolean {
  return event === 'session_sealed' || event === 'renumbered'
}

function isSeal({ event }: FileLine): boolean {
  return event === 'session_sealed'
}

const MAX_NAMED = 3

function goneText(gone: readonly GoneLine[]): string {
  const named = gone
    .slice(0, MAX_NAMED)
    .map(({ line, commit }) => `${line.number} (${line.event}, in commit ${shortId(commit)})`)
  const more = gone.length > MAX_NAMED ? `, and ${gone.length - MAX_NAMED} more` : ''
  const lines = gone.length === 1 ? 'A line' : 'Lines'
  return `${lines} of the audit trail that git has ${gone.length === 1 ? 'is' : 'are'} gone or changed: ${named.join(', ')}${more}.`
}

export function shortId(commit: string): string {
  return commit.slice(0, 10)
}
