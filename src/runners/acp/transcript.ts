import { basename } from 'node:path'
import type { AgentRetry } from '../../model/agent-retry.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import { type Foreign, listOf, objectOf, textOf } from '../agents/foreign.ts'
import { PLAN_MARKS } from '../agents/plan-marks.ts'
import { planAmong, planOf } from '../agents/plan-text.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import type { AgentNote, PlanResult, ToolFacts } from '../contract.ts'
import { modeIn } from './modes.ts'
import { isRetryNotice, retryIn, retryInExtension } from './retry.ts'
import { idOf, printedIn, readToolCall, resultIn, type ToolCall, todosIn } from './tool-call.ts'

/** Far more than any plan may have. */
const MAX_TEXT = 4 * 1024 * 1024
const ENDED = ['completed', 'failed']
const MODE_KINDS = ['current_mode_update', 'config_option_update']
const WITHOUT_USE = [
  ...['user_message_chunk', 'available_commands_update', 'session_info_update', 'usage_update'],
  ...['compaction_update', 'compaction_summary_chunk', 'plan_removed'],
]
/** Gemini's way to tell its mode: a message of its own. */
const MODE_TEXT = /^\[MODE_UPDATE\] (\S+)\s*$/

export interface TranscriptNeeds {
  note(note: AgentNote): void
  shown: ReadableOutput
  onMode(mode: string): void
}

/** What an agent says and does in its turn, as it tells it. */
export interface Transcript {
  /** From here on it counts: what comes before is of an earlier turn, or a greeting; but for its mode. */
  begin(): void
  /** A `session/update`, of whatever shape. */
  take(params: unknown): void
  /** A notification that is not of the protocol itself. */
  takeExtension(method: string, params: unknown): void
  /** The call of a request for permission, with what was told of it before. */
  call(update: unknown): ToolCall
  /** A call that was refused here; what its tool says to that is not shown again. */
  refused(call: ToolCall, reason: string): void
  /** The plan in its request to begin (null where it ended its turn), else in what it wrote and said. */
  plan(request: { plan: string | null } | null): PlanResult | null
  isTooLong(): boolean
}

interface KnownCall {
  present: ToolCall
  /** That it began is in the trail and in the output. */
  isNoted: boolean
  isRefused: boolean
  /** It keeps the agent's own list of things to do, and is told as that. */
  isList: boolean
  /** What its command printed so far. */
  printed: string
}

