import { setTimeout as delay } from 'node:timers/promises'
import type { KeyedMutex } from '../../files/keyed-mutex.ts'
import { intentPlan } from '../../markdown/intent.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import { sha256 } from '../../markdown/session-file.ts'
import { AppError, stoppingError } from '../../model/app-error.ts'
import type { Conversation } from '../../model/conversation.ts'
import type { Actor } from '../../model/history.ts'
import { MAX_PLAN_BYTES, type Session } from '../../model/session.ts'
import type { SessionState } from '../../model/session-state.ts'
import { STANDING_ACTOR, type StandingIntent } from '../../model/standing.ts'
import { goesOn } from '../../platform/processes.ts'
import { dialectOf } from '../../runners/agents/hooks/dialects.ts'
import type { HookAnswer, HookEvent } from '../../runners/agents/hooks/hook-event.ts'
import { standingHash } from '../../runners/within-standing.ts'
import type { SessionDeps } from '../deps.ts'
import { isSentBack, notesIn, PUT_OFF, pageOf, putOffNotice } from './agent-messages.ts'
import type { HookRequest, KnownConversations } from './known-conversations.ts'
import { standingOver } from './standing-calls.ts'
import { recordedPlan } from './terminal-plan.ts'
import type { PresentedPlan } from './turn-queue.ts'
import type { TurnQueues } from './turn-queues.ts'

type Planned = Extract<HookEvent, { kind: 'planned' }>

const PASS: HookAnswer = { is: 'pass' }
/** How long an agent may need to end after its hook did. */
const LEAVES_MS = 2_000

interface QuestionDeps extends SessionDeps {
  known: KnownConversations
  turnQueues: TurnQueues
  mutex: KeyedMutex
  /** Aborts when the service stops. */
  closing: AbortSignal
  byPerson(): Promise<Actor>
  ensureSession(conversation: Conversation): Promise<Session>
  /** Moves a session from plan_ready back to planning. */
  planAgain(session: Session, note: string, by: Actor): Promise<void>
  approve(session: Session, plan: string, by: Actor, standing?: string): Promise<void>
}

/** The plans that agents present, and who decides on them. */
export interface PlanQuestions {
  /**
   * Records a plan, and waits until it is decided here or in the agent's own dialog. An agent whose terminal is blocked
   * meanwhile is put off after a minute: the decision comes with its next prompt.
   */
  hearPlan(conversation: Conversation, event: Planned, request: HookRequest): Promise<HookAnswer>
  /** A plan that an agent hands in without waiting. Throws if it cannot be read, or an approved one is carried out. */
  propose(conversation: Conversation, plan: string, hypothesis: string | null): Promise<Session>
  /** A plan that an agent wrote, and whose decision comes as a prompt. */
  hearPlanOfTurn(conversation: Conversation, plan: string, wasBlocked: boolean): Promise<HookAnswer>
  /** A prompt that says that a person approved the plan in the agent's own dialog. */
  hearPrompt(conversation: Conversation, signal: AbortSignal): Promise<HookAnswer>
  /** A person approved a plan in the agent's own dialog. */
  hearApproval(conversation: Conversation, plan: string | null): Promise<void>
  /**
   * Makes a plan of what an agent did within standing intents, and approves it by them, if it presented no other plan. Gives
   * whether it did.
   */
  approveStanding(conversation: Conversation): Promise<boolean>
  /** The agent goes on: a person answered in its dialog, if a question is still open here. */
  answeredElsewhere(conversation: Conversation): Promise<void>
}

