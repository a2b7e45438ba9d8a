import { counted } from './amounts.ts'
import { type Case, type CaseEdit, changedFields } from './case.ts'
import { type CaseFolder, type Edit, gateOf, shownState, type Verification } from './case-folder.ts'
import type { CaseState } from './case-state.ts'
import type { FieldsRead } from './events.ts'
import { type Act, type Actor, approverIn, type Place } from './history.ts'
import { isPlanUnchanged, revisionNumber } from './plan-revisions.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import type { Session, SessionEdit } from './session.ts'
import { objectionTo } from './support.ts'
import { lineInQueue, queuedLine, type TrailLine } from './trail.ts'
import { visibleText } from './visible-text.ts'

/** Returns the history entries of an edit on `folder`. Most audit lines of a session cause none. */
export function actsOf(folder: CaseFolder, edit: Edit, { from }: Actor): Act[] {
  switch (edit.file) {
    case 'case':
      return edit.acts ?? caseActs(folder, edit.edit)
    case 'ignored-state':
      return stateActs(folder.case.state, edit.state)
    case 'new-session':
      return sessionActs(edit.session, edit.session.trail, {}, from)
    case 'session': {
      const session = folder.sessions.find(({ number }) => number === edit.number)
      return session ? sessionActs(session, edit.edit.lines ?? [], edit.edit, from) : []
    }
    case 'new-proof':
      return [attachedAct(folder, edit.proof)]
    case 'proof':
      return edit.verification ? verifiedActs(folder, edit.id, edit.verification) : []
    default:
      return edit satisfies never
  }
}

function caseActs(folder: CaseFolder, { fields = {}, addItem }: CaseEdit): Act[] {
  const acts: Act[] = []
  const { state, outcome, reason, ...others } = fields
  const present = shownState(folder)
  if (state !== undefined && state !== present) {
    acts.push(...stateActs(present, state, outcome, reason ?? whyResolved(folder, state)))
  } else if (state !== undefined) {
    acts.push({ what: `confirmed state ${state}`, text: reason ?? undefined })
  } else {
    if (outcome !== undefined) acts.push({ what: 'edited outcome', text: outcome ?? 'none' })
    if (reason !== undefined) acts.push({ what: 'edited reason', text: reason ?? 'none' })
  }
  const names = Object.keys(others)
  if (names.length > 0) {
    acts.push({
      what: `edited ${names.join(', ')}`,
      text: others.title && `title: ${others.title}`,
    })
  }
  if (addItem) {
    const { description, type, required } = addItem
    const text = `${description} (${type}${required ? ', required' : ''})`
    acts.push({ what: 'added checklist item', text })
    const checklist = [...folder.case.checklist, { ...addItem, checked: false }]
    acts.push(...shownActs(folder, { ...folder, case: { ...folder.case, checklist } }))
  }
  return acts
}

/** Two branches had a session of this number: the lines before this one have the old number for both. */
export function renumberedAct(
  { started_at }: Pick<Session, 'started_at'>,
  { from, to }: { from: number; to: number },
): Act {
  return { what: `session ${to} renumbered from ${from}`, text: `it started at ${started_at}` }
}

/** Returns the history entries for replacing the whole case.md. */
export function fileActs(folder: CaseFolder, after: Case): Act[] {
  const { checklist, ...fields } = after
  const changed = changedFields(folder.case, fields)
  const acts = changed ? caseActs(folder, { fields: changed }) : []
  if (JSON.stringify(checklist) === JSON.stringify(folder.case.checklist)) return acts
  return [...acts, { what: 'edited checklist' }]
}

export function stateActs(
  from: CaseState,
  to: CaseState,
  outcome?: string | null,
  text?: string | null,
): Act[] {
  if (from === to) return []
  return [{ what: `${from} → ${to}${outcome ? ` (${outcome})` : ''}`, text: text ?? undefined }]
}

/** Default reason for RESOLVED: the proof that opened the gate. */
function whyResolved(folder: CaseFolder, state: CaseState): string | undefined {
  if (state !== 'RESOLVED') return undefined
  const types = folder.proofs
    .filter((proof) => countsAsVerified(proof) && objectionTo(proof, folder.sessions) === null)
    .map(({ type, accepted }) => (accepted === null ? type : `${type} (accepted)`))
  return `the proof gate is open: verified ${[...new Set(types)].join(', ')}`
}

/** Returns the change of the shown state when the proof gate opens or shuts while case.md says RESOLVED. */
function shownActs(before: CaseFolder, after: CaseFolder): Act[] {
  const isOpen = gateOf(after).open
  const text = `case.md says RESOLVED, and the proof gate is ${isOpen ? 'open' : 'shut'} now`
  return stateActs(shownState(before), shownState(after), null, text)
}

