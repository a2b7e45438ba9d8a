import { clauseOf, DID_NOTHING } from '../agents/agent-text.ts'
import { type AgentUsage, NO_USAGE } from '../agents/agent-usage.ts'
import { createDenials, type Denials } from '../agents/denials.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { abortable, withTimeout } from '../agents/timeouts.ts'
import { asArray, asRecord, asString } from '../agents/unknown-record.ts'
import { type AgentNote, type PlanResult, RunnerFailure } from '../contract.ts'
import type { AllowedPaths } from './allowed-paths.ts'
import type { AgentConnection, PermissionAnswer } from './connection.ts'
import { type ModeWatch, watchMode } from './mode-setting.ts'
import {
  answerWith,
  CANCELLED,
  type PermissionDecision,
  planPolicy,
  workPolicy,
} from './permission.ts'
import { contentText, type ToolCall } from './tool-call.ts'
import { createTranscript, type Transcript } from './transcript.ts'
import { createUsageReader } from './usage.ts'

export interface TurnDeps {
  title: string
  /** How long it may take to end its turn after a cancel. */
  cancelMs: number
  /** Null in plan mode. */
  allowedPaths: AllowedPaths | null
  workdir: string
  note(note: AgentNote): void
  /** Resolves when all notes are on disk. */
  noted(): Promise<void>
  shown: ReadableOutput
  signal: AbortSignal
}

/** One turn of a conversation: decides the agent's permission requests and records what it says and does. */
export interface Turn {
  onUpdate(params: unknown): void
  onPermission(params: unknown): Promise<PermissionAnswer>
  watch: ModeWatch
  /** Accepts only messages of this session from now on. `model` is the one the session starts with. */
  acceptSession(id: string, model: string | null): void
  /** Any other mode ends the turn from now on. Throws if the agent has left this mode already. */
  requireMode(mode: string): void
  /** Sends the prompt and waits for the end of the turn. */
  run(connection: AgentConnection, sessionId: string, prompt: string): Promise<TurnEnd>
  /** The usage reported so far; none before the prompt was sent. */
  usage(): AgentUsage
}

export interface TurnEnd {
  plan: PlanResult | null
  /** Why there is no plan, as a predicate for a sentence about the agent. */
  noPlan: string
  denials: Denials
}

type Stop = 'signal' | 'exitPlanMode' | { left: string; mode: string }

