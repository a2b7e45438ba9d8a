import { diffText, resultText, testsText } from './amounts.ts'
import { type Case, type CaseEdit, changedFields } from './case.ts'
import {
  type CaseContents,
  type Edit,
  gateOf,
  shownState,
  type Verification,
} from './case-contents.ts'
import type { CaseState } from './case-state.ts'
import type { Channel } from './channels.ts'
import type { FieldsRead } from './events.ts'
import { type Act, type Actor, approverIn } from './history.ts'
import type { ProofAct } from './history-act.ts'
import { isPlanUnchanged, revisionNumber } from './plan-revisions.ts'
import type { Proof } from './proof.ts'
import { objectionTo } from './proof-objections.ts'
import type { Session, SessionEdit } from './session.ts'
import { RUN_STOPPED } from './session-failure.ts'
import { lineInQueue, queuedLine, type TrailLine } from './trail.ts'

/** Returns the history entries of an edit. Most audit lines of a session cause none. */
export function actsOf(contents: CaseContents, edit: Edit, { from }: Actor): Act[] {
  switch (edit.file) {
    case 'case':
      return edit.acts ?? caseActs(contents, edit.edit)
    case 'ignored-state':
      return [] // the line of the session says it
    case 'new-session':
      return sessionActs(edit.session, edit.session.trail, {}, from)
    case 'session': {
      const session = contents.sessions.find(({ number }) => number === edit.number)
      return session ? sessionActs(session, edit.edit.lines ?? [], edit.edit, from) : []
    }
    case 'new-proof':
      return [attachedAct(contents, edit.proof)]
    case 'proof':
      return edit.verification ? verifiedActs(contents, edit.id, edit.verification) : []
    default:
      return edit satisfies never
  }
}

function caseActs(contents: CaseContents, { fields = {}, addItem }: CaseEdit): Act[] {
  const acts: Act[] = []
  const { state, outcome, reason, ...others } = fields
  const present = shownState(contents)
  if (state !== undefined && state !== present) {
    acts.push(...stateActs(present, state, outcome, reason))
  } else if (state !== undefined) {
    acts.push({ act: { name: 'state_confirmed', to: state }, text: reason ?? undefined })
  } else {
    if (outcome !== undefined) acts.push(editedAct(['outcome'], outcome ?? 'none'))
    if (reason !== undefined) acts.push(editedAct(['reason'], reason ?? 'none'))
  }
  const names = Object.keys(others)
  if (names.length > 0) {
    acts.push(editedAct(names, others.title && `title: ${others.title}`))
  }
  if (addItem) {
    const { description, type, required } = addItem
    const text = `${description} (${type}${required ? ', required' : ''})`
    acts.push({ act: { name: 'item_added' }, text })
    const checklist = [...contents.case.checklist, { ...addItem, checked: false }]
    acts.push(...shownActs(contents, { ...contents, case: { ...contents.case, checklist } }))
  }
  return acts
}

function editedAct(fields: readonly string[], text?: string): Act {
  return { act: { name: 'edited', fields }, text }
}

/** Two branches had a session of this number: the lines before this one have the old number for both. */
export function renumberedAct(
  { started_at }: Pick<Session, 'started_at'>,
  { from, to }: { from: number; to: number },
): Act {
  return {
    act: { name: 'renumbered', session: to, before: from },
    text: `it started at ${started_at}`,
  }
}

/** Returns the history entries for replacing the whole case.md. */
export function fileActs(contents: CaseContents, after: Case): Act[] {
  const { checklist, ...fields } = after
  const changed = changedFields(contents.case, fields)
  const acts = changed ? caseActs(contents, { fields: changed }) : []
  if (JSON.stringify(checklist) === JSON.stringify(contents.case.checklist)) return acts
  return [...acts, editedAct(['checklist'])]
}

export function stateActs(
  from: CaseState,
  to: CaseState,
  outcome?: string | null,
  text?: string | null,
): Act[] {
  if (from === to) return []
  const act = { name: 'state_changed', from, to, outcome: outcome ?? undefined } as const
  return [{ act, text: text ?? undefined }]
}

/** Returns the change of the shown state when the proof gate opens or shuts while case.md says RESOLVED. */
function shownActs(before: CaseContents, after: CaseContents): Act[] {
  const isOpen = gateOf(after).open
  const text = `case.md says RESOLVED, and the proof gate is ${isOpen ? 'open' : 'shut'} now`
  return stateActs(shownState(before), shownState(after), null, text)
}

