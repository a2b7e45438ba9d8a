import { setTimeout as delay } from 'node:timers/promises'
import { sha256 } from '../../markdown/session-file.ts'
import type { Conversation } from '../../model/conversation.ts'
import type { Actor } from '../../model/history.ts'
import type { Session } from '../../model/session.ts'
import { visibleText } from '../../model/visible-text.ts'
import { dialectOf } from '../../runners/agents/hooks/dialects.ts'
import type { HookAnswer } from '../../runners/agents/hooks/hook-event.ts'
import { memoryOf, promptContext } from '../context.ts'
import type { SessionDeps } from '../deps.ts'
import { openingPrompt } from '../prompt.ts'
import {
  answeredText,
  approvedBeforeText,
  approvedText,
  BEGINS_SOON,
  boundNotice,
  goOnText,
  hasNotes,
  howToPlan,
  notesText,
  pageOf,
  putOffNotice,
  STILL_WAITS,
  sentBackText,
  taskText,
} from './agent-messages.ts'
import type { HookRequest, KnownConversations } from './known-conversations.ts'
import { isWork } from './tool-gate.ts'
import type { TurnQueues } from './turn-queues.ts'

/** The hooks of a conversation's begin and of a prompt must be answered within 5 s. */
const SIMILAR_CASES_MS = 1_000
const BEGIN_MS = 3_000
const PASS: HookAnswer = { is: 'pass' }

/** What agents are told outside of their calls: about their case, and about decisions on their plans. */
export interface Briefing {
  /** About the case, when the conversation begins. */
  begin(conversation: Conversation): Promise<HookAnswer>
  /** What has not been told yet, with a prompt. */
  atPrompt(conversation: Conversation, request: Pick<HookRequest, 'url'>): Promise<HookAnswer>
  /** Tells the agent that its plan was sent back: at once if it waits for the decision, else at its next prompt. */
  sendBack(conversation: Conversation | null, session: Session, note: string): void
  /** Lets the agent carry out the approved plan. */
  letWork(conversation: Conversation | null, session: Session, approved: Approved): void
  /** Tells the agent that worked on a case last the answer to its question. */
  answer(caseId: string, text: string): void
  /** An agent that works has heard of the approval in another way, as by MCP. */
  noteWork(conversation: Conversation): void
  /** What the agent was not told yet, which counts as told from now on; null if there is nothing. */
  takeMessage(conversation: Conversation): string | null
}

/** `notes` is empty without any. */
export interface Approved {
  plan: string
  notes: string
  by: Actor
}

