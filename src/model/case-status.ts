import { type Attention, attentionOf, isClosedState } from './attention.ts'
import { type CaseContents, gateOf, shownState } from './case-contents.ts'
import type { Gate } from './gate.ts'
import { RUNBOOK_FILE } from './memory-name.ts'
import { type Action, attachAct, nextAct, quoted, type Status } from './next-act.ts'
import { capital } from './one-line.ts'
import { countsAsVerified } from './proof.ts'
import { objectionTo } from './proof-objections.ts'
import { providerText, type Session } from './session.ts'
import {
  completeText,
  failed,
  inLine,
  type QueueFacts,
  type SessionFacts,
  sessionStatus,
  waitsText,
} from './session-status.ts'
import { stateLabel } from './state-groups.ts'
import { itemsMetBy, type Offer, suggestProof, unmetText, unmetTypes } from './suggest-proof.ts'

/** What a case's status needs besides its files. */
export interface CaseFacts {
  /** What complete and failed sessions left and no proof has, that of the newest session first. */
  offered: readonly OfferedFile[]
  /** Sessions in a worktree whose work the working folder does not have, newest first. */
  unapplied: readonly { number: number; text: string; isDiscarded?: boolean }[]
  start: StartFacts
  /** The place in line of the session that counts as running. */
  queue: QueueFacts | null
  /** What the plan of the newest session was made from, if no agent made it. */
  planSource: string
}

export interface OfferedFile extends Offer {
  artifact: string
  note: string
  session: Pick<Session, 'number'>
}

/** How a new session would begin. */
export interface StartFacts {
  /** What people call the agent that plans; null if the case has its plan. */
  planner: string | null
  /** Where the plan comes from without an agent; null if there is none. */
  source: string | null
  /** Its hooks are installed; `isCurrent`: the agent in a terminal works on this case. Null without hooks. */
  terminal: { isCurrent: boolean } | null
}

/** Where a case is, or one of its sessions, and the one thing that comes next. */
export function statusOf(
  contents: CaseContents,
  facts: CaseFacts,
  session: SessionFacts | null = null,
): Status {
  const ofCase = caseStatus(contents, facts)
  return session === null ? ofCase : sessionStatus(contents, session, ofCase)
}

function caseStatus(contents: CaseContents, facts: CaseFacts): Status {
  const gate = gateOf(contents)
  const needs = attentionOf(contents, gate)
  const session = contents.sessions.find(({ id }) => id === needs?.session_id)
  switch (needs?.kind) {
    case 'plan': {
      const by = `Planned by ${providerText(session!)}. Nothing runs before that.`
      const next = nextAct('review_plan', about(session!))
      return on(waitsText(session!.number), by, next, 'warn', session!.number)
    }
    case 'problem':
      return on(sentence(needs), '', nextAct('fix'), 'bad')
    case 'question':
    case 'blocked':
      return blocked(contents)
    case 'failed':
      return failed(session!, null, facts.planSource)
    case 'running':
      return facts.queue
        ? inLine(session!.number, facts.queue)
        : on(sentence(needs), '', nextAct('watch', about(session!)), 'info', session!.number)
    case 'proof':
    case 'gate_open':
      return proofStatus(contents, facts, gate, needs)
    default:
      return isClosedState(shownState(contents))
        ? closed(contents, facts)
        : quiet(contents, facts, gate)
  }
}

function on(
  headline: string,
  detail: string,
  next: Status['next'],
  tone: Status['tone'] = 'info',
  session: number | null = null,
): Status {
  return { headline, detail, next, session, tone }
}

function about({ number }: Session) {
  return { session: number }
}

/** The name of a file at its beginning stays as it is. */
function sentence({ text }: Pick<Attention, 'text'>): string {
  const isFile = /^\S+\.md\b/.test(text)
  const begun = isFile ? text : capital(text)
  return /[.?!…]$/.test(text) ? begun : `${begun}.`
}

function blocked({ case: { state, reason } }: CaseContents): Status {
  const why = (reason ?? '').trim()
  return state === 'BLOCKED'
    ? on('This case is blocked.', why || 'No reason is given.', null)
    : on(
        'A question waits for your answer.',
        why || 'No question was given.',
        nextAct('answer'),
        'warn',
      )
}

function closed(contents: CaseContents, { unapplied }: CaseFacts): Status {
  const state = shownState(contents)
  const work = unapplied.find(({ isDiscarded }) => !isDiscarded) ?? unapplied[0]
  if (state === 'RESOLVED' && work) {
    const next = work.isDiscarded ? null : nextAct('apply', { session: work.number })
    return on(work.text, 'The case is resolved.', next, 'warn')
  }
  const label = stateLabel(state)
  const why = (contents.case.reason ?? '').trim()
  if (state === 'WATCHLIST') return on(`${label}: parked until its state is changed.`, why, null)
  return on(`${label}. Nothing is left to do.`, why, null, state === 'RESOLVED' ? 'good' : 'info')
}

