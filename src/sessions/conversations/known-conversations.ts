import { dirname } from 'node:path'
import type { HookAgent } from '../../model/agent-names.ts'
import { AppError } from '../../model/app-error.ts'
import { isClosedState } from '../../model/attention.ts'
import type { Conversation, ConversationAgent } from '../../model/conversation.ts'
import { isSealed, type Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { goesOn, processStart, processStat } from '../../platform/processes.ts'
import type { HookDialect, HookEvent } from '../../runners/agents/hooks/hook-event.ts'
import type { ConversationRows } from '../../state/conversations.ts'
import type { SessionDeps } from '../deps.ts'
import { createNotUnderstoodHooks, type NotUnderstoodHooks } from './not-understood.ts'
import { casesOfBranch, type WorkingCopy, workingCopyOf } from './working-copy.ts'

/** What comes with a hook's request besides the agent's own words. */
export interface HookRequest {
  /** The address of the service, as its person reaches it, else as the hook did. */
  url: string
  /** The id of a case, or the beginning of it, from the environment of the agent. */
  caseName: string | null
  /** The session that started the agent, if the service did. */
  sessionId: string | null
  pid: number | null
  isStrict: boolean
  /** Aborts when the hook closes its connection. */
  signal: AbortSignal
}

export interface Announced {
  agent: ConversationAgent
  cwd: string
  case_id: string | null
  pid: number
}

/** A call of a tool that cannot be read as one. */
export interface UnknownCall {
  agent: HookAgent
  agentSession: string | null
  cwd: string
  /** As in `HookRequest`. */
  caseName: string | null
}

interface CurrentCase {
  folder: string
  case_id: string | null
}

/** The conversations that this machine knows, and the cases that they belong to. */
export interface KnownConversations {
  list(): Conversation[]
  get(id: string): Conversation | undefined
  save(conversation: Conversation): void
  /** The conversation of an event, with its case; null if it has nothing to do with the workspace. */
  hear(
    dialect: HookDialect,
    event: HookEvent,
    request: Pick<HookRequest, 'caseName' | 'pid' | 'isStrict'>,
  ): Promise<Conversation | null>
  /** Expects the hooks of an agent that is about to start. */
  expect(announced: Announced): Promise<Conversation>
  /** The session that recorded a conversation last. */
  lastSession(conversation: Conversation): Session | null
  /** The session that records a conversation, as far as it may still change. */
  liveSession(conversation: Conversation): Session | null
  /** Binds a conversation to a case, or to none. Does not save it. */
  bind(conversation: Conversation, caseId: string | null): void
  /** What the agent was not told yet, which counts as told from now on; null if there is nothing. */
  takeMessage(conversation: Conversation): string | null
  /** Whether its case was closed or deleted, and no session of it is left: a person must choose another case. */
  isDone(conversation: Conversation): boolean
  /** The conversation of an agent that hands in a plan for a case by another way than its hooks. */
  proposing(caseId: string, agent: Announced): Promise<Conversation>
  /** What hooks sent that nobody could read. */
  notUnderstood: NotUnderstoodHooks
  /** The case that a call of a tool belongs to, as far as one knows who sent it from where. */
  caseOfCall(call: UnknownCall): Promise<string | null>
  currentCase(cwd: string): Promise<CurrentCase>
  setCurrentCase(cwd: string, caseId: string | null): Promise<CurrentCase>
}

/** More than people have open; the oldest that ended goes first. */
const MAX_KEPT = 200
const SAVE_MS = 5_000

export function createKnownConversations({
  records,
  catalog,
  store,
  layout,
  now,
  newId,
}: SessionDeps & { records: ConversationRows }): KnownConversations {
  const savedAt = new Map<string, number>()
  const all = new Map(records.all().map((each) => [each.id, each]))

  function save(conversation: Conversation): void {
    all.set(conversation.id, conversation)
    savedAt.set(conversation.id, Date.now())
    records.write(conversation)
    const ended = [...all.values()].filter(({ ended_at }) => ended_at !== null)
    if (all.size <= MAX_KEPT || ended.length === 0) return
    const oldest = ended.reduce((a, b) => (a.ended_at! < b.ended_at! ? a : b))
    all.delete(oldest.id)
    savedAt.delete(oldest.id)
    records.remove(oldest.id)
  }

  function lastSession({ case_id, session_id }: Conversation): Session | null {
    if (case_id === null || session_id === null) return null
    for (const { value } of catalog.entry(case_id)?.sessions.values() ?? []) {
      if (value?.id === session_id) return value
    }
    return null
  }

  function liveSession(conversation: Conversation): Session | null {
    const session = lastSession(conversation)
    return session === null || hasEnded(session.state) || isSealed(session) ? null : session
  }

  /** The conversation of an event; it is new if the agent has not been heard before. */
  async function heard(
    { agent }: HookDialect,
    event: HookEvent,
    { caseName, pid, isStrict }: Pick<HookRequest, 'caseName' | 'pid' | 'isStrict'>,
  ): Promise<Conversation | null> {
    const { agentSession } = event
    const start = pid === null ? null : processStart(pid)
    const isOfProcess = (each: Conversation) =>
      each.agent === agent && start !== null && each.pid === pid && each.process_start === start
    const open = [...all.values()]
    const known =
      open.find((each) => each.agent === agent && each.agent_session === agentSession) ??
      open.find((each) => each.agent_session === null && isOfProcess(each)) ??
      (isNewName(agent, event) ? open.filter(isOfProcess).at(-1) : undefined)
    const place = known ? null : await workingCopyOf(event.cwd, layout.root)
    if (!known && !place) return null
    const conversation = known ?? { ...newConversation(agent, place!) }
    if (!known) conversation.case_id = await caseIn(caseName, agent, conversation)
    conversation.last_heard_at = now()
    conversation.agent_session = agentSession
    if (pid !== null) Object.assign(conversation, { pid, process_start: start })
    conversation.model = event.model ?? conversation.model
    conversation.transcript = event.transcript ?? conversation.transcript
    conversation.is_strict ||= isStrict
    return conversation
  }

  /** A write takes milliseconds of a call; that a conversation was heard needs none each time. */
  function isDue({ id }: Conversation): boolean {
    return Date.now() - (savedAt.get(id) ?? 0) > SAVE_MS
  }

  /** Whether there is work to do on the case. */
  function isOpen(caseId: string): boolean {
    const row = catalog.row(caseId)
    return row !== undefined && !isClosedState(row.state)
  }

  function isDone(conversation: Conversation): boolean {
    const { case_id } = conversation
    return case_id !== null && !isOpen(case_id) && liveSession(conversation) === null
  }

  const newConversation = (
    agent: ConversationAgent,
    place: { folder: string; branch: string | null },
  ): Conversation => ({
    id: newId(),
    agent,
    agent_session: null,
    ...place,
    case_id: null,
    session_id: null,
    pid: null,
    process_start: null,
    started_at: now(),
    last_heard_at: null,
    ended_at: null,
    is_gated: false,
    is_strict: false,
    prompts: 0,
    tool_calls: 0,
    model: null,
    transcript: null,
    message: null,
    approved: null,
    is_put_off: false,
    told_case_id: null,
  })

  /** What `casefile agent use` chose in a folder, or in the nearest one between it and the workspace. */
  function currentIn(folder: string): CurrentCase {
    for (let each = folder; each === folder || each !== layout.root; each = dirname(each)) {
      const case_id = records.currentCase(each)
      if (case_id !== null) return { folder: each, case_id }
      if (each === dirname(each)) break
    }
    return { folder, case_id: null }
  }

  /** The case of an agent in a folder. A worktree without a case of its own has that of its repository. */
  async function caseIn(named: string | null, agent: ConversationAgent, place: WorkingCopy) {
    const own = caseFor(named, agent, place)
    const { folder } = place
    if (own !== null || folder === layout.root || currentIn(folder).case_id !== null) return own
    const repository = await workingCopyOf(layout.root, layout.root)
    return repository && caseFor(named, agent, repository)
  }

  /** In this order: what the environment says, the branch's name, the case that is current for the folder. */
  function caseFor(
    named: string | null,
    agent: ConversationAgent,
    { folder, branch }: WorkingCopy,
  ): string | null {
    const ofBranch = branch === null ? [] : casesOfBranch(branch, catalog.ids())
    const ofName = named === null ? [] : catalog.ids().filter((id) => beginsWith(id, named))
    const single = (ids: readonly string[]) => (ids.length === 1 ? ids[0]! : null)
    // a name that is wrong means some other case, not that of the branch
    if (named !== null && agent !== 'codex') {
      const id = single(ofName)
      return id !== null && isOpen(id) ? id : null
    }
    const byFolder = [single(ofBranch), currentIn(folder).case_id]
    // the daemon of codex has the environment of the terminal that started it first
    return [...byFolder, single(ofName)].find((id) => id !== null && isOpen(id)) ?? null
  }

  function bind(conversation: Conversation, caseId: string | null): void {
    Object.assign(conversation, {
      case_id: caseId,
      session_id: null,
      message: null,
      approved: null,
      is_put_off: false,
    })
  }

  function takeMessage(conversation: Conversation): string | null {
    const { message } = conversation
    if (message === null) return null
    Object.assign(conversation, { message: null, approved: null })
    save(conversation)
    return message
  }

  return {
    takeMessage,
    notUnderstood: createNotUnderstoodHooks(now),
    bind,
    get: (id) => all.get(id),
    save,
    lastSession,
    liveSession,
    isDone,
    list: () => [...all.values()].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)),

    async hear(dialect, event, request) {
      const conversation = await heard(dialect, event, request)
      if (!conversation) return null
      // a case that was closed or deleted stays until the person chooses, so that their agent is not suddenly free
      const isUnbound = conversation.case_id === null || isDone(conversation)
      // an agent whose prompts are not heard has no other moment to get the case of its folder
      const isFirst = event.kind === 'calling' && conversation.prompts === 0
      if (isUnbound && (event.kind === 'prompted' || (isFirst && !isDone(conversation)))) {
        Object.assign(conversation, await workingCopyOf(event.cwd, layout.root))
        const chosen = await caseIn(request.caseName, dialect.agent, conversation)
        if (chosen !== null) bind(conversation, chosen)
      }
      if (event.kind === 'prompted') conversation.prompts += 1
      const isCall = event.kind === 'calling' || event.kind === 'called'
      const canSkipSave = isCall && conversation.is_gated && !isDue(conversation)
      if (event.kind === 'calling') {
        conversation.is_gated = true
        conversation.tool_calls += 1
      }
      conversation.ended_at = event.kind === 'ended' && !event.isReplaced ? now() : null
      if (!canSkipSave) save(conversation)
      return conversation
    },

    async expect({ agent, cwd, case_id, pid }) {
      const place = await workingCopyOf(cwd, layout.root)
      if (!place) throw outside(cwd)
      const start = processStart(pid)
      const heard = [...all.values()].find((each) => each.agent === agent && isProcess(each, pid))
      if (heard) return heard
      const conversation = newConversation(agent, place)
      conversation.case_id = await caseIn(case_id, agent, conversation)
      Object.assign(conversation, { pid, process_start: start })
      save(conversation)
      return conversation
    },

    async proposing(caseId, { agent, cwd, pid }) {
      const { state } = (await store.read(caseId)).case
      if (isClosedState(state)) {
        throw new AppError(
          'wrong_state',
          `The case is ${state}. Have the operator reopen it before you plan more work on it.`,
        )
      }
      const place = await workingCopyOf(cwd, layout.root)
      if (!place) throw outside(cwd)
      const heardLast = (a: Conversation, b: Conversation) =>
        (b.last_heard_at ?? '').localeCompare(a.last_heard_at ?? '')
      const open = [...all.values()].filter(({ ended_at }) => ended_at === null).sort(heardLast)
      const senders = withParents(pid)
      const conversation =
        // one process has all conversations of codex
        open.find((each) => agent !== 'codex' && senders.some((id) => isProcess(each, id))) ??
        open.find((each) => each.folder === place.folder && each.case_id === caseId) ??
        newConversation(agent, place)
      if (conversation.case_id !== caseId && liveSession(conversation)) {
        throw new AppError(
          'wrong_state',
          `This conversation belongs to the case ${conversation.case_id}. Propose the plan for that case.`,
        )
      }
      if (conversation.case_id !== caseId) bind(conversation, caseId)
      conversation.last_heard_at = now()
      if (conversation.pid === null) {
        Object.assign(conversation, { pid, process_start: processStart(pid) })
      }
      save(conversation)
      return conversation
    },

    async caseOfCall({ agent, agentSession, cwd, caseName }) {
      const known = [...all.values()].find(
        (each) => each.agent === agent && each.agent_session === agentSession,
      )
      if (known && agentSession !== null && known.case_id !== null) return known.case_id
      const place = await workingCopyOf(cwd, layout.root)
      return place && (await caseIn(caseName, agent, place))
    },

    async currentCase(cwd) {
      const place = await workingCopyOf(cwd, layout.root)
      if (!place) throw outside(cwd)
      const found = [place.folder, layout.root].map(currentIn)
      return found.find(({ case_id }) => case_id !== null) ?? found[0]!
    },

    async setCurrentCase(cwd, caseId) {
      const place = await workingCopyOf(cwd, layout.root)
      if (!place) throw outside(cwd)
      if (caseId !== null) await store.read(caseId)
      const { folder } = place
      await records.setCurrentCase(folder, caseId)
      for (const each of all.values()) {
        if (each.folder !== folder || each.ended_at !== null || hasDied(each) || !isDone(each))
          continue
        bind(each, caseId)
        save(each)
      }
      return { folder, case_id: caseId }
    },
  }
}

function outside(cwd: string): AppError {
  return new AppError(
    'bad_request',
    `The folder ${cwd} is neither inside the workspace nor in another git working tree of its repository.`,
  )
}

const beginsWith = (id: string, name: string) =>
  name.length >= 4 && id.startsWith(name.toLowerCase())

const isProcess = (conversation: Conversation, pid: number) =>
  conversation.pid === pid &&
  conversation.process_start !== null &&
  goesOn(pid, conversation.process_start)

/** The process and those that started it, as far as the system shows them: an agent calls commands by a shell. */
function withParents(pid: number): number[] {
  const found = [pid]
  for (let parent = processStat(pid)?.parent; parent && parent > 1 && found.length < 20; ) {
    found.push(parent)
    parent = processStat(parent)?.parent
  }
  return found
}

const hasDied = ({ pid, process_start }: Conversation) =>
  pid !== null && process_start !== null && !goesOn(pid, process_start)

/** Whether the agent goes on under another name: after its /clear, or as a fork. */
function isNewName(agent: HookAgent, event: HookEvent): boolean {
  // one process has all conversations of codex
  return agent !== 'codex' && event.kind === 'started' && event.isContinued
}
