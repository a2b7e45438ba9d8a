import { type AgentUsage, NO_USAGE } from '../agents/agent-usage.ts'
import { beginningOf, clauseOf } from '../agents/cut-text.ts'
import { createDenials, type Denials } from '../agents/denials.ts'
import { listOf, objectOf, textOf } from '../agents/foreign.ts'
import { RECORD_TOO_LARGE, type ReadOwnRecord } from '../agents/own-record.ts'
import { unlessAborted, within } from '../agents/patience.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { DID_NOTHING } from '../agents/said-error.ts'
import { type AgentNote, type PlanResult, RunnerFailure } from '../contract.ts'
import type { Ground } from './ground.ts'
import type { Link, PermissionAnswer } from './link.ts'
import { type ModeWatch, watchMode } from './mode-setting.ts'
import { createOwnSession } from './own-session.ts'
import { answerWith, CANCELLED, judgePlanning, judgeWork, type Verdict } from './permission.ts'
import { retryInClaude } from './retry.ts'
import { contentText, type ToolCall } from './tool-call.ts'
import { createTranscript, type Transcript } from './transcript.ts'
import { createUsageReader } from './usage.ts'

/** For an agent to end its turn once it was told to. */
const CANCEL_MS = 5000

/** An agent that ends its turn at a refusal is asked so often to go on without the action. */
const MAX_GO_ON = 3
const MAX_REFUSED = 1000
const ENDS_AT_REFUSAL = ['end_turn', 'cancelled', 'refusal']

export interface TurnDeps {
  title: string
  /** Null while planning. */
  ground: Ground | null
  /** See `AcpSpec`. */
  planTools: readonly string[] | null
  saysInWords: boolean
  refusalIn: (printed: string) => string | null
  /** Reads the agent's own record of a conversation, what came after a time: see `AgentSpec`. */
  readRecord(conversation: string, since: number): ReturnType<ReadOwnRecord>
  /** Whether the `usage` of its answer counts the whole turn. */
  countsTurn: boolean
  endsAtRefusal: boolean
  workdir: string
  note(note: AgentNote): void
  /** Resolves when the notes are on disk. */
  noted(): Promise<void>
  shown: ReadableOutput
  signal: AbortSignal
}

/** One turn of a conversation: what the agent asks for is judged, what it tells is kept. */
export interface Turn {
  onUpdate(params: unknown): void
  /** A notification of the agent's own. */
  onOwn(method: string, params: unknown): void
  onPermission(params: unknown): Promise<PermissionAnswer>
  watch: ModeWatch
  /** From here on nothing counts that is of another session. `model` is that which it says it begins with. */
  holdSession(id: string, model: string | null): void
  /** From here on any other mode ends the turn; rejects one that was left again already. */
  holdMode(mode: string): void
  /** Sends the prompt, and waits for the end of the turn. */
  run(link: Link, sessionId: string, prompt: string): Promise<TurnEnd>
  /** What it said so far of its use; nothing before it got the prompt. */
  usage(): AgentUsage
}

export interface TurnEnd {
  plan: PlanResult | null
  /** Why there is none, for a sentence that begins with the agent's name. */
  noPlan: string
  denials: Denials
}

type Stop = 'signal' | 'leave' | { left: string; mode: string } | { tool: string }

/** Claude's own messages, which claude-agent-acp passes on where it is asked to. */
const CLAUDE_MESSAGE = '_claude/sdkMessage'

