import { relative } from 'node:path'
import { createKeyedMutex } from '../../files/keyed-mutex.ts'
import { isWithin } from '../../files/real-path.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import { sha256 } from '../../markdown/session-file.ts'
import { AppError, stoppingError } from '../../model/app-error.ts'
import { sessionOf } from '../../model/case-folder.ts'
import type { Conversation, HookAgent } from '../../model/conversation.ts'
import type { Actor } from '../../model/history.ts'
import { isSealed, type Session } from '../../model/session.ts'
import { isOver, type SessionState } from '../../model/session-state.ts'
import { lastOf } from '../../model/trail.ts'
import type { AgentNote } from '../../runners/contract.ts'
import type {
  HookAnswer,
  HookDialect,
  HookEvent,
  HookTool,
} from '../../runners/hooks/hook-event.ts'
import { processStart } from '../../runners/process/procfs.ts'
import { runProcess } from '../../runners/process/run-processes.ts'
import type { ConversationRecords } from '../../state/conversations.ts'
import type { SessionDeps } from '../deps.ts'
import type { Job } from '../jobs.ts'
import { openRunReport } from '../run-recorder.ts'
import type { SessionRun } from '../sessions.ts'
import { casesOfBranch, placeOf } from './binding.ts'
import { objectionBeforeApproval } from './gate.ts'
import { createTalk, type Talk } from './talk.ts'
import { planInTerminal, recordedPlan } from './terminal-plan.ts'
import { abandonedText, HOW_TO_PLAN, openingText, sentBackText } from './told.ts'

type Calling = Extract<HookEvent, { kind: 'calling' }>
type Planned = Extract<HookEvent, { kind: 'planned' }>

/** What comes with a hook's request besides the agent's own words. */
export interface HookRequest {
  /** The id of a case, or the beginning of it, from the environment of the agent. */
  caseName: string | null
  /** The session that started the agent, if the service did. */
  sessionId: string | null
  pid: number | null
  isStrict: boolean
  /** Aborts when the hook closes its connection. */
  signal: AbortSignal
}

/** The conversations of people with agents that they run themselves. */
export interface Conversations {
  /** What a hook is answered. */
  hear(dialect: HookDialect, event: HookEvent, request: HookRequest): Promise<HookAnswer>
  /** Expects the hooks of an agent that is about to start. */
  expect(announced: Announced): Promise<Conversation>
  list(): Conversation[]
  adopt(id: string, caseId: string): Promise<Conversation>
  currentCase(folder: string): Promise<{ folder: string; case_id: string | null }>
  setCurrentCase(
    folder: string,
    caseId: string | null,
  ): Promise<{ folder: string; case_id: string | null }>
  /** The conversation that a session records; null if this machine does not know it. */
  ofSession(sessionId: string): Conversation | null
  talkOf(session: Session): Talk
  /** Tells the agent that its plan was sent back: at once if it waits for the decision, else at its next prompt. */
  sendBack(session: Session, note: string): void
  /** The agents' processes, so that their own requests can be recognized. */
  runs(): SessionRun[]
  /** Lets go of the hooks that wait; their plans stay as they are. */
  close(): void
}

export interface Announced {
  agent: HookAgent
  cwd: string
  case_id: string | null
  pid: number
}

/** What conversations need of the sessions. */
export interface ConversationDeps extends SessionDeps {
  records: ConversationRecords
  operator: () => Promise<string>
  /** Creates a session whose planning job waits for the plans of the talk. */
  begin(
    caseId: string,
    wanted: { provider: string; by: Actor },
    work: (job: Job) => Promise<void>,
  ): Promise<Session>
  /** Moves a session from plan_ready back to planning. */
  planAgain(session: Session, note: string, by: Actor): Promise<void>
  approve(session: Session, plan: string, by: Actor): Promise<void>
  /** How long a conversation that ended may be resumed before its session ends. */
  resumeMs?: number
}

const RESUME_MS = 120_000
const PASS: HookAnswer = { is: 'pass' }
/** More than people have open; the oldest that ended goes first. */
const MAX_KEPT = 200