export function createBriefing(
  deps: SessionDeps,
  { known, turnQueues }: { known: KnownConversations; turnQueues: TurnQueues },
): Briefing {
  const { store, layout } = deps

  async function begin(conversation: Conversation): Promise<HookAnswer> {
    const { agent, folder: workdir } = conversation
    const contents = await store.read(conversation.case_id!)
    const context = await promptContext(
      { ...deps, limits: { ...deps.limits, similarCases: SIMILAR_CASES_MS } },
      contents,
      { number: Number.POSITIVE_INFINITY, type: 'implementing' },
      {
        memory: await memoryOf(deps, contents),
        settings: await deps.settings(),
        workdir,
        // the agent reads the project's instructions by itself
        provider: { spec: null },
      },
    )
    const { id, title } = contents.case
    conversation.told_case_id = id
    known.save(conversation)
    return {
      is: 'context',
      text: openingPrompt(
        taskText({ id, title }, howToPlan(agent)),
        context,
        layout.caseFolder(id),
      ),
      notice: boundNotice(visibleText(title)),
    }
  }

  async function atPrompt(
    conversation: Conversation,
    request: Pick<HookRequest, 'url'>,
  ): Promise<HookAnswer> {
    const waits = conversation.is_put_off ? await whyWaiting(conversation, request) : null
    if (waits) return { is: 'context', ...waits }
    const isTold = conversation.told_case_id === conversation.case_id
    const opening = isTold ? PASS : await begin(conversation)
    if (conversation.is_put_off) known.save(Object.assign(conversation, { is_put_off: false }))
    const message = takeMessage(conversation)
    if (message === null) return opening
    if (opening.is !== 'context') return { is: 'context', text: message }
    return { ...opening, text: `${opening.text}\n\n${message}` }
  }

  /** What the agent and its person are told if the work does not begin with this prompt; null if it does. */
  async function whyWaiting(
    conversation: Conversation,
    request: Pick<HookRequest, 'url'>,
  ): Promise<{ text: string; notice: string } | null> {
    const session = known.liveSession(conversation)
    if (session?.state === 'plan_ready') {
      return { text: STILL_WAITS, notice: putOffNotice(pageOf(session, request)) }
    }
    if (!isWork(session?.state ?? null)) return null
    // the message that the plan is approved comes once the tests before the work have run
    for (const end = Date.now() + BEGIN_MS; conversation.message === null; await delay(50)) {
      if (Date.now() > end) return { text: BEGINS_SOON, notice: BEGINS_SOON }
    }
    return null
  }

  function takeMessage(conversation: Conversation): string | null {
    const { approved } = conversation
    if (approved === null) return known.takeMessage(conversation)
    const session = known.lastSession({ ...conversation, session_id: approved.session_id })
    const message = known.takeMessage(conversation)
    if (message === null || isWork(session?.state ?? null)) return message
    if (session?.state !== 'failed') return null
    known.save(Object.assign(conversation, { approved }))
    return approvedBeforeText(message)
  }

  /**
   * Tells the agent something: at once if it can be reached, else at its next prompt or when its turn ends. An approval
   * replaces what it was not told yet.
   */
  function tell(
    conversation: Conversation,
    message: string,
    approved: Conversation['approved'] = null,
  ): void {
    const keep = () => {
      const before = approved || conversation.approved ? null : conversation.message
      const all = before === null ? message : `${before}\n\n${message}`
      known.save(Object.assign(conversation, { message: all, approved }))
    }
    const send = dialectOf(conversation.agent)?.send
    if (!send || conversation.ended_at !== null) {
      keep()
      return
    }
    send(conversation, message).catch((error: unknown) => {
      deps.log(`${conversation.agent} could not be sent a message: ${String(error)}`)
      keep()
    })
  }

  return {
    begin,
    atPrompt,
    sendBack(conversation, session, note) {
      const message = sentBackText(note)
      const turnQueue = turnQueues.of(session)
      if (turnQueue.isAsking()) return turnQueue.decide(() => ({ is: 'sentBack', message }))
      if (conversation) tell(conversation, message)
    },
    answer(caseId, text) {
      const all = known.list().filter(({ case_id }) => case_id === caseId)
      const heard = ({ last_heard_at }: Conversation) => last_heard_at ?? ''
      const [last] = all.sort((a, b) => (heard(a) < heard(b) ? 1 : -1))
      if (last) tell(last, answeredText(text))
    },
    takeMessage,
    noteWork(conversation) {
      if (!hasNotes(conversation.message ?? '')) known.takeMessage(conversation)
    },
    letWork(conversation, session, { plan, notes, by }) {
      const turnQueue = turnQueues.of(session)
      const approved = { session_id: session.id, plan_sha256: sha256(plan), by }
      if (conversation?.is_put_off) return tell(conversation, approvedText(plan, notes), approved)
      const dialect = conversation && dialectOf(conversation.agent)
      if (!turnQueue.isAsking() && dialect?.send)
        return tell(conversation!, goOnText(plan, notes), approved)
      if (conversation && !turnQueue.isAsking() && !turnQueue.isTold)
        return tell(conversation, approvedText(plan, notes), approved)
      const isCarried = turnQueue.isAsking() && dialect?.carriesNotes
      if (conversation && notes !== '' && !isCarried) tell(conversation, notesText(notes))
      turnQueue.decide((asked) => ({
        is: 'approved',
        plan,
        notes: notes === '' ? '' : notesText(notes),
        isEdited: asked !== plan,
      }))
    },
  }
}
