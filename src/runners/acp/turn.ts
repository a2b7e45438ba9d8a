import { clauseOf } from '../agents/cut-text.ts'
import { createDenials, type Denials } from '../agents/denials.ts'
import { listOf, objectOf, textOf } from '../agents/foreign.ts'
import { unlessAborted, within } from '../agents/patience.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { type AgentNote, type PlanResult, RunnerFailure } from '../contract.ts'
import type { Ground } from './ground.ts'
import type { Link, PermissionAnswer } from './link.ts'
import { type ModeWatch, watchMode } from './mode-setting.ts'
import { createOwnSession } from './own-session.ts'
import { answerWith, CANCELLED, judgePlanning, judgeWork, type Verdict } from './permission.ts'
import { contentText, type ToolCall } from './tool-call.ts'
import { createTranscript, type Transcript } from './transcript.ts'

/** For an agent to end its turn once it was told to. */
const CANCEL_MS = 5000

export interface TurnNeeds {
  title: string
  /** Null while planning. */
  ground: Ground | null
  note(note: AgentNote): void
  /** Resolves when the notes are on disk. */
  noted(): Promise<void>
  shown: ReadableOutput
  signal: AbortSignal
}

/** One turn of a conversation: what the agent asks for is judged, what it tells is kept. */
export interface Turn {
  onUpdate(params: unknown): void
  onExtension(method: string, params: unknown): void
  onPermission(params: unknown): Promise<PermissionAnswer>
  watch: ModeWatch
  /** From here on nothing counts that is of another session. */
  holdSession(id: string): void
  /** From here on any other mode ends the turn; rejects one that was left again already. */
  holdMode(mode: string): void
  /** Sends the prompt, and waits for the end of the turn. */
  run(link: Link, sessionId: string, prompt: string): Promise<TurnEnd>
}

export interface TurnEnd {
  plan: PlanResult | null
  denials: Denials
}

type Stop = 'signal' | 'leave' | { mode: string }

export function createTurn(needs: TurnNeeds): Turn {
  const { title, ground, note, signal } = needs
  const denials = createDenials()
  const stopping = new AbortController()
  let stopped: Stop | null = null
  let request: { plan: string | null } | null = null
  let held: string | null = null
  const watch = watchMode((mode) => {
    if (held !== null && mode !== held) stop({ mode })
  })
  const session = createOwnSession(needs.shown.line)
  const transcript = createTranscript({ note, shown: needs.shown, onMode: watch.told })

  function stop(why: Stop): void {
    stopped ??= why
    stopping.abort()
  }

  async function judge(call: ToolCall): Promise<Verdict> {
    return ground ? judgeWork(call, ground) : judgePlanning(call)
  }

  async function deny(call: ToolCall, verdict: Verdict): Promise<void> {
    const reason = verdict.is === 'denied' ? verdict.reason : 'it cannot be allowed for once only'
    denials.add(call.title ?? call.tool)
    transcript.refused(call, reason)
    await needs.noted()
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

  async function run(link: Link, sessionId: string, prompt: string): Promise<TurnEnd> {
    const onAbort = () => stop('signal')
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      transcript.begin()
      const params = { sessionId, prompt: [{ type: 'text', text: prompt }] }
      const ask = () => stopReason(link, sessionId, params, stopping.signal)
      const reason = stopped === null ? await ask() : null
      await needs.noted()
      mustHaveEnded(title, stopped, reason)
      return { plan: planOf(transcript), denials }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  function planOf(transcript: Transcript): PlanResult | null {
    if (ground) return null
    if (!transcript.isTooLong()) return transcript.plan(request)
    throw new RunnerFailure(`${title} said more than 4 MiB`)
  }

  return {
    onUpdate(params) {
      if (!session.isForeign(params)) transcript.take(params)
    },
    onExtension(method, params) {
      if (!session.isForeign(params)) transcript.takeExtension(method, params)
    },
    onPermission,
    watch,
    holdSession: session.is,
    holdMode(mode) {
      held = mode
      const last = watch.last() ?? mode
      if (last !== mode) throw leftMode(title, last)
    },
    run,
  }
}

/** Null where the turn was stopped from here: then what the agent calls its end does not matter. */
async function stopReason(
  link: Link,
  sessionId: string,
  params: object,
  stopping: AbortSignal,
): Promise<string | null> {
  const answered = link.ask('session/prompt', params, NEVER)
  try {
    const answer = await unlessAborted(stopping, answered)
    return textOf(objectOf(answer).stopReason) ?? 'nothing'
  } catch (error) {
    if (!stopping.aborted) throw error
    const ended = Promise.allSettled([link.tell('session/cancel', { sessionId }), answered])
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

function leftMode(title: string, mode: string): RunnerFailure {
  return new RunnerFailure(
    `${title} left its plan mode for the mode ${mode.slice(0, 100)}, so it was stopped`,
  )
}

function mustHaveEnded(title: string, stopped: Stop | null, reason: string | null): void {
  if (stopped === 'signal') throw new RunnerFailure(`${title} was stopped`)
  if (stopped !== null && stopped !== 'leave') {
    throw leftMode(title, stopped.mode)
  }
  if (reason === null || reason === 'end_turn') return
  throw new RunnerFailure(
    `${title} ${BAD_ENDS[reason] ?? `ended its turn with ${clauseOf(reason)}`}`,
  )
}