export function createTurn(deps: TurnDeps): Turn {
  const { title, allowedPaths, signal } = deps
  const denials = createDenials()
  const stopping = new AbortController()
  let stopped: Stop | null = null
  let request: { plan: string | null } | null = null
  let requiredMode: string | null = null
  const watch = watchMode((mode) => {
    if (requiredMode !== null && mode !== requiredMode) stop({ left: requiredMode, mode })
  })
  const session = createOwnSession(deps.shown.line)
  const usage = createUsageReader()
  let isAsked = false
  const transcript = createTranscript({
    note: deps.note,
    shown: deps.shown,
    onMode: watch.reported,
    workdir: deps.workdir,
  })

  function stop(why: Stop): void {
    stopped ??= why
    stopping.abort()
  }

  async function judge(call: ToolCall): Promise<PermissionDecision> {
    return allowedPaths ? workPolicy(call, allowedPaths) : planPolicy(call)
  }

  async function deny(call: ToolCall, decision: PermissionDecision): Promise<void> {
    const reason =
      decision.is === 'denied' ? decision.reason : 'the agent offers no way to allow it only once'
    denials.add(call.title ?? call.tool)
    transcript.denied(call, reason)
    await deps.noted()
  }

  async function onPermission(params: unknown): Promise<PermissionAnswer> {
    const { toolCall, options } = asRecord(params)
    if (stopped !== null || session.isOther(params)) return CANCELLED
    const call = transcript.call(toolCall)
    const decision = await judge(call)
    if (stopped === null && decision.is === 'exitPlanMode') {
      const shown = contentText(toolCall)
      request = { plan: shown.trim() ? shown : call.plan }
      stop('exitPlanMode')
    }
    if (stopped !== null) return CANCELLED
    const { response, isAllowed } = answerWith(decision, asArray(options))
    if (!isAllowed) await deny(call, decision)
    return stopped === null ? response : CANCELLED
  }

  /** The stop reason of the turn; null if we stopped it. */
  async function ask(
    connection: AgentConnection,
    sessionId: string,
    text: string,
  ): Promise<string | null> {
    if (stopped !== null) return null
    isAsked = true
    const params = { sessionId, prompt: [{ type: 'text', text }] }
    const answered = connection.ask('session/prompt', params, NEVER).then((answer) => {
      usage.answer(answer)
      return answer
    })
    const reason = await stopReason(connection, sessionId, answered)
    await deps.noted()
    return reason
  }

  /** Null if we stopped the turn: the agent's stop reason does not matter then. */
  async function stopReason(
    connection: AgentConnection,
    sessionId: string,
    answered: Promise<unknown>,
  ): Promise<string | null> {
    try {
      const answer = await abortable(stopping.signal, answered)
      return asString(asRecord(answer).stopReason) ?? 'nothing'
    } catch (error) {
      if (!stopping.signal.aborted) throw error
      const cancelled = connection.notify('session/cancel', { sessionId })
      await withTimeout(deps.cancelMs, Promise.allSettled([cancelled, answered]))
      return null
    }
  }

  async function run(
    connection: AgentConnection,
    sessionId: string,
    prompt: string,
  ): Promise<TurnEnd> {
    const onAbort = () => stop('signal')
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      transcript.begin()
      const reason = await ask(connection, sessionId, prompt)
      const denied = stopped === null ? transcript.lastDenied() : null
      // some agents cancel their turn when an action is denied
      const isEndedByDenial =
        denied !== null &&
        (reason === 'cancelled' || (allowedPaths !== null && reason === 'end_turn'))
      if (!isEndedByDenial) requireGoodEnd(title, stopped, reason)
      const failure = stopped === null ? transcript.failure() : null
      if (failure !== null) throw new RunnerFailure(`${title} ${failure}`)
      if (isEndedByDenial)
        throw new RunnerFailure(`${title} ended its turn when ${denied} was denied`)
      if (allowedPaths && stopped === null && transcript.isEmpty())
        throw new RunnerFailure(`${title} ${DID_NOTHING}`)
      return { plan: planOf(transcript), noPlan: transcript.noPlan(), denials }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  function planOf(transcript: Transcript): PlanResult | null {
    if (allowedPaths) return null
    if (!transcript.isTooLong()) return transcript.plan(request)
    throw new RunnerFailure(`${title} said more than 4 MiB`)
  }

  return {
    onUpdate(params) {
      if (session.isOther(params)) return
      usage.update(asRecord(asRecord(params).update))
      transcript.take(params)
    },
    onPermission,
    watch,
    acceptSession(id, model) {
      session.is(id)
      usage.session(model)
    },
    requireMode(mode) {
      requiredMode = mode
      const last = watch.last() ?? mode
      if (last !== mode) throw switchedMode(title, mode, last)
    },
    run,
    usage: () => (isAsked ? usage.end() : NO_USAGE),
  }
}

const NEVER = new AbortController().signal

const BAD_ENDS: Record<string, string> = {
  refusal: 'refused to continue',
  max_tokens: 'reached the token limit of its model',
  max_turn_requests: 'reached the limit of requests per turn',
  cancelled: 'cancelled its turn without being asked to',
}

function switchedMode(title: string, left: string, mode: string): RunnerFailure {
  const [from, to] = [left, mode].map((each) => each.slice(0, 100))
  return new RunnerFailure(`${title} switched from mode ${from} to ${to}, so it was stopped`)
}

function requireGoodEnd(title: string, stopped: Stop | null, reason: string | null): void {
  if (stopped === 'signal') throw new RunnerFailure(`${title} was stopped`)
  if (stopped !== null && stopped !== 'exitPlanMode') {
    throw switchedMode(title, stopped.left, stopped.mode)
  }
  if (reason === null || reason === 'end_turn') return
  throw new RunnerFailure(
    `${title} ${BAD_ENDS[reason] ?? `ended its turn with ${clauseOf(reason)}`}`,
  )
}

/** Recognizes our session of a connection: an agent may send updates of others, such as those of its subagents. */
interface OwnSession {
  is(id: string): void
  /** Whether a message belongs to another session. The first time, it adds a line to the log. */
  isOther(params: unknown): boolean
}

function createOwnSession(line: (text: string) => void): OwnSession {
  let own: string | null = null
  let isLogged = false
  return {
    is(id) {
      own = id
    },
    isOther(params) {
      const id = asString(asRecord(params).sessionId)
      if (own === null || id === null || id === own) return false
      if (!isLogged) line(`[casefile] ignored messages of another session: ${id.slice(0, 100)}`)
      isLogged = true
      return true
    },
  }
}