export function createTurn(deps: TurnDeps): Turn {
  const { title, ground, planTools, saysInWords, note, signal } = deps
  const denials = createDenials()
  const stopping = new AbortController()
  let stopped: Stop | null = null
  let request: { plan: string | null } | null = null
  let held: string | null = null
  let hasSaidTools = false
  const watch = watchMode((mode) => {
    if (held !== null && mode !== held) stop({ left: held, mode })
  })
  const session = createOwnSession(deps.shown.line)
  const usage = createUsageReader(deps)
  let isAsked = false
  const transcript = createTranscript({
    note,
    shown: deps.shown,
    onMode: watch.told,
    saysInWords,
    refusalIn: deps.refusalIn,
    workdir: deps.workdir,
  })

  function stop(why: Stop): void {
    stopped ??= why
    stopping.abort()
  }

  function onOwn(method: string, params: unknown): void {
    if (method !== CLAUDE_MESSAGE || session.isForeign(params)) return
    const message = objectOf(objectOf(params).message)
    transcript.takeRetry(retryInClaude(message))
    if (message.type === 'system' && message.subtype === 'init') hearTools(message.tools)
  }

  /** What it says of its tools at the beginning of a turn, before it asks its model. */
  function hearTools(tools: unknown): void {
    if (planTools === null) return
    hasSaidTools = true
    const more = listOf(tools).find((tool) => !planTools.includes(String(tool)))
    if (more !== undefined) stop({ tool: String(more) })
  }

  async function judge(call: ToolCall): Promise<Verdict> {
    return ground ? judgeWork(call, ground) : judgePlanning(call)
  }

  async function deny(call: ToolCall, verdict: Verdict): Promise<void> {
    const reason = verdict.is === 'denied' ? verdict.reason : 'it cannot be allowed for once only'
    denials.add(call.title ?? call.tool)
    transcript.refused(call, reason)
    await deps.noted()
  }

  async function onPermission(params: unknown): Promise<PermissionAnswer> {
    const { toolCall, options } = objectOf(params)
    if (stopped !== null || session.isForeign(params)) return CANCELLED
    const call = transcript.call(toolCall)
    const verdict = await judge(call)
    if (stopped === null && verdict.is === 'leave') {
      const shown = contentText(toolCall)
      request = { plan: shown.trim() ? shown : call.plan }
      stop('leave')
    }
    if (stopped !== null) return CANCELLED
    const { response, isAllowed } = answerWith(verdict, listOf(options))
    if (!isAllowed) await deny(call, verdict)
    return stopped === null ? response : CANCELLED
  }

  /** Why the turn that answers a prompt ended; null where it was stopped from here. */
  async function ask(link: Link, sessionId: string, text: string): Promise<string | null> {
    if (stopped !== null) return null
    isAsked = true
    const params = { sessionId, prompt: [{ type: 'text', text }] }
    const answered = link.ask('session/prompt', params, NEVER).then((answer) => {
      usage.answer(answer)
      return answer
    })
    const reason = await stopReason(link, sessionId, answered, stopping.signal)
    await deps.noted()
    return reason
  }

  /** What was refused, where the turn ended with that alone, and the agent might go on without it. */
  function refusedAtEnd(reason: string | null): string | null {
    if (!deps.endsAtRefusal || stopped !== null) return null
    if (reason === null || !ENDS_AT_REFUSAL.includes(reason)) return null
    if (transcript.failure() !== null || planOf(transcript) !== null) return null
    return transcript.lastRefused()
  }

  function goOnPrompt(refused: string): string {
    const what = `That action was refused: ${beginningOf(refused, MAX_REFUSED)}`
    return ground
      ? `${what}\n\nGo on without it, or end with what could not be done.`
      : `${what}\n\nGo on without it, and end with the plan as it was asked for.`
  }

  async function run(link: Link, sessionId: string, prompt: string): Promise<TurnEnd> {
    const onAbort = () => stop('signal')
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      transcript.begin()
      const since = Date.now()
      let reason = await ask(link, sessionId, prompt)
      for (let asked = 0; asked < MAX_GO_ON; asked++) {
        const refused = refusedAtEnd(reason)
        if (refused === null) break
        deps.shown.line(`[casefile] asked to go on without: ${clauseOf(refused)}`)
        reason = await ask(link, sessionId, goOnPrompt(refused))
      }
      await takeRecord(sessionId, since)
      await deps.noted()
      const refused = stopped === null ? transcript.lastRefused() : null
      // some cancel their turn when an action is refused
      const isEndedByRefusal =
        refused !== null && (reason === 'cancelled' || (ground !== null && reason === 'end_turn'))
      if (!isEndedByRefusal) mustHaveEnded(title, stopped, reason)
      const failure = stopped === null ? transcript.failure() : null
      if (failure !== null) throw new RunnerFailure(`${title} ${failure}`)
      if (isEndedByRefusal)
        throw new RunnerFailure(`${title} ended its turn when ${refused} was refused`)
      if (ground && stopped === null && transcript.isEmpty())
        throw new RunnerFailure(`${title} ${DID_NOTHING}`)
      if (planTools !== null && !hasSaidTools) {
        throw new RunnerFailure(
          `${title} did not say which tools it has, so it may not plan; update it`,
        )
      }
      return { plan: planOf(transcript), noPlan: transcript.noPlan(), denials }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async function takeRecord(sessionId: string, since: number): Promise<void> {
    const record = await deps.readRecord(sessionId, since)
    if (record === 'too_large') deps.shown.line(RECORD_TOO_LARGE)
    else if (record !== null) transcript.takeUnsent(record.actions)
  }

  function planOf(transcript: Transcript): PlanResult | null {
    if (ground) return null
    if (!transcript.isTooLong()) return transcript.plan(request)
    throw new RunnerFailure(`${title} said more than 4 MiB`)
  }

  return {
    onUpdate(params) {
      if (session.isForeign(params)) return
      usage.update(objectOf(objectOf(params).update))
      transcript.take(params)
    },
    onOwn,
    onPermission,
    watch,
    holdSession(id, model) {
      session.is(id)
      usage.session(model)
    },
    holdMode(mode) {
      held = mode
      const last = watch.last() ?? mode
      if (last !== mode) throw leftMode(title, mode, last)
    },
    run,
    usage: () => (isAsked ? usage.end() : NO_USAGE),
  }
}

/** Null where the turn was stopped from here: then what the agent calls its end does not matter. */
async function stopReason(
  link: Link,
  sessionId: string,
  answered: Promise<unknown>,
  stopping: AbortSignal,
): Promise<string | null> {
  try {
    const answer = await unlessAborted(stopping, answered)
    return textOf(objectOf(answer).stopReason) ?? 'nothing'
  } catch (error) {
    if (!stopping.aborted) throw error
    const ended = Promise.allSettled([link.notify('session/cancel', { sessionId }), answered])
    await within(CANCEL_MS, ended)
    return null
  }
}

const NEVER = new AbortController().signal

const BAD_ENDS: Record<string, string> = {
  refusal: 'refused to go on',
  max_tokens: 'ran into the limit of tokens of its model',
  max_turn_requests: 'ran into the limit of requests of one turn',
  cancelled: 'says that its turn was cancelled, which nobody asked for',
}

function leftMode(title: string, left: string, mode: string): RunnerFailure {
  const [from, to] = [left, mode].map((each) => each.slice(0, 100))
  return new RunnerFailure(`${title} left its mode ${from} for ${to}, so it was stopped`)
}

function mustHaveEnded(title: string, stopped: Stop | null, reason: string | null): void {
  if (stopped === 'signal') throw new RunnerFailure(`${title} was stopped`)
  if (stopped !== null && stopped !== 'leave') {
    if ('mode' in stopped) throw leftMode(title, stopped.left, stopped.mode)
    throw new RunnerFailure(
      `${title} has the tool ${stopped.tool.slice(0, 100)} although it is to plan only, so it was stopped`,
    )
  }
  if (reason === null || reason === 'end_turn') return
  throw new RunnerFailure(
    `${title} ${BAD_ENDS[reason] ?? `ended its turn with ${clauseOf(reason)}`}`,
  )
}