export function createConversations(deps: ConversationDeps): Conversations {
  const { records, catalog, store, layout, now, newId, operator } = deps
  const mutex = createKeyedMutex()
  const closing = new AbortController()
  const all = new Map(records.all().map((each) => [each.id, each]))
  /** By session. */
  const talks = new Map<string, Talk>()
  /** By conversation: ends the session of a conversation that is not resumed in time. */
  const endings = new Map<string, NodeJS.Timeout>()

  deps.changes.subscribe((change) => {
    if (change.kind !== 'session' || !change.after || !isOver(change.after.state)) return
    const { id, state, trail } = change.after
    const talk = talks.get(id)
    if (!talk) return
    talks.delete(id)
    const reason = lastOf(trail, 'session_state_changed')?.fields.reason
    const message = abandonedText(typeof reason === 'string' ? reason : undefined)
    talk.decide(() => (state === 'abandoned' ? { is: 'sentBack', message } : PASS))
    talk.letGo()
    void talk.start?.snapshots.close().catch((error: unknown) => deps.log(String(error)))
  })

  const byPerson = async (): Promise<Actor> => ({ who: await operator(), from: 'agent' })

  function save(conversation: Conversation): void {
    all.set(conversation.id, conversation)
    records.write(conversation)
    const ended = [...all.values()].filter(({ ended_at }) => ended_at !== null)
    if (all.size <= MAX_KEPT || ended.length === 0) return
    const oldest = ended.reduce((a, b) => (a.ended_at! < b.ended_at! ? a : b))
    all.delete(oldest.id)
    records.remove(oldest.id)
  }

  /** The session that records a conversation, as far as it may still change. */
  function liveSession({ case_id, session_id }: Conversation): Session | null {
    if (case_id === null || session_id === null) return null
    for (const { value } of catalog.entry(case_id)?.sessions.values() ?? []) {
      if (value?.id !== session_id) continue
      return isOver(value.state) || isSealed(value) ? null : value
    }
    return null
  }

  function talkOf(session: Session): Talk {
    const known = talks.get(session.id)
    if (known) return known
    const { case_id, id, number } = session
    const report = openRunReport(deps, {
      case_id,
      session_id: id,
      number,
      ending: null,
      processes: [],
      runId: id,
    })
    const note = (line: AgentNote) => {
      report.note(line).catch((error: unknown) => {
        deps.log(
          `a call in session ${number} of case ${case_id} was not recorded: ${String(error)}`,
        )
      })
    }
    const talk = createTalk(number, note)
    talks.set(id, talk)
    return talk
  }

  /** The conversation of an event; it is new if the agent has not been heard before. */
  async function conversationOf(
    { agent }: HookDialect,
    event: HookEvent,
    { caseName, pid, isStrict }: HookRequest,
  ): Promise<Conversation | null> {
    const { agentSession } = event
    const start = pid === null ? null : processStart(pid)
    const isOfProcess = (each: Conversation) =>
      each.agent === agent && pid !== null && each.pid === pid && each.process_start === start
    const open = [...all.values()]
    const known =
      open.find((each) => each.agent === agent && each.agent_session === agentSession) ??
      open.find((each) => each.agent_session === null && isOfProcess(each)) ??
      (isNewName(agent, event) ? open.filter(isOfProcess).at(-1) : undefined)
    const place = known ? null : await placeOf(event.cwd, layout.root)
    if (!known && !place) return null
    const conversation = known ?? { ...newConversation(agent, place!) }
    if (!known) conversation.case_id = caseFor(caseName, conversation)
    conversation.last_heard_at = now()
    conversation.agent_session = agentSession
    if (pid !== null) Object.assign(conversation, { pid, process_start: start })
    conversation.model = event.model ?? conversation.model
    conversation.transcript = event.transcript ?? conversation.transcript
    conversation.is_strict ||= isStrict
    return conversation
  }

  const newConversation = (
    agent: HookAgent,
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
  })

  /** In this order: what the environment says, the branch's name, the case that is current for the folder. */
  function caseFor(
    named: string | null,
    { folder, branch, agent }: Pick<Conversation, 'folder' | 'branch' | 'agent'>,
  ): string | null {
    const exists = (id: string | null) => id !== null && catalog.has(id)
    const ofBranch = branch === null ? [] : casesOfBranch(branch, catalog.ids())
    const ofName = named === null ? [] : catalog.ids().filter((id) => beginsWith(id, named))
    const single = (ids: readonly string[]) => (ids.length === 1 ? ids[0]! : null)
    const byFolder = [single(ofBranch), records.currentCase(folder)]
    // the daemon of codex has the environment of the terminal that started it first
    const order = agent === 'codex' ? [...byFolder, single(ofName)] : [single(ofName), ...byFolder]
    return order.find(exists) ?? null
  }

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
        await planInTerminal(deps, job, talkOf(session), folder)
      },
    )
    conversation.session_id = session.id
    save(conversation)
    const talk = talkOf(session)
    talk.note({ event: 'agent_started', fields: { mode: 'plan', command: [agent] } })
    return session
  }

  /** Waits until no job of the session is planning or recording, and gives its state then. */
  async function settled(session: Session, states: readonly SessionState[]): Promise<Session> {
    const present = () => sessionIn(session)
    if (states.includes(present().state)) return present()
    return new Promise((resolve) => {
      const stop = deps.changes.subscribe((change) => {
        if (change.kind !== 'session' || change.after?.id !== session.id) return
        if (!states.includes(change.after.state)) return
        stop()
        resolve(change.after)
      })
      if (states.includes(present().state)) {
        stop()
        resolve(present())
      }
    })
  }

  function sessionIn({ case_id, number }: Session): Session {
    const session = catalog.entry(case_id)?.sessions.get(number)?.value
    if (session) return session
    throw new AppError('not_found', `Session ${number} of case ${case_id} is gone.`)
  }

  const ANSWERED: readonly SessionState[] = ['plan_ready', 'complete', 'failed', 'abandoned']

  /** Records a plan that the agent presents, and gives the session with it. */
  async function present(conversation: Conversation, text: string): Promise<Session> {
    const session = await ensureSession(conversation)
    const talk = talkOf(session)
    const plan = recordedPlan(deps, text)
    if (session.state === 'plan_ready') {
      if ((await planIn(session)) === plan) return session
      await deps.planAgain(session, 'The agent presented another plan.', await byPerson())
    }
    talk.present(plan)
    return settled(session, ANSWERED)
  }

  async function planIn(session: Session): Promise<string> {
    return (await deps.sessionTexts(session.case_id, session)).plan
  }

  async function hearPlan(
    conversation: Conversation,
    event: Planned,
    signal: AbortSignal,
  ): Promise<HookAnswer> {
    const plan = recordedPlan(deps, event.plan)
    const asked = await mutex.run(conversation.id, async (): Promise<HookAnswer | Session> => {
      const live = liveSession(conversation)
      if (live && (live.state === 'approved' || live.state === 'executing')) {
        if (live.plan_sha256 === sha256(plan)) return { is: 'approved', plan: event.plan }
        return {
          is: 'sentBack',
          message:
            'Casefile: an approved plan is being carried out. Finish it, or have the operator abandon its session, before you present another one.',
        }
      }
      const steps = await readPlan(plan)
      const [error] = steps.errors
      if (error) {
        return {
          is: 'sentBack',
          message: `Casefile cannot read the plan at line ${error.line}: ${error.message}. Correct it and present it again.`,
        }
      }
      return present(conversation, event.plan)
    })
    if ('is' in asked) return asked
    const session = asked
    if (session.state !== 'plan_ready') return PASS
    const talk = talkOf(session)
    const answer = await talk.ask(plan, AbortSignal.any([signal, closing.signal]))
    if (closing.signal.aborted) throw stoppingError()
    // an edited plan is the operator's; otherwise the agent's own bytes come back
    if (answer.is === 'approved' && answer.plan === plan)
      return { is: 'approved', plan: event.plan }
    if (signal.aborted && !talk.isAsking()) {
      await withdraw(conversation, 'The plan was withdrawn in the dialog of the agent.')
    }
    return answer
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
    const talk = session && talks.get(session.id)
    if (!talk?.isAsking()) return
    talk.decide(() => PASS)
    await withdraw(conversation, 'The person asked for changes in the dialog of the agent.')
  }

  async function hearApproval(conversation: Conversation, plan: string | null): Promise<void> {
    const session = liveSession(conversation)
    if (session === null || session.state === 'approved' || session.state === 'executing') return
    const talk = talkOf(session)
    talk.decide(() => PASS)
    if (conversation.is_strict) return
    await mutex.run(conversation.id, async () => {
      const text = plan ?? (await planIn(session))
      const ready = await present(conversation, text)
      if (ready.state !== 'plan_ready') return
      try {
        await deps.approve(ready, recordedPlan(deps, text), await byPerson())
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        talk.note({
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

  function hearCall(conversation: Conversation, { tool, isPlanMode }: Calling): HookAnswer {
    const session = liveSession(conversation)
    const state = session?.state ?? null
    if (state === 'approved' || state === 'executing') return PASS
    const title = catalog.row(conversation.case_id!)?.title ?? conversation.case_id!
    const howToPlan = HOW_TO_PLAN[conversation.agent]
    const reason = objectionBeforeApproval({
      tool,
      isPlanMode,
      state,
      caseTitle: title,
      howToPlan,
    })
    if (reason === null) return PASS
    if (session) {
      const why = 'no plan is approved yet'
      talkOf(session).note({
        event: 'denied',
        fields: { tool: tool.name, ...titleOf(tool, conversation.folder), reason: why },
      })
    }
    return { is: 'denied', reason }
  }

  async function hearStop(conversation: Conversation): Promise<HookAnswer> {
    const session = liveSession(conversation)
    if (session === null) return PASS
    if (session.state !== 'approved' && session.state !== 'executing') return PASS
    return talkOf(session).stop()
  }

  function hearEnd(conversation: Conversation): void {
    const session = liveSession(conversation)
    if (session === null) return
    const { id } = conversation
    clearTimeout(endings.get(id))
    const timer = setTimeout(() => {
      endings.delete(id)
      talks.get(session.id)?.end()
    }, deps.resumeMs ?? RESUME_MS)
    timer.unref()
    endings.set(id, timer)
  }

  /** A bound conversation. */
  async function answerTo(
    conversation: Conversation,
    event: HookEvent,
    request: HookRequest,
  ): Promise<HookAnswer> {
    switch (event.kind) {
      case 'started': {
        const folder = await store.read(conversation.case_id!)
        const text = openingText(folder.case, HOW_TO_PLAN[conversation.agent])
        return { is: 'context', text }
      }
      case 'prompted': {
        await answeredElsewhere(conversation)
        await mutex.run(conversation.id, () => ensureSession(conversation))
        return messageFor(conversation)
      }
      case 'calling':
        if (event.tool.kind !== 'other' && !event.isSubagent) await answeredElsewhere(conversation)
        if (conversation.session_id === null) {
          await mutex.run(conversation.id, () => ensureSession(conversation))
        }
        return hearCall(conversation, event)
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
          }
          talkOf(session).note({ event: 'tool_call', fields })
        }
        return PASS
      }
      case 'planned':
        return event.isSubagent ? PASS : hearPlan(conversation, event, request.signal)
      case 'approved':
        await hearApproval(conversation, event.plan)
        return PASS
      case 'stopped':
        if (event.isSubagent) return PASS
        await answeredElsewhere(conversation)
        return hearStop(conversation)
      case 'ended':
        if (!event.isReplaced) hearEnd(conversation)
        return PASS
      case 'heard':
        return PASS
    }
  }

  function messageFor(conversation: Conversation): HookAnswer {
    const { message } = conversation
    if (message === null) return PASS
    conversation.message = null
    save(conversation)
    return { is: 'context', text: message }
  }

  const self: Conversations = {
    async hear(dialect, event, request) {
      const { sessionId, caseName } = request
      // an agent that the service started itself is recorded by its output
      if (sessionId !== null && deps.running.has(sessionId)) return PASS
      const key = `${dialect.agent} ${event.agentSession}`
      const conversation = await mutex.run(key, async () => {
        const found = await conversationOf(dialect, event, request)
        if (!found) return null
        if (found.case_id !== null && !catalog.has(found.case_id)) found.case_id = null
        if (found.case_id === null && event.kind === 'prompted') {
          found.case_id = caseFor(caseName, found)
        }
        if (event.kind === 'prompted') found.prompts += 1
        if (event.kind === 'calling') {
          found.is_gated = true
          found.tool_calls += 1
        }
        const hasEnded = event.kind === 'ended' && !event.isReplaced
        found.ended_at = hasEnded ? now() : null
        if (!hasEnded) clearTimeout(endings.get(found.id))
        save(found)
        return found
      })
      if (conversation === null || conversation.case_id === null) return PASS
      return answerTo(conversation, event, request)
    },

    async expect({ agent, cwd, case_id, pid }) {
      const place = await placeOf(cwd, layout.root)
      if (!place) throw outside(cwd, layout.root)
      const start = processStart(pid)
      const heard = [...all.values()].find(
        (each) => each.agent === agent && each.pid === pid && each.process_start === start,
      )
      if (heard) return heard
      const conversation = newConversation(agent, place)
      conversation.case_id = caseFor(case_id, conversation)
      Object.assign(conversation, { pid, process_start: start })
      save(conversation)
      return conversation
    },

    list: () => [...all.values()].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)),

    async adopt(id, caseId) {
      const conversation = all.get(id)
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
      conversation.case_id = caseId
      conversation.session_id = null
      save(conversation)
      if (conversation.ended_at === null && conversation.agent_session !== null) {
        await mutex.run(id, () => ensureSession(conversation))
      }
      return conversation
    },

    async currentCase(cwd) {
      const place = await placeOf(cwd, layout.root)
      if (!place) throw outside(cwd, layout.root)
      const { folder } = place
      return { folder, case_id: records.currentCase(folder) }
    },

    async setCurrentCase(cwd, caseId) {
      const place = await placeOf(cwd, layout.root)
      if (!place) throw outside(cwd, layout.root)
      if (caseId !== null) await store.read(caseId)
      const { folder } = place
      await records.setCurrentCase(folder, caseId)
      return { folder, case_id: caseId }
    },

    ofSession: (sessionId) =>
      [...all.values()].find(({ session_id }) => session_id === sessionId) ?? null,
    close() {
      closing.abort()
      for (const timer of endings.values()) clearTimeout(timer)
    },
    talkOf,
    sendBack(session, note) {
      const message = sentBackText(note)
      const talk = talkOf(session)
      if (talk.isAsking()) return talk.decide(() => ({ is: 'sentBack', message }))
      const conversation = self.ofSession(session.id)
      if (!conversation) return
      conversation.message = message
      save(conversation)
    },

    runs: () =>
      [...all.values()].flatMap((conversation): SessionRun[] => {
        const { pid, process_start, ended_at } = conversation
        const session = liveSession(conversation)
        if (!session || pid === null || ended_at !== null) return []
        if (process_start === null || processStart(pid) !== process_start) return []
        const isWork = session.state === 'approved' || session.state === 'executing'
        const { id: session_id, case_id } = session
        const kind = isWork ? 'work' : 'plan'
        return [{ session_id, case_id, kind, runId: session_id, processes: [runProcess(pid)] }]
      }),
  }
  return self
}

/** The command or the files of a call, relative to the folder where they lie in it. */
function titleOf({ command, paths }: HookTool, folder: string): { title?: string } {
  const shown = (path: string) => (isWithin(folder, path) ? relative(folder, path) : path)
  const title = command ?? paths.map(shown).join(', ')
  return title === '' ? {} : { title }
}

function outside(cwd: string, root: string): AppError {
  return new AppError(
    'bad_request',
    `${cwd} is neither inside the workspace ${root} nor in a git working tree of the same repository.`,
  )
}

const beginsWith = (id: string, name: string) =>
  name.length >= 4 && id.startsWith(name.toLowerCase())

/** Whether the agent goes on under another name: after its /clear, or as a fork. */
function isNewName(agent: HookAgent, event: HookEvent): boolean {
  // one process has all conversations of codex
  return agent !== 'codex' && event.kind === 'started' && event.isContinued
}
