import { setTimeout as delay } from 'node:timers/promises'
import { createKeyedMutex } from '../../files/keyed-mutex.ts'
import { AppError } from '../../model/app-error.ts'
import { sessionOf } from '../../model/case-contents.ts'
import type { Conversation } from '../../model/conversation.ts'
import type { Actor } from '../../model/history.ts'
import type { Session } from '../../model/session.ts'
import type { ReadingRules } from '../../model/trust.ts'
import { goesOn } from '../../platform/processes.ts'
import { dialectOf } from '../../runners/agents/hooks/dialects.ts'
import type {
  HookAnswer,
  HookDialect,
  HookEvent,
  HookTool,
} from '../../runners/agents/hooks/hook-event.ts'
import { isHookTest } from '../../runners/agents/hooks/hook-test.ts'
import { runProcess } from '../../runners/process/run-processes.ts'
import type { ConversationRows } from '../../state/conversations.ts'
import type { SessionDeps } from '../deps.ts'
import type { Job, SessionRun } from '../jobs.ts'
import {
  howToPlan,
  howToPropose,
  NOT_YET,
  pageOf,
  unboundText,
  waitingNotice,
} from './agent-messages.ts'
import { type Approved, createBriefing } from './briefing.ts'
import {
  type Announced,
  createKnownConversations,
  type HookRequest,
  type KnownConversations,
} from './known-conversations.ts'
import { createPlanQuestions } from './plan-questions.ts'
import { answerWhilePreparing } from './preparation.ts'
import { standingFields, standingFor } from './standing-calls.ts'
import { createStops } from './stops.ts'
import { planInTerminal } from './terminal-plan.ts'
import {
  answerToTest,
  answerWhenCaseIsOver,
  isCoveredCall,
  isWork,
  objectionTo,
  titleOf,
  whyChanging,
} from './tool-gate.ts'
import type { TurnQueue } from './turn-queue.ts'
import { createTurnQueues } from './turn-queues.ts'

type Calling = Extract<HookEvent, { kind: 'calling' }>

/** The conversations of people with agents that they run themselves. */
export interface Conversations
  extends Pick<
    KnownConversations,
    'list' | 'isDone' | 'expect' | 'currentCase' | 'setCurrentCase' | 'caseOfCall' | 'notUnderstood'
  > {
  /** What a hook is answered. */
  hear(dialect: HookDialect, event: HookEvent, request: HookRequest): Promise<HookAnswer>
  /** Binds a conversation to a case; its next prompt or call begins a session. */
  adopt(id: string, caseId: string): Promise<Conversation>
  /** Records a plan that an agent hands in for a case; gives its session, which waits for approval. */
  propose(
    caseId: string,
    proposal: { plan: string; hypothesis: string | null },
    agent: Announced,
  ): Promise<Session>
  /** The conversation that a session records; null if this machine does not know it. */
  ofSession(sessionId: string): Conversation | null
  turnQueueOf(session: Session): TurnQueue
  /** Tells the agent that its plan was sent back: at once if it waits for the decision, else at its next prompt. */
  sendBack(session: Session, note: string): void
  /** Lets the agent carry out the approved plan. */
  letWork(session: Session, approved: Approved): void
  /** Tells the agent that worked on a case last the answer to its question. */
  answer(caseId: string, text: string): void
  /** The agents' processes, so that their own requests can be recognized. */
  runs(): SessionRun[]
  /** Lets go of the hooks that wait; their plans stay as they are. */
  close(): void
}

/** What conversations need of the sessions. */
export interface ConversationDeps extends SessionDeps {
  records: ConversationRows
  operator: () => Promise<string>
  /** Creates a session whose planning job waits for the plans of the turn queue. */
  begin(
    caseId: string,
    wanted: { provider: string; by: Actor },
    work: (job: Job) => Promise<void>,
  ): Promise<Session>
  /** The session that works in a folder, so that no other can; null if none does. */
  busyWith(folder: string): string | null
  /** Moves a session from plan_ready back to planning. */
  planAgain(session: Session, note: string, by: Actor): Promise<void>
  approve(session: Session, plan: string, by: Actor, standing?: string): Promise<void>
}

