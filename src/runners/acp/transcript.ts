import { createBoundedMap } from '../agents/bounded-map.ts'
import { type Foreign, listOf, objectOf, textOf } from '../agents/foreign.ts'
import { PLAN_MARKS } from '../agents/plan-marks.ts'
import { planAmong, planOf } from '../agents/plan-text.ts'
import type { AgentNote, PlanResult, ToolFacts } from '../contract.ts'
import { modeIn } from './modes.ts'
import { idOf, readToolCall, type ToolCall } from './tool-call.ts'

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
  output(text: string): void
  onMode(mode: string): void
}

/** What an agent says and does in its turn, as it tells it. */
export interface Transcript {
  /** From here on it counts: what comes before is of an earlier turn, or a greeting; but for its mode. */
  begin(): void
  /** A `session/update`, of whatever shape. */
  take(params: unknown): void
  /** The call of a request for permission, with what was told of it before. */
  call(update: unknown): ToolCall
  /** The plan in its request to begin (null where it ended its turn), else in what it wrote and said. */
  plan(request: { plan: string | null } | null): PlanResult | null
  isTooLong(): boolean
}

export function createTranscript({ note, output, onMode }: TranscriptNeeds): Transcript {
  const calls = createBoundedMap<ToolCall>()
  let isTurn = false
  const messages: string[] = []
  let message: { id: string | null } | null = null
  let length = 0
  let entriesNoted = ''
  let planFile: string | null = null
  let planUpdate: string | null = null

  function call(update: unknown): ToolCall {
    const id = idOf(update)
    const before = calls.get(id)
    const present = readToolCall(update, before)
    calls.set(id, present)
    planFile = present.planFile ?? planFile
    const isEnd = ENDED.includes(present.status ?? '') && present.status !== before?.status
    if (!before || isEnd) noteCall(present)
    return present
  }

  function noteCall(present: ToolCall): void {
    const { status } = present
    note({
      event: 'tool_call',
      fields: { ...toolFacts(present), ...(status === null ? {} : { status }) },
    })
  }

  function say({ content, messageId }: Foreign): void {
    const text = textOf(objectOf(content).text)
    if (text === null) return
    const mode = MODE_TEXT.exec(text)?.[1]
    if (mode !== undefined) onMode(mode)
    if (mode !== undefined || !isTurn) return
    output(text)
    length += text.length + 1
    if (length > MAX_TEXT) return
    const id = textOf(messageId)
    if (message !== null && message.id === id) messages[messages.length - 1] += text
    else messages.push(text)
    message = { id }
  }

  function plan(entries: unknown): void {
    const read = listOf(entries).map((entry) => {
      const { content, status } = objectOf(entry)
      return { content: textOf(content) ?? '', status: textOf(status) ?? 'pending' }
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
    if (kind === 'agent_message_chunk') say(update)
    else if (MODE_KINDS.includes(kind)) tellMode(update)
    else if (isTurn && !WITHOUT_USE.includes(kind)) {
      // What follows is another message, whether or not the agent numbers them.
      message = null
      takeOther(kind, update)
    }
  }

  function tellMode({ currentModeId, configOptions }: Foreign): void {
    const mode = textOf(currentModeId) ?? modeIn(configOptions)
    if (mode !== null) onMode(mode)
  }

  function takeOther(kind: string, update: Foreign): void {
    switch (kind) {
      case 'tool_call':
      case 'tool_call_update':
        call(update)
        return
      case 'agent_thought_chunk':
        output(textOf(objectOf(update.content).text) ?? '')
        return
      case 'plan':
        plan(update.entries)
        return
      case 'plan_update':
        planDocument(update)
        return
      case 'notice':
        output(`\n${textOf(update.title) ?? ''}\n`)
        return
      default:
        output(`\n[casefile] an update of a kind that is not known: ${kind.slice(0, 100)}\n`)
    }
  }

  return {
    begin() {
      isTurn = true
    },
    take,
    call,
    plan(request) {
      const isMarked = messages.some((text) => text.includes(PLAN_MARKS.begin))
      const file = request || !isMarked ? planFile : null
      const written = [request?.plan, planUpdate, file].find((text) => text?.trim())
      return written ? planOf(written) : planAmong(messages)
    },
    isTooLong: () => length > MAX_TEXT,
  }
}

export function toolFacts({ tool, kind, title }: ToolCall): ToolFacts {
  return { tool, ...(kind === null ? {} : { kind }), ...(title === null ? {} : { title }) }
}