/** Returns the history entries for new audit lines of a session. */
export function sessionActs(
  session: Session,
  lines: readonly TrailLine[],
  { fields, texts }: SessionEdit,
  from: Channel | null,
): Act[] {
  const { number: of } = session
  const isNew = lines.some((line) => session.trail.includes(line))
  const trail = isNew ? session.trail : [...session.trail, ...lines]
  return lines.flatMap((line): Act[] => {
    const { event, fields: values, time: at } = line
    const until = trail.slice(0, trail.indexOf(line) + 1)
    switch (event) {
      case 'session_created': {
        const { type, provider } = session
        const again = values.again === undefined ? '' : `again after session ${values.again}`
        const text = [again, textOf(values.note) ?? ''].filter((part) => part !== '').join(': ')
        return [
          { at, act: { name: 'session_started', session: of, type, provider }, text: textOf(text) },
        ]
      }
      case 'plan_written': {
        const revision = revisionNumber(until)
        const act = {
          name: 'plan_ready',
          session: of,
          revision: revision > 1 ? revision : undefined,
          steps: stepCount(texts?.plan),
          hash: short(values.sha256),
        } as const
        const text = isPlanUnchanged(until) ? UNCHANGED_PLAN : undefined
        return [{ at, act, text }]
      }
      case 'plan_edited': {
        const by_hand = values.by === 'hand' ? true : undefined
        return [
          { at, act: { name: 'plan_edited', session: of, hash: short(values.sha256), by_hand } },
        ]
      }
      case 'plan_approved': {
        const { by, via } = approverIn(values)
        const act = {
          name: 'plan_approved',
          session: of,
          where: via ?? from ?? undefined,
          hash: short(values.plan_sha256),
        } as const
        return [{ at, act, text: textOf(values.note), ...(by === null ? {} : { who: by }) }]
      }
      case 'queued': {
        const first = values.waits_for as Record<string, unknown> | null
        const text = first && `after session ${String(first.number)} of “${String(first.title)}”`
        return [{ at, act: { name: 'queued', session: of }, text: textOf(text) }]
      }
      case 'session_started': {
        if (!queuedLine(until)) return []
        return [{ at, act: { name: 'work_begun', session: of } }]
      }
      case 'session_state_changed': {
        const sent = lines.find((line) => line.event === 'comments_sent')?.fields
        const wasQueued = lineInQueue(until.slice(0, -1)) !== undefined
        const acts = movedActs(values, { ...session, ...fields }, { sent, wasQueued })
        return acts.map((act) => ({ ...act, at }))
      }
      default:
        return []
    }
  })
}

export const UNCHANGED_PLAN = 'The new plan is identical to the one sent back.'

function movedActs(
  values: FieldsRead<'session_state_changed'>,
  session: Session,
  { sent, wasQueued }: { sent: FieldsRead<'comments_sent'> | undefined; wasQueued: boolean },
): Act[] {
  const { old_state, new_state } = values
  const { number } = session
  const reason = textOf(values.reason)
  if (old_state === 'plan_ready' && new_state === 'planning') {
    const act = { name: 'plan_sent_back', session: number } as const
    if (!sent) return [{ act, text: reason }]
    return [{ act: { ...act, comments: Number(sent.count) }, text: textOf(sent.note) }]
  }
  if (old_state === 'approved' && new_state === 'plan_ready') {
    const name = wasQueued ? 'queue_left' : 'approval_withdrawn'
    return [{ act: { name, session: number }, text: reason }]
  }
  if (new_state !== 'complete' && new_state !== 'failed' && new_state !== 'abandoned') return []
  const { tests, diff } = session
  const result = resultText(tests && tests.run > 0 ? testsText(tests) : null, diffText(diff))
  const act = { name: 'run_ended', session: number, state: new_state, result } as const
  return [{ act, text: reason?.replace(RUN_STOPPED, '').replace(/(?<![.\s])[.\s]+$/, '') }]
}

function stepCount(plan: string | undefined): number | undefined {
  return plan?.match(/^ {0,3}(?:`{3,}|~{3,})\w+ run(?= |$)/gm)?.length
}

function attachedAct({ sessions }: CaseContents, proof: Proof): Act {
  const text = objectionTo(proof, sessions)?.text
  const session = sessions.find(({ id }) => id === proof.session_id)
  const act = attachedTo(proof, session)
  const result = text === undefined ? act.result : undefined
  return { at: proof.created_at, act: { ...act, result }, text }
}

function verifiedActs(contents: CaseContents, id: string, verification: Verification): Act[] {
  const proof = contents.proofs.find((each) => each.id === id)
  if (!proof) return []
  const proofs = contents.proofs.map((each) =>
    each.id === id ? { ...each, ...verification, verified: true, intact: true } : each,
  )
  const after = { ...contents, proofs }
  const { accepted, meets } = verification
  const isAccepted = accepted !== null && accepted !== proof.accepted
  const act = { ...proofAct(isAccepted ? 'accepted' : 'verified', proof), item: meets[0] }
  const text = isAccepted ? accepted : undefined
  const at = verification.verified_at
  return [{ at, act, text }, ...shownActs(contents, after)]
}

type ProofDone = 'attached' | 'verified' | 'accepted' | 'changed' | 'deleted'

export function proofAct(
  done: ProofDone,
  { id, type, artifact, tests }: Pick<Proof, 'id' | 'type'> & Partial<Proof>,
): ProofAct {
  const result = tests && tests.run > 0 ? `${tests.passed} of ${tests.run} passed` : undefined
  return {
    name: `proof_${done}`,
    proof: id.slice(0, 8),
    artifact,
    type: artifact === undefined ? type : undefined,
    result,
  }
}

export function attachedTo(proof: Proof, session: Session | undefined): ProofAct {
  const act = proofAct('attached', proof)
  return session ? { ...act, session: session.number } : act
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function short(hash: unknown): string {
  return String(hash).slice(0, 8)
}