/** Nothing waits for the operator, and the case is open. */
function quiet(contents: CaseContents, facts: CaseFacts, gate: Gate): Status {
  const newest = contents.sessions.at(-1)
  if (newest?.state === 'failed') return failed(newest, null, facts.planSource)
  if (newest?.state === 'complete' || (!newest && contents.proofs.length > 0))
    return proofStatus(contents, facts, gate, null)
  const { planner, source, terminal } = facts.start
  const noSession = newest === undefined ? 'Nothing is planned yet.' : 'Nothing runs or waits now.'
  if (planner === null && source === null) {
    const detail =
      'No agent plans here, and the case has no runbook: write one, or set up an agent.'
    return on('There is nothing to plan with yet.', detail, nextAct('set_up'))
  }
  if (terminal !== null && newest === undefined) {
    return terminal.isCurrent
      ? on(
          `Start ${planner} in a terminal.`,
          'This case is current there. What the agent does belongs to it, and waits for an approved plan.',
          null,
        )
      : on(
          noSession,
          `What ${planner} does in a terminal then belongs to this case, and waits for an approved plan.`,
          nextAct('use_terminal'),
        )
  }
  const how =
    planner === null
      ? `The plan comes from ${source}.`
      : `${planner} reads the case and the code, and changes nothing.`
  return on(noSession, `${how} Nothing runs before the plan is approved.`, nextAct('plan'))
}

/** What brings the case nearer to RESOLVED: only what would satisfy an open item is offered. */
function proofStatus(
  contents: CaseContents,
  facts: CaseFacts,
  gate: Gate,
  needs: Attention | null,
): Status {
  const { offered, unapplied, start } = facts
  const { sessions, proofs } = contents
  if (gate.open) {
    const work = unapplied.find(({ isDiscarded }) => !isDiscarded)
    if (work)
      return on(
        work.text,
        'The proof is there.',
        nextAct('apply', { session: work.number }),
        'warn',
      )
    return on(
      'Proof requirements are met.',
      ['The case can be resolved.', ...unapplied.map(({ text }) => text)].join(' '),
      nextAct('resolve'),
      unapplied.length === 0 ? 'good' : 'warn',
    )
  }
  const waits = proofs.findLast(
    (proof) =>
      !countsAsVerified(proof) &&
      objectionTo(proof, sessions) === null &&
      itemsMetBy(proof.type, gate).length > 0,
  )
  if (waits) {
    const meets = `It would meet ${quoted(itemsMetBy(waits.type, gate))}.`
    const headline = `Proof is attached (${waits.type}), and not verified yet.`
    return on(headline, meets, nextAct('verify', { proof: waits.id }))
  }
  const newest = sessions.findLast(({ state }) => state === 'complete')
  const missing = (what: string, next: Action, tone?: Status['tone']) => {
    const headline = newest ? completeText(newest, '') : 'Proof is missing.'
    const detail = [what, ...unapplied.slice(0, 1).map(({ text }) => text)].join(' ')
    return on(headline, detail, next, tone, newest?.number)
  }
  const [first] = suggestProof(offered, gate)
  if (first) {
    const { artifact, note, type, session } = first.row
    const detail = `${artifact} (${note}) would meet ${quoted(first.items)}.`
    const file = { artifact, type, session: session.number }
    return missing(detail, attachAct(file, first.items))
  }
  const [unmet] = unmetTypes(offered, gate)
  if (!unmet) {
    const other = proofs.findLast((proof) => !countsAsVerified(proof))
    if (other) return on(sentence(needs!), '', nextAct('verify', { proof: other.id }))
    const detail = 'Attach a test report, a log, a diff, a picture or a note.'
    return missing(detail, nextAct('attach_file'))
  }
  const detail = unmetText(unmet, offered)
  const shut = proofs.findLast(
    (proof) => proof.type === unmet.type && objectionTo(proof, sessions) !== null,
  )
  if (unmet.type !== 'test-log')
    return missing(
      detail,
      shut
        ? nextAct('accept', { proof: shut.id })
        : nextAct('attach_file', { proof_type: unmet.type }),
      'warn',
    )
  const last = sessions.at(-1)
  if (last?.state === 'failed') return missing(detail, nextAct('plan_again', about(last)), 'warn')
  if (start.source !== RUNBOOK_FILE) return missing(detail, nextAct('run_tests'), 'warn')
  const hasNoTests = newest && !shut && !offered.some(({ type }) => type === 'test-log')
  const act = nextAct(hasNoTests ? 'edit_runbook' : 'plan')
  return missing(detail, act, 'warn')
}