export function createPlanQuestions(deps: QuestionDeps): PlanQuestions {
  const { known, turnQueues, mutex, catalog, closing, byPerson } = deps
  const { liveSession } = known

  /** Waits until the session is in one of the states. Rejects if it is deleted, or the service stops. */
  async function inState(session: Session, states: readonly SessionState[]): Promise<Session> {
    const current = () => sessionIn(session)
    if (states.includes(current().state)) return current()
    return new Promise((resolve, reject) => {
      const stop = deps.caseChanges.subscribe(({ caseId }) => {
        if (caseId !== session.case_id) return
        if (!catalog.has(caseId)) return end(() => reject(gone(session)))
        const present = catalog.entry(caseId)?.sessions.get(session.number)?.value
        if (present?.id !== session.id || !states.includes(present.state)) return
        end(() => resolve(present))
      })
      const onClosing = () => end(() => reject(stoppingError()))
      const end = (settle: () => void) => {
        stop()
        closing.removeEventListener('abort', onClosing)
        settle()
      }
      closing.addEventListener('abort', onClosing, { once: true })
    })
  }

  function sessionIn({ case_id, number }: Session): Session {
    const session = catalog.entry(case_id)?.sessions.get(number)?.value
    if (session) return session
    throw gone({ case_id, number })
  }

  const ANSWERED: readonly SessionState[] = ['plan_ready', 'complete', 'failed', 'abandoned']

  /** Records a plan that the agent presents, and gives the session with it. */
  async function present(conversation: Conversation, presented: PresentedPlan): Promise<Session> {
    const session = await deps.ensureSession(conversation)
    if (session.state === 'plan_ready') {
      if ((await planIn(session)) === presented.plan) return session
      await deps.planAgain(session, 'The agent presented another plan.', await byPerson())
    }
    const { approved, message } = conversation
    // what it was not told is about another text
    const isAnother = async () => (await planIn(session)) !== presented.plan
    if (approved === null && message !== null && isSentBack(message) && (await isAnother()))
      known.takeMessage(conversation)
    turnQueues.of(session).present(presented)
    return inState(session, ANSWERED)
  }

  /** The same. What lies within a standing intent is approved by that. */
  async function presentOrApprove(
    conversation: Conversation,
    presented: PresentedPlan,
  ): Promise<Session> {
    const ready = await present(conversation, presented)
    const { approved } = conversation
    if (approved) known.save(Object.assign(conversation, { message: null, approved: null }))
    if (ready.state !== 'plan_ready') return ready
    const before =
      approved && known.lastSession({ ...conversation, session_id: approved.session_id })
    // an abandoned session takes its approval with it
    const isApproved =
      before?.state === 'failed' && approved?.plan_sha256 === sha256(presented.plan)
    const standing = await standingOver(presented.plan, await deps.settings())
    if (!isApproved && standing === null) return ready
    const turnQueue = turnQueues.of(ready)
    try {
      turnQueue.isTold = isApproved
      if (isApproved) await deps.approve(ready, presented.plan, approved!.by)
      else await deps.approve(ready, presented.plan, STANDING_ACTOR, standing!)
    } catch (error) {
      turnQueue.isTold = false
      if (!(error instanceof AppError)) throw error
      deps.log(
        `session ${ready.number} of case ${ready.case_id} waits for a person: ${error.message}`,
      )
    }
    return sessionIn(ready)
  }

  async function planIn(session: Session): Promise<string> {
    return (await deps.sessionTexts(session.case_id, session)).plan
  }

  async function hearPlan(
    conversation: Conversation,
    event: Planned,
    request: HookRequest,
  ): Promise<HookAnswer> {
    const { signal } = request
    const presented = recordedPlan(deps, event.plan)
    const { plan } = presented
    const asked = await mutex.run(conversation.id, async (): Promise<HookAnswer | Session> => {
      const live = liveSession(conversation)
      if (live && isWorking(live) && live.plan_sha256 === sha256(plan)) {
        if (conversation.is_put_off) known.takeMessage(conversation) // it is the approval
        setPutOff(conversation, false)
        return unchanged(event)
      }
      const objection = await objectionTo(live, plan)
      if (objection) return { is: 'sentBack', message: `Casefile: ${objection}` }
      return presentOrApprove(conversation, presented)
    })
    if ('is' in asked) return asked
    // it may have been decided since
    setPutOff(conversation, false)
    const session = liveSession(conversation)
    if (session && isWorking(session)) {
      setTold(conversation, session)
      const approved = await planIn(session)
      return { is: 'approved', plan: approved, notes: '', isEdited: approved !== plan }
    }
    if (session?.state !== 'plan_ready') return PASS
    const turnQueue = turnQueues.of(session)
    const { planHold } = deps.limits
    const isShort = dialectOf(conversation.agent)?.blocksTerminal
    const limits = isShort ? [AbortSignal.timeout(planHold)] : []
    const answer = await turnQueue.ask(plan, AbortSignal.any([signal, closing, ...limits]))
    if (closing.aborted) throw stoppingError()
    if (answer.is === 'pass' && !signal.aborted && limits.some(({ aborted }) => aborted)) {
      setPutOff(conversation, true)
      return { is: 'sentBack', message: PUT_OFF, notice: putOffNotice(pageOf(session, request)) }
    }
    // an edited plan is the operator's; otherwise the agent's own bytes come back
    if (answer.is === 'approved' && answer.plan === plan) return { ...answer, plan: event.plan }
    if (signal.aborted && !turnQueue.isAsking() && !(await hasLeft(conversation))) {
      await withdraw(conversation, 'The plan was withdrawn in the dialog of the agent.')
    }
    return answer
  }

  /** Whether the terminal was closed: its hooks end a moment before the agent does. The plan goes on waiting. */
  async function hasLeft(conversation: Conversation): Promise<boolean> {
    const { pid, process_start } = conversation
    if (pid === null || process_start === null) return conversation.ended_at !== null
    for (const end = Date.now() + LEAVES_MS; Date.now() < end; await delay(50)) {
      if (conversation.ended_at !== null || !goesOn(pid, process_start)) return true
    }
    return false
  }

  function setPutOff(conversation: Conversation, isPutOff: boolean): void {
    if (conversation.is_put_off === isPutOff) return
    conversation.is_put_off = isPutOff
    known.save(conversation)
  }

  /** The agent hears of the approval with this hook; only the notes are left for later. */
  function setTold(conversation: Conversation, session: Session): void {
    turnQueues.of(session).isTold = true
    if (conversation.approved === null) return
    const message = notesIn(conversation.message)
    known.save(Object.assign(conversation, { message, approved: null }))
  }

  /** The agent no longer waits for a decision on its plan. */
  async function withdraw(conversation: Conversation, why: string): Promise<void> {
    await mutex.run(conversation.id, async () => {
      const session = liveSession(conversation)
      if (session?.state === 'plan_ready') await deps.planAgain(session, why, await byPerson())
    })
  }

  /** A person answered in the agent's dialog while the question was still open here. */
  async function answeredElsewhere(conversation: Conversation): Promise<void> {
    const session = liveSession(conversation)
    const turnQueue = session && turnQueues.known(session.id)
    // an approved plan is answered once the tests before the work have run
    if (!turnQueue?.isAsking() || (session && isWorking(session))) return
    turnQueue.decide(() => PASS)
    await withdraw(conversation, 'The person asked for changes in the dialog of the agent.')
  }

  async function hearApproval(conversation: Conversation, plan: string | null): Promise<void> {
    const session = liveSession(conversation)
    // what was never presented here has been shown to no person
    if (session?.state !== 'plan_ready') return
    const turnQueue = turnQueues.of(session)
    turnQueue.decide(() => PASS)
    if (conversation.is_strict) return
    await mutex.run(conversation.id, async () => {
      if (liveSession(conversation)?.state !== 'plan_ready') return
      const approved =
        plan === null ? { plan: await planIn(session), hypothesis: null } : recordedPlan(deps, plan)
      const ready = await present(conversation, approved)
      if (ready.state !== 'plan_ready') return
      try {
        turnQueue.isTold = true
        await deps.approve(ready, approved.plan, await byPerson())
      } catch (error) {
        turnQueue.isTold = false
        if (!(error instanceof AppError)) throw error
        void turnQueue.note({
          event: 'denied',
          fields: {
            tool: 'approve',
            title: "approve in the agent's dialog",
            reason: error.message,
          },
        })
      }
    })
  }

  async function approveStanding(conversation: Conversation): Promise<boolean> {
    const session = liveSession(conversation)
    const calls = (session && turnQueues.known(session.id)?.standing) ?? new Map()
    if (session?.state !== 'planning' || calls.size === 0) return false
    const { standing, signApprovals } = await deps.settings()
    const hashes = [...new Set([...calls.values()].map(standingHash))]
    const used = standing.filter((each) => hashes.includes(standingHash(each)))
    if (signApprovals || used.length < hashes.length) return false
    const all = (key: keyof StandingIntent) => [...new Set(used.flatMap((each) => each[key]))]
    const plan = intentPlan({
      intent: 'What a standing intent of casefile.md allows.',
      paths: all('paths'),
      commands: all('commands'),
      proof: all('proof'),
    })
    return mutex.run(conversation.id, async () => {
      const ready = await present(conversation, { plan, hypothesis: null })
      if (ready.state !== 'plan_ready') return false
      await deps.approve(ready, plan, STANDING_ACTOR, hashes.join(' '))
      return true
    })
  }

  /** Why a plan cannot be presented now, as sentences; null if it can. */
  async function objectionTo(live: Session | null, plan: string): Promise<string | null> {
    if (live && isWorking(live)) {
      return 'An approved plan is being carried out. Finish it, or have the operator abandon its session, before you present another one.'
    }
    if (Buffer.byteLength(plan) > MAX_PLAN_BYTES) {
      return 'The plan is larger than 256 KiB. Make it shorter, and present it again.'
    }
    const [error] = (await readPlan(plan)).errors
    if (!error) return null
    return `The plan cannot be read at line ${error.line}: ${error.message}. Correct it, and present it again.`
  }

  async function propose(
    conversation: Conversation,
    text: string,
    hypothesis: string | null,
  ): Promise<Session> {
    return mutex.run(conversation.id, async () => {
      const presented = recordedPlan(deps, text, hypothesis)
      const objection = await objectionTo(liveSession(conversation), presented.plan)
      if (objection) throw new AppError('wrong_state', objection)
      return presentOrApprove(conversation, presented)
    })
  }

  async function hearPlanOfTurn(
    conversation: Conversation,
    text: string,
    wasBlocked: boolean,
  ): Promise<HookAnswer> {
    return mutex.run(conversation.id, async () => {
      const presented = recordedPlan(deps, text)
      const objection = await objectionTo(liveSession(conversation), presented.plan)
      if (objection === null) {
        await presentOrApprove(conversation, presented)
        return PASS
      }
      return wasBlocked ? PASS : { is: 'blocked', reason: `Casefile: ${objection}` }
    })
  }

  async function hearPrompt(conversation: Conversation, signal: AbortSignal): Promise<HookAnswer> {
    if (!conversation.is_strict) {
      await hearApproval(conversation, null)
      return PASS
    }
    const session = liveSession(conversation)
    if (session?.state !== 'plan_ready') return PASS
    const plan = await planIn(session)
    const answer = await turnQueues.of(session).ask(plan, AbortSignal.any([signal, closing]))
    if (closing.aborted) throw stoppingError()
    return answer
  }

  return {
    hearPlan,
    propose,
    hearPlanOfTurn,
    hearPrompt,
    hearApproval,
    answeredElsewhere,
    approveStanding,
  }
}

const gone = ({ case_id, number }: Pick<Session, 'case_id' | 'number'>): AppError =>
  new AppError('not_found', `Session ${number} of case ${case_id} is gone.`)

const isWorking = ({ state }: Session) => state === 'approved' || state === 'executing'

const unchanged = ({ plan }: Planned): HookAnswer => ({
  is: 'approved',
  plan,
  notes: '',
  isEdited: false,
})