const NO_PLAN =
  'Casefile: there is no plan to approve. Write the plan to your plan file first, then present it.'
/** A hook that decides on a call must be answered within 5 s. */
const START_MS = 3_000
const PASS: HookAnswer = { is: 'pass' }
/** The tool by which opencode hands in its plan. */
const SUBMITS_PLAN = 'submit_plan'

export function createConversations(deps: ConversationDeps): Conversations {
  const { catalog, layout, store, operator } = deps
  const mutex = createKeyedMutex()
  const closing = new AbortController()
  /** By conversation: ends the session of a conversation that is not resumed in time. */
  const endings = new Map<string, NodeJS.Timeout>()
  const known = createKnownConversations(deps)
  const turnQueues = createTurnQueues(deps)
  const { liveSession, save } = known
  const rules = (): Promise<ReadingRules> => deps.settings()
  const briefing = createBriefing(deps, { known, turnQueues })
  /** The conversations whose person was told that a plan is about to wait. */
  const announced = new Set<string>()
  const byPerson = async (): Promise<Actor> => ({ who: await operator(), from: 'agent' })
  const questions = createPlanQuestions({
    ...deps,
    known,
    turnQueues,
    mutex,
    closing: closing.signal,
    byPerson,
    ensureSession,
  })
  const stops = createStops({ known, turnQueues, questions, takeMessage: briefing.takeMessage })

  async function ensureSession(conversation: Conversation): Promise<Session> {
    const present = liveSession(conversation)
    if (present) return present
    const caseId = conversation.case_id!
    const { agent, folder } = conversation
    const session = await deps.begin(
      caseId,
      { provider: agent, by: await byPerson() },
      async (job) => {
        const session = sessionOf(await store.read(caseId), job.session_id)
        await planInTerminal(deps, job, turnQueues.of(session), folder)
      },
    )
    conversation.session_id = session.id
    save(conversation)
    const turnQueue = turnQueues.of(session)
    void turnQueue.note({ event: 'agent_started', fields: { mode: 'plan', command: [agent] } })
    // what the agent does next counts as a change, so the state before it must be known
    await Promise.race([turnQueue.begun, delay(START_MS, undefined, { ref: false })])
    return session
  }

  async function hearCall(
    conversation: Conversation,
    { tool, cwd, canAsk, isSubagent }: Calling,
    request: HookRequest,
  ): Promise<HookAnswer> {
    const session = liveSession(conversation)
    const state = session?.state ?? null
    const { agent, case_id, folder } = conversation
    const scope = session && turnQueues.of(session).scope
    const isWorking = isWork(state)
    const isChanging = async () => whyChanging(tool, await rules(), case_id) !== null
    if (isWorking && conversation.is_put_off && (await isChanging())) {
      return { is: 'denied', reason: NOT_YET }
    }
    const objection = await objectionTo(tool, {
      cwd,
      folder,
      rules: await rules(),
      state,
      scope,
      caseId: case_id,
      busyWith: deps.busyWith(folder),
      caseTitle: catalog.row(case_id!)?.title ?? case_id!,
      noPlan: carriedOut(conversation) ?? 'It has no approved plan.',
      howToPlan: `${howToPropose(case_id!)}. Or: ${howToPlan(agent)}`,
    })
    if (!objection) {
      if (session && !isWorking) return passWithNotice(conversation, session, tool, request)
      if (conversation.approved && (await isChanging())) briefing.noteWork(conversation)
      const editors = dialectOf(agent)?.editors
      const place = { cwd, folder, records: deps.layout.memoryRoot }
      const isCovered =
        isWorking && scope && editors && (await isCoveredCall(scope, tool, { editors, ...place }))
      return isCovered ? { is: 'allowed' } : PASS
    }
    const place = { cwd, folder, records: deps.layout.memoryRoot }
    const standing = session && (await standingFor(tool, await deps.settings(), place))
    if (session && standing) {
      turnQueues.of(session).standing.set(tool.input_sha256, standing)
      return PASS
    }
    const { text, reason } = objection
    const fields = { tool: tool.name, ...titleOf(tool, folder), reason }
    const isAsked = isWorking && canAsk && !isSubagent && !conversation.is_strict
    if (session) void turnQueues.of(session).note({ event: isAsked ? 'asked' : 'denied', fields })
    return isAsked ? { is: 'asked', reason: `Casefile: ${reason}` } : { is: 'denied', reason: text }
  }

  /** Says once that a plan is about to wait: while a dialog of the agent is open, it shows no notice. */
  function passWithNotice(
    conversation: Conversation,
    session: Session,
    { kind, name }: HookTool,
    request: HookRequest,
  ): HookAnswer {
    const isPlan = kind === 'plan' || name === SUBMITS_PLAN
    if (!isPlan || announced.has(conversation.id)) return PASS
    announced.add(conversation.id)
    return { is: 'pass', notice: waitingNotice(conversation, pageOf(session, request)) }
  }

  function hearEnd(conversation: Conversation): void {
    const session = liveSession(conversation)
    // what was approved waits for the agent as long as it takes
    if (session === null || conversation.approved !== null) return
    const { id } = conversation
    clearTimeout(endings.get(id))
    const timer = setTimeout(() => {
      endings.delete(id)
      turnQueues.known(session.id)?.end()
    }, deps.limits.resume)
    timer.unref()
    endings.set(id, timer)
  }

  /** The answer to Codex's own question about a plan. It stays on the screen when Casefile had the plan carried out. */
  async function hearApprovingPrompt(
    conversation: Conversation,
    { signal }: HookRequest,
  ): Promise<HookAnswer> {
    const text = carriedOut(conversation)
    if (text === null) return questions.hearPrompt(conversation, signal)
    return { is: 'context', text, notice: `Casefile: ${text}` }
  }

  /** That the conversation's last plan is carried out, as sentences; null if it is not. */
  function carriedOut(conversation: Conversation): string | null {
    const session = known.lastSession(conversation)
    if (session?.state !== 'complete') return null
    return `Session ${session.number} has carried out its plan, and is complete. More changes need a plan of their own.`
  }

  /** A bound conversation. */
  async function answerTo(
    dialect: HookDialect,
    conversation: Conversation,
    event: HookEvent,
    request: HookRequest,
  ): Promise<HookAnswer> {
    switch (event.kind) {
      case 'started':
        return briefing.begin(conversation)
      case 'prompted': {
        if (event.isApproval) return hearApprovingPrompt(conversation, request)
        await questions.answeredElsewhere(conversation)
        await mutex.run(conversation.id, () => ensureSession(conversation))
        return briefing.atPrompt(conversation, request)
      }
      case 'calling':
        if (event.tool.kind !== 'other' && !event.isSubagent)
          await questions.answeredElsewhere(conversation)
        if (conversation.session_id === null) {
          await mutex.run(conversation.id, () => ensureSession(conversation))
        }
        return (
          (await answerWhilePreparing(
            liveSession(conversation),
            turnQueues,
            event.tool,
            await rules(),
          )) ?? hearCall(conversation, event, request)
        )
      case 'called': {
        const session = liveSession(conversation)
        if (session) {
          const { name } = event.tool
          const status = event.hasFailed ? 'failed' : 'completed'
          const fields = {
            tool: name,
            ...titleOf(event.tool, conversation.folder),
            status,
            input_sha256: event.tool.input_sha256,
            ...standingFields(turnQueues.of(session).standing.get(event.tool.input_sha256)),
          }
          void turnQueues.of(session).note({ event: 'tool_call', fields })
        }
        return PASS
      }
      case 'planned':
        announced.delete(conversation.id)
        if (event.plan.trim() === '') return { is: 'sentBack', message: NO_PLAN }
        if (event.isSubagent) return PASS
        await stops.noteUsage(dialect, conversation, event, 'plan')
        return questions.hearPlan(conversation, event, request)
      case 'approved':
        await questions.hearApproval(conversation, event.plan)
        return PASS
      case 'stopped':
        if (event.isSubagent) return PASS
        await questions.answeredElsewhere(conversation)
        return stops.hear(dialect, conversation, event, request)
      case 'ended':
        if (!event.isReplaced) hearEnd(conversation)
        return PASS
      case 'heard':
        return PASS
    }
  }

  const self: Conversations = {
    ...known,
    async hear(dialect, event, request) {
      // an agent that the service started itself is recorded by its output
      if (deps.running.has(request.sessionId ?? '')) return PASS
      if (isHookTest(event)) return answerToTest(event, layout.root)
      const key = `${dialect.agent} ${event.agentSession}`
      const conversation = await mutex.run(key, () => known.hear(dialect, event, request))
      if (!conversation) return PASS
      if (conversation.ended_at === null) {
        clearTimeout(endings.get(conversation.id))
        const live = liveSession(conversation)
        if (live) turnQueues.known(live.id)?.resume()
      }
      if (conversation.case_id === null) {
        const text = unboundText(request.caseName)
        return event.kind === 'started' ? { is: 'pass', notice: text } : PASS
      }
      if (known.isDone(conversation)) {
        return answerWhenCaseIsOver(catalog.row(conversation.case_id), event, await rules())
      }
      return answerTo(dialect, conversation, event, request)
    },

    async adopt(id, caseId) {
      const conversation = known.get(id)
      if (!conversation) {
        throw new AppError(
          'not_found',
          `There is no conversation ${id}. GET /conversations lists them.`,
        )
      }
      await store.read(caseId)
      const session = liveSession(conversation)
      if (session) {
        throw new AppError(
          'wrong_state',
          `This conversation is recorded as session ${session.number} of case ${conversation.case_id}. Abandon that session first.`,
        )
      }
      known.bind(conversation, caseId)
      save(conversation)
      return conversation
    },

    async propose(caseId, { plan, hypothesis }, agent) {
      const conversation = await known.proposing(caseId, agent)
      return questions.propose(conversation, plan, hypothesis)
    },
    ofSession: (sessionId) =>
      known.list().find(({ session_id }) => session_id === sessionId) ?? null,
    close() {
      closing.abort()
      for (const timer of endings.values()) clearTimeout(timer)
    },
    turnQueueOf: turnQueues.of,
    letWork(session, approved) {
      const conversation = self.ofSession(session.id)
      // it may have ended long ago, also before this service started: the work waits for it, unless it knew
      if (conversation && conversation.ended_at !== null && !turnQueues.of(session).isTold) {
        clearTimeout(endings.get(conversation.id))
        turnQueues.of(session).resume()
      }
      briefing.letWork(conversation, session, approved)
    },
    answer: briefing.answer,
    sendBack: (session, note) => briefing.sendBack(self.ofSession(session.id), session, note),

    runs: () =>
      known.list().flatMap((conversation): SessionRun[] => {
        const { pid, process_start, ended_at } = conversation
        const session = liveSession(conversation)
        if (!session || pid === null || ended_at !== null) return []
        if (process_start === null || !goesOn(pid, process_start)) return []
        const isWork = session.state === 'approved' || session.state === 'executing'
        const { id: session_id, case_id } = session
        const kind = isWork ? 'work' : 'plan'
        const processes = [runProcess(pid)]
        return [{ session_id, case_id, kind, isTerminal: true, runId: session_id, processes }]
      }),
  }
  return self
}
