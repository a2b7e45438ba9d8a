import { type CaseFolder, gateOf, shownState } from './case-folder.ts'
import type { CaseState } from './case-state.ts'
import type { Gate } from './gate.ts'
import { isBreaking } from './problem.ts'
import { countsAsVerified, type Proof } from './proof.ts'
import { hasEnded, type Session } from './session.ts'
import { cutLine, failureText, unansweredFailure } from './session-failure.ts'
import { isRunning } from './session-state.ts'
import { objectionTo } from './support.ts'

/** What a case can need, the most urgent first; `running` alone is not the operator's turn. */
export const ATTENTION_KINDS = [
  'plan',
  'problem',
  'blocked',
  'failed',
  'proof',
  'gate_open',
  'running',
] as const

export type AttentionKind = (typeof ATTENTION_KINDS)[number]

export function isAttentionKind(text: string): text is AttentionKind {
  return (ATTENTION_KINDS as readonly string[]).includes(text)
}

export interface Attention {
  kind: AttentionKind
  /** The session that is meant; null where none is. */
  session_id: string | null
  session: number | null
  /** The reason in a few English words, on one line. */
  text: string
}

/** A case in one of these is done with, or put aside. */
export const CLOSED_STATES: readonly CaseState[] = [
  'RESOLVED',
  'NON_ISSUE',
  'WONT_FIX',
  'COMPRESSED',
  'WATCHLIST',
]

export function isClosed(state: CaseState): boolean {
  return CLOSED_STATES.includes(state)
}

/**
 * What a case needs from the operator: the first of these that applies, null where none does.
 *
 * 1. `plan`: a session is plan_ready, no matter on which machine it was planned. One whose file is broken, or
 *    changed while a session ran, is a problem instead: it should not be approved as it is.
 * 2. `problem`: something is wrong with the files.
 *
 * A closed case needs nothing else, even where a session of it runs. The others:
 *
 * 3. `blocked`: the state is BLOCKED or NEEDS_USER_INPUT.
 * 4. `failed`: the newest session failed, and nothing came after it.
 * 5. `running`: a session plans or executes here, so what it leaves is yet to come; one of another
 *    machine is a problem, which is above.
 * 6. `proof`: a session is complete and has no proof, or a proof does not count while the gate is shut,
 *    or a proof is not verified.
 * 7. `gate_open`: nothing is missing for RESOLVED.
 *
 * Of several sessions the newest is meant.
 */
export function attentionOf(folder: CaseFolder, gate: Gate = gateOf(folder)): Attention | null {
  const plan = folder.sessions.findLast(
    (session) => session.state === 'plan_ready' && isSound(folder, session),
  )
  if (plan) return of('plan', `the plan of session ${plan.number} waits for approval`, plan)
  if (folder.problems.length > 0) return of('problem', problemText(folder))
  const state = shownState(folder)
  if (isClosed(state)) return null
  if (state === 'BLOCKED' || state === 'NEEDS_USER_INPUT') return of('blocked', blockedText(folder))
  const failed = unansweredFailure(folder)
  if (failed) return of('failed', `session ${failed.number} failed: ${failureText(failed)}`, failed)
  const running = runningSession(folder)
  if (running) return of('running', `session ${running.number} is ${running.state}`, running)
  const complete = folder.sessions.findLast(
    (session) => session.state === 'complete' && !hasEnded(session, folder.proofs),
  )
  if (complete) {
    return of('proof', `session ${complete.number} is complete and has no proof`, complete)
  }
  const unverified = folder.proofs.filter((proof) => !countsAsVerified(proof))
  const supportless = newestWithoutSupport(folder, gate.open ? unverified : folder.proofs)
  if (supportless !== null) return of('proof', supportless)
  if (unverified.length > 0)
    return of('proof', `${counted(unverified.length)} still to be verified`)
  return gate.open ? of('gate_open', 'the gate is open: the case can be resolved') : null
}

/** The newest session that plans or executes on this machine. */
export function runningSession({ sessions, problems }: CaseFolder): Session | undefined {
  const foreign = problems.filter(({ code }) => code === 'foreign_session').map(({ file }) => file)
  return sessions.findLast(
    (session) => isRunning(session.state) && !foreign.includes(fileOf(session)),
  )
}

function isSound({ problems, ignored }: CaseFolder, session: Session): boolean {
  const file = fileOf(session)
  const isBroken = problems.some((problem) => problem.file === file && isBreaking(problem))
  return !isBroken && !ignored.some((each) => each.file === file)
}

function fileOf({ number }: Session): string {
  return `sessions/${number}.md`
}

function of(kind: AttentionKind, text: string, session?: Session): Attention {
  return { kind, session_id: session?.id ?? null, session: session?.number ?? null, text }
}

function problemText({ problems }: CaseFolder): string {
  const [first] = problems
  const place = first!.file === '.' ? 'the case folder' : first!.file
  const what = `${place}: ${cutLine(first!.message.replace(/\s+/g, ' '))}`
  return problems.length === 1 ? what : `${problems.length} problems, the first: ${what}`
}

function blockedText({ case: { state, reason } }: CaseFolder): string {
  const what = state === 'BLOCKED' ? 'blocked' : 'needs your input'
  const why = (reason ?? '').replace(/\s+/g, ' ').trim()
  if (why === '') return `${what}; no reason is given`
  return `${what}: ${cutLine(why)}`
}

/** Why the newest of these proofs that does not count does not; null if all of them count. */
function newestWithoutSupport({ sessions }: CaseFolder, proofs: readonly Proof[]): string | null {
  for (const proof of [...proofs].reverse()) {
    const objection = objectionTo(proof, sessions)
    // one that was changed waits to be verified again
    if (objection && objection.code !== 'changed')
      return `proof ${proof.id.slice(0, 8)} doesn't count: ${objection.text}`
  }
  return null
}

function counted(count: number): string {
  return count === 1 ? '1 proof is' : `${count} proofs are`
}
