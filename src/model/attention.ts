import { type CaseContents, gateOf, shownState } from './case-contents.ts'
import type { CaseState } from './case-state.ts'
import type { Gate } from './gate.ts'
import { isBreaking } from './problem.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import { objectionTo } from './proof-objections.ts'
import { failedCount, isFinal, type Session } from './session.ts'
import { cutLine, failureText, unansweredFailure } from './session-failure.ts'
import { isActive } from './session-state.ts'
import { lineInQueue } from './trail.ts'

/** What a case can need, in the order of lists. `blocked` waits for others, and `running` for nothing. */
export const ATTENTION_KINDS = [
  'plan',
  'question',
  'problem',
  'failed',
  'proof',
  'gate_open',
  'blocked',
  'running',
] as const

export type AttentionKind = (typeof ATTENTION_KINDS)[number]

export interface Attention {
  kind: AttentionKind
  /** The session concerned; null if none is. */
  session_id: string | null
  session: number | null
  /** The reason in a few words, on one line. */
  text: string
}

/** States of cases that are done or put aside. */
export const CLOSED_STATES: readonly CaseState[] = [
  'RESOLVED',
  'NON_ISSUE',
  'WONT_FIX',
  'COMPRESSED',
  'WATCHLIST',
]

export function isClosedState(state: CaseState): boolean {
  return CLOSED_STATES.includes(state)
}

/**
 * Returns what a case needs from the operator: the first of these that applies, or null.
 *
 * 1. `plan`: a session is plan_ready, whichever machine planned it. If its file is broken, or changed while a session
 *    ran, the case has a problem instead, because the plan should not be approved.
 * 2. `problem`: a file has a problem.
 *
 * A closed case needs nothing else, even while one of its sessions runs. The others:
 *
 * 3. `question`, `blocked`: the state is NEEDS_USER_INPUT or BLOCKED. The text is its reason.
 * 4. `failed`: the newest session failed, and nothing happened since.
 * 5. `running`: a session plans or executes on this machine; a session of another machine is a problem.
 * 6. `proof`: a complete session has no proof, or the gate is shut and a proof supports nothing, or a proof is not
 *    verified, or the case is VERIFYING without a proof that a required item needs.
 * 7. `gate_open`: the case can be resolved.
 *
 * If several sessions match, the newest counts.
 */
export function attentionOf(
  contents: CaseContents,
  gate: Gate = gateOf(contents),
): Attention | null {
  const plan = waitingPlans(contents).at(-1)
  const problem = contents.problems.length > 0 ? problemText(contents) : null
  if (plan) {
    const text = `the plan of session ${plan.number} waits for approval`
    return attentionTo('plan', problem === null ? text : `${text}; ${problem}`, plan)
  }
  if (problem !== null) return attentionTo('problem', problem)
  const state = shownState(contents)
  if (isClosedState(state)) return null
  if (state === 'NEEDS_USER_INPUT') return attentionTo('question', reasonText(contents))
  if (state === 'BLOCKED') return attentionTo('blocked', reasonText(contents))
  const failed = unansweredFailure(contents)
  if (failed)
    return attentionTo('failed', `session ${failed.number} failed: ${failureText(failed)}`, failed)
  const running = runningSession(contents)
  if (running) {
    const what = lineInQueue(running.trail) ? 'waits in line' : `is ${running.state}`
    return attentionTo('running', `session ${running.number} ${what}`, running)
  }
  const complete = contents.sessions.findLast(
    (session) => session.state === 'complete' && !isFinal(session, contents.proofs),
  )
  if (complete) {
    const { number, tests } = complete
    const what = tests && tests.failed > 0 ? `, but ${failedCount(tests)}` : ' and has no proof'
    return attentionTo('proof', `session ${number} is complete${what}`, complete)
  }
  const unverified = contents.proofs.filter((proof) => !countsAsVerified(proof))
  const unsupported = newestWithoutSupport(contents, gate.open ? unverified : contents.proofs)
  if (unsupported !== null) return attentionTo('proof', unsupported)
  if (unverified.length > 0)
    return attentionTo('proof', `${counted(unverified.length)} not verified yet`)
  if (gate.open)
    return attentionTo('gate_open', 'the proof gate is open, so the case can be resolved')
  const unmet = state === 'VERIFYING' ? unmetText(gate) : null
  return unmet === null ? null : attentionTo('proof', unmet)
}

/** The sessions whose plans may be approved. */
export function waitingPlans(contents: CaseContents): Session[] {
  return contents.sessions.filter(
    (session) => session.state === 'plan_ready' && isSound(contents, session),
  )
}

function unmetText({ items }: Gate): string | null {
  const item = items.find(({ required, satisfied_by }) => required && satisfied_by === null)
  if (!item) return null
  const what = JSON.stringify(cutLine(item.description))
  return item.type === null
    ? `${what} names no type of proof`
    : `${what} needs a verified ${item.type}`
}

/** Returns the newest session that plans or executes on this machine. */
export function runningSession({ sessions, problems }: CaseContents): Session | undefined {
  const foreign = problems.filter(({ code }) => code === 'foreign_session').map(({ file }) => file)
  return sessions.findLast(
    (session) => isActive(session.state) && !foreign.includes(fileOf(session)),
  )
}

function isSound({ problems, ignored }: CaseContents, session: Session): boolean {
  const file = fileOf(session)
  const isBroken = problems.some((problem) => problem.file === file && isBreaking(problem))
  return !isBroken && !ignored.some((each) => each.file === file)
}

function fileOf({ number }: Session): string {
  return `sessions/${number}.md`
}

function attentionTo(kind: AttentionKind, text: string, session?: Session): Attention {
  return { kind, session_id: session?.id ?? null, session: session?.number ?? null, text }
}

function problemText({ problems }: CaseContents): string {
  const [first] = problems
  const place = first!.file === '.' ? 'the case folder' : first!.file
  const what = `${place}: ${cutLine(first!.message.replace(/\s+/g, ' '))}`
  return problems.length === 1 ? what : `${problems.length} problems, the first: ${what}`
}

function reasonText({ case: { reason } }: CaseContents): string {
  const why = (reason ?? '').replace(/\s+/g, ' ').trim()
  return why === '' ? 'no reason is given' : cutLine(why)
}

/** Describes the newest of these proofs that does not count; null if all count. */
function newestWithoutSupport({ sessions }: CaseContents, proofs: readonly Proof[]): string | null {
  for (const proof of [...proofs].reverse()) {
    const objection = objectionTo(proof, sessions)
    // a changed proof counts as unverified instead
    if (objection && objection.code !== 'changed')
      return `proof ${proof.id.slice(0, 8)} doesn't count: ${objection.text}`
  }
  return null
}

function counted(count: number): string {
  return count === 1 ? '1 proof is' : `${count} proofs are`
}