/** Returns the history entries for new audit lines of a session. */
export function sessionActs(
  session: Session,
  lines: readonly TrailLine[],
  { fields }: SessionEdit,
  from: Place | null,
): Act[] {
  const name = `session ${session.number}`
  const isNew = lines.some((line) => session.trail.includes(line))
  const trail = isNew ? session.trail : [...session.trail, ...lines]
  return lines.flatMap(({ event, fields: values, number, time: at }): Act[] => {
    const until = trail.filter((line) => line.number <= number)
    switch (event) {
      case 'session_created': {
        const what = `${name} started (${session.type}, ${session.provider})`
        const again = values.again === undefined ? '' : `again after session ${values.again}`
        const text = [again, textOf(values.note) ?? ''].filter((part) => part !== '').join(': ')
        return [{ at, what, text: textOf(text) }]
      }
      case 'plan_written': {
        const what = `${name} plan ready (revision ${revisionNumber(until)}, ${short(values.sha256)})`
        const text = isPlanUnchanged(until) ? UNCHANGED_PLAN : undefined
        return [{ at, what, text }]
      }
      case 'plan_edited':
        return [
          {
            at,
            what: `${name} plan edited${values.by === 'hand' ? ' by hand' : ''} (${short(values.sha256)})`,
          },
        ]
      case 'plan_approved': {
        const { by, via } = approverIn(values)
        const place = via ?? from
        const where = place ? ` ${WHERE[place]}` : ''
        const what = `${name} approved${where} (plan ${short(values.plan_sha256)})`
        return [{ at, what, text: textOf(values.note), ...(by === null ? {} : { who: by }) }]
      }
      case 'queued': {
        const first = values.waits_for as Record<string, unknown> | null
        const text = first && `after session ${String(first.number)} of “${String(first.title)}”`
        return [{ at, what: `${name} waits in line`, text: textOf(text) }]
      }
      case 'session_started': {
        if (!queuedLine(until)) return []
        return [{ at, what: `${name} begins to work after waiting in line` }]
      }
      case 'session_state_changed': {
        const sent = lines.find((line) => line.event === 'comments_sent')?.fields
        const wasQueued = lineInQueue(until.slice(0, -1)) !== undefined
        const acts = movedActs(name, values, { ...session, ...fields }, { sent, wasQueued })
        return acts.map((act) => ({ ...act, at }))
      }
      default:
        return []
    }
  })
}

export const UNCHANGED_PLAN = 'The new plan is identical to the one sent back.'

const WHERE: Record<Place, string> = {
  console: 'in the console',
  terminal: 'in the terminal',
  mcp: 'by MCP',
  import: 'by an import',
  api: 'by the API',
  agent: "in the agent's own dialog",
  standing: 'by a standing intent',
}

function movedActs(
  name: string,
  values: FieldsRead<'session_state_changed'>,
  session: Session,
  { sent, wasQueued }: { sent: FieldsRead<'comments_sent'> | undefined; wasQueued: boolean },
): Act[] {
  const { old_state, new_state } = values
  const reason = textOf(values.reason)
  if (old_state === 'plan_ready' && new_state === 'planning') {
    if (!sent) return [{ what: `${name} plan sent back`, text: reason }]
    const comments = counted(Number(sent.count), 'comment')
    return [{ what: `${name} plan sent back (${comments})`, text: textOf(sent.note) }]
  }
  if (old_state === 'approved' && new_state === 'plan_ready') {
    const what = wasQueued ? `${name} left the line` : `${name} approval withdrawn`
    return [{ what, text: reason }]
  }
  if (new_state !== 'complete' && new_state !== 'failed' && new_state !== 'abandoned') return []
  const text = [reason?.replace(/(?<![.\s])[.\s]+$/, ''), testText(session), diffText(session)]
  const known = text.filter((part) => part !== undefined)
  return [{ what: `${name} ${new_state}`, text: known.join('; ') || undefined }]
}

function testText({ tests }: Pick<Session | Proof, 'tests'>): string | undefined {
  return tests
    ? `${counted(tests.run, 'test')}: ${tests.passed} passed, ${tests.failed} failed`
    : undefined
}

function diffText({ diff }: Session): string | undefined {
  if (!diff?.file) return undefined
  const others = (diff.files?.length ?? 1) - 1
  const more = others > 0 ? ` and ${others} more` : ''
  return `changed ${visibleText(diff.file)}${more} (+${diff.additions} −${diff.deletions})`
}

function attachedAct({ sessions }: CaseFolder, proof: Proof): Act {
  const text = objectionTo(proof, sessions)?.text ?? testText(proof)
  const session = sessions.find(({ id }) => id === proof.session_id)
  const target = session ? ` to session ${session.number}` : ''
  return { at: proof.created_at, what: `${proofName(proof)} attached${target}`, text }
}

function verifiedActs(folder: CaseFolder, id: string, verification: Verification): Act[] {
  const proof = folder.proofs.find((each) => each.id === id)
  if (!proof) return []
  const proofs = folder.proofs.map((each) =>
    each.id === id ? { ...each, ...verification, verified: true, intact: true } : each,
  )
  const { accepted } = verification
  const isAccepted = accepted !== null && accepted !== proof.accepted
  const done = isAccepted ? 'accepted' : 'verified'
  const text = isAccepted ? accepted : undefined
  const at = verification.verified_at
  const act = { at, what: `${proofName(proof)} ${done}`, text }
  return [act, ...shownActs(folder, { ...folder, proofs })]
}

export function proofName({ id, type }: Pick<Proof, 'id' | 'type'>): string {
  return `proof ${id.slice(0, 8)} (${type})`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function short(hash: unknown): string {
  return String(hash).slice(0, 12)
}