export function createTranscript({ note, shown, onMode }: TranscriptNeeds): Transcript {
  const calls = createBoundedMap<KnownCall>()
  let isTurn = false
  const messages: string[] = []
  let message: { id: string | null } | null = null
  let length = 0
  let entriesNoted = ''
  let planFile: string | null = null
  let planUpdate: string | null = null

  function call(update: unknown, isAsked: boolean): ToolCall {
    const id = idOf(update)
    const before = calls.get(id)
    const present = readToolCall(update, before?.present)
    planFile = present.planFile ?? planFile
    const todos = todosIn(update)
    if (todos !== null || before?.isList) {
      calls.set(id, { present, isNoted: true, isRefused: false, isList: true, printed: '' })
      if (todos !== null) plan(todos)
      return present
    }
    const isEnd = ENDED.includes(present.status ?? '') && present.status !== before?.present.status
    // many begin a call before they know what it works on: one more update is waited for
    const isTelling = isAsked || before !== undefined || isOnSomething(present)
    const isFirst = !before?.isNoted && isTelling
    if (isFirst && !isEnd) {
      noteCall(present)
      shown.call(id, toolFacts(present))
    }
    const isNoted = before?.isNoted === true || isFirst
    const isRefused = before?.isRefused ?? false
    const printed = printedIn(update, before?.printed ?? '')
    calls.set(id, { present, isNoted, isRefused, isList: false, printed })
    if (isEnd) noteCall(present)
    if (isEnd && !isRefused) {
      shown.result(id, toolFacts(present), resultIn(update, present.status, printed))
    }
    return present
  }

  function noteCall(present: ToolCall): void {
    const { status } = present
    note({
      event: 'tool_call',
      fields: { ...toolFacts(present), ...(status === null ? {} : { status }) },
    })
  }

  function refused(present: ToolCall, reason: string): void {
    note({ event: 'denied', fields: { ...toolFacts(present), reason } })
    shown.result(present.id, toolFacts(present), { status: 'denied', text: reason })
    calls.set(present.id, {
      present,
      isNoted: true,
      isRefused: true,
      isList: false,
      printed: '',
    })
  }

  function say({ content, messageId }: Foreign): void {
    const text = textOf(objectOf(content).text)
    if (text === null) return
    if (isRetryNotice(text)) {
      noteRetry({})
      return
    }
    const mode = MODE_TEXT.exec(text)?.[1]
    if (mode !== undefined) onMode(mode)
    if (mode !== undefined || !isTurn) return
    const id = textOf(messageId)
    shown.part(text, id === null ? '' : `message ${id}`)
    length += text.length + 1
    if (length > MAX_TEXT) return
    if (message !== null && message.id === id) messages[messages.length - 1] += text
    else messages.push(text)
    message = { id }
  }

  function plan(entries: unknown): void {
    const read = listOf(entries).map((entry) => {
      const { content, description, status } = objectOf(entry)
      return {
        content: textOf(content) ?? textOf(description) ?? '',
        status: textOf(status) ?? 'pending',
      }
    })
    const text = JSON.stringify(read)
    if (text === entriesNoted) return
    entriesNoted = text
    note({ event: 'agent_plan', fields: { entries: read } })
  }

  /** Only of the unstable protocol, and the plan itself where it is markdown. */
  function planDocument({ plan: document }: Foreign): void {
    const { type, content, entries } = objectOf(document)
    if (type === 'items') plan(entries)
    else planUpdate = textOf(content) ?? planUpdate
  }

  function take(params: unknown): void {
    const update = objectOf(objectOf(params).update)
    const kind = textOf(update.sessionUpdate) ?? ''
    noteRetry(retryIn(update))
    if (kind === 'agent_message_chunk') say(update)
    else if (MODE_KINDS.includes(kind)) tellMode(update)
    else if (isTurn && !WITHOUT_USE.includes(kind)) {
      // What follows is another message, whether or not the agent numbers them.
      message = null
      takeOther(kind, update)
    }
  }

  function noteRetry(retry: AgentRetry | null): void {
    if (retry !== null && isTurn) note({ event: 'agent_retry', fields: retry })
  }

  function tellMode({ currentModeId, configOptions }: Foreign): void {
    const mode = textOf(currentModeId) ?? modeIn(configOptions)
    if (mode !== null) onMode(mode)
  }

  function takeOther(kind: string, update: Foreign): void {
    switch (kind) {
      case 'tool_call':
      case 'tool_call_update':
        call(update, false)
        return
      case 'agent_thought_chunk':
        shown.part(textOf(objectOf(update.content).text) ?? '', 'thought')
        return
      case 'plan':
        plan(update.entries)
        return
      case 'plan_update':
        planDocument(update)
        return
      case 'notice':
        shown.line(textOf(update.title) ?? '')
        return
      default:
        shown.line(`[casefile] an update of a kind that is not known: ${kind.slice(0, 100)}`)
    }
  }

  return {
    begin() {
      isTurn = true
    },
    take,
    takeExtension: (method, params) => noteRetry(retryInExtension(method, params)),
    call: (update) => call(update, true),
    refused,
    plan(request) {
      const isMarked = messages.some((text) => text.includes(PLAN_MARKS.begin))
      const file = request || !isMarked ? planFile : null
      const written = [request?.plan, planUpdate, file].find((text) => text?.trim())
      return written ? planOf(written) : planAmong(messages)
    },
    isTooLong: () => length > MAX_TEXT,
  }
}

export function toolFacts(call: ToolCall): ToolFacts {
  const { tool, kind } = call
  const title = titleWithPlace(call)
  return { tool, ...(kind === null ? {} : { kind }), ...(title === null ? {} : { title }) }
}

const ON_FILES = ['edit', 'read', 'delete', 'move']

/** A title need not say on what file a tool works, or what a shell is to do. */
function titleWithPlace({ kind, title, paths, commands }: ToolCall): string | null {
  const [command] = commands
  if (kind === 'execute' && command !== undefined) {
    return title?.includes(command) ? title : [title, command].filter((each) => each).join(': ')
  }
  const [path] = paths
  if (path === undefined || !ON_FILES.includes(kind ?? '')) return title
  return title?.includes(basename(path)) ? title : [title, path].filter((each) => each).join(' ')
}

function isOnSomething({ kind, title, paths, commands }: ToolCall): boolean {
  // a title of more than one word is a command itself
  if (kind === 'execute') return commands.length > 0 || /\S\s+\S/.test(title ?? '')
  return paths.length > 0 || commands.length > 0 || kind === 'switch_mode'
}
