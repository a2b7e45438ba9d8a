import { basename } from 'node:path'
import { errorText } from '../agents/agent-text.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import { isErrorAlone, noPlan, planAmong, planOf } from '../agents/plan-text.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import type { AgentNote, PlanResult, ToolFacts } from '../contract.ts'
import { modeIn } from './modes.ts'
import { endsPlanning } from './permission.ts'
import { idOf, readToolCall, resultIn, type ToolCall } from './tool-call.ts'

/** Far longer than any plan may be. */
const MAX_TEXT = 4 * 1024 * 1024
const ENDED = ['completed', 'failed']
const MODE_KINDS = ['current_mode_update', 'config_option_update']
const WITHOUT_USE = [
  'user_message_chunk',
  'available_commands_update',
  'session_info_update',
  'usage_update',
  'compaction_update',
  'compaction_summary_chunk',
  'plan_removed',
]

export interface TranscriptDeps {
  note(note: AgentNote): void
  shown: ReadableOutput
  onMode(mode: string): void
  /** Paths in this folder are shown relative to it. */
  workdir: string
}

/** Follows an agent's turn from its updates: what it says, does and is denied. */
export interface Transcript {
  /** Starts recording. Earlier updates (a resumed turn, a greeting) are ignored, except for the mode. */
  begin(): void
  /** Handles a `session/update` of any shape. */
  take(params: unknown): void
  /** The call in a permission request, merged with earlier updates. */
  call(update: unknown): ToolCall
  /** Records a denied call and the reason; the tool's answer to that is not shown. */
  denied(call: ToolCall, reason: string): void
  /** The last denied action, if the agent has said and done nothing since. */
  lastDenied(): string | null
  /** The plan: from its request to start working if there was one, else from what it wrote and said. */
  plan(request: { plan: string | null } | null): PlanResult | null
  /** Why there is no plan, as a predicate for a sentence about the agent. */
  noPlan(): string
  /** How it reports that its turn failed; null if it does not. */
  failure(): string | null
  /** Whether it said nothing, called no tool and kept no list. */
  isEmpty(): boolean
  isTooLong(): boolean
}

interface KnownCall {
  present: ToolCall
  /** Set once its start is recorded and shown: its end then uses the same words. */
  noted: ToolFacts | null
  isDenied: boolean
}

export function createTranscript(deps: TranscriptDeps): Transcript {
  const { note, shown, onMode, workdir } = deps
  const calls = createBoundedMap<KnownCall>()
  let isTurn = false
  const messages: string[] = []
  let message: { id: string | null } | null = null
  let length = 0
  let hasActed = false
  let planUpdate: string | null = null
  /** The plan from the tool that ends planning, even without a permission request. */
  let handedIn: string | null = null
  let lastDenied: string | null = null

  function call(update: unknown, isAsked: boolean): ToolCall {
    const id = idOf(update)
    const before = calls.get(id)
    hasActed = true
    const present = readToolCall(update, before?.present)
    if (endsPlanning(present)) handedIn = present.plan ?? handedIn
    if (!before) lastDenied = null
    const isEnd = ENDED.includes(present.status ?? '') && present.status !== before?.present.status
    // many agents announce a call before they know its subject, so wait for one more update
    const isTelling = isAsked || before !== undefined || isOnSomething(present)
    const facts = factsOf(present)
    const isFirst = !before?.noted && isTelling
    if (isFirst && !isEnd) {
      noteCall(present, facts)
      shown.call(id, facts)
    }
    // if the call was recorded before its subject was known, its end is recorded in full
    const noted = before?.noted && isOnSomething(before.present) ? before.noted : facts
    const isDenied = before?.isDenied ?? false
    const isNoted = before?.noted || isFirst
    calls.set(id, { present, noted: isNoted ? noted : null, isDenied })
    if (!isEnd || isDenied) return present
    noteCall(present, noted)
    shown.result(id, noted, resultIn(asRecord(update), present.status))
    return present
  }

  function noteCall({ status }: ToolCall, facts: ToolFacts): void {
    note({ event: 'tool_call', fields: { ...facts, ...(status === null ? {} : { status }) } })
  }

  function factsOf(call: ToolCall): ToolFacts {
    const facts = toolFacts(call)
    const { title } = facts
    // keep a command as it was given
    if (title === undefined || call.commands.length > 0) return facts
    return { ...facts, title: title.replaceAll(`${workdir}/`, '') }
  }

  function addDenial(present: ToolCall, reason: string): void {
    const { title: _, ...facts } = factsOf(present)
    const action = actionOf(present) ?? present.title
    const named = { ...facts, ...(action === null ? {} : { title: action }) }
    lastDenied = action ?? present.tool
    note({ event: 'denied', fields: { ...named, reason } })
    shown.result(present.id, named, { status: 'denied', text: reason })
    calls.set(present.id, { present, noted: named, isDenied: true })
  }

  function say({ content, messageId }: UnknownRecord): void {
    const text = asString(asRecord(content).text)
    if (text === null) return
    if (!isTurn) return
    const id = asString(messageId)
    shown.part(text, id === null ? '' : `message ${id}`)
    if (text.trim() !== '') lastDenied = null
    length += text.length + 1
    if (length > MAX_TEXT) return
    if (message !== null && message.id === id) messages[messages.length - 1] += text
    else messages.push(text)
    message = { id }
  }

  function plan(entries: unknown): void {
    const read = asArray(entries).map((entry) => {
      const { content, description, status } = asRecord(entry)
      return {
        content: asString(content) ?? asString(description) ?? '',
        status: asString(status) ?? 'pending',
      }
    })
    hasActed = true
    note({ event: 'agent_plan', fields: { entries: read } })
  }

  /** A plan as a markdown document, which only the unstable protocol has. */
  function planDocument({ plan: document }: UnknownRecord): void {
    const { type, content, entries } = asRecord(document)
    if (type === 'items') plan(entries)
    else planUpdate = asString(content) ?? planUpdate
  }

  function take(params: unknown): void {
    const update = asRecord(asRecord(params).update)
    const kind = asString(update.sessionUpdate) ?? ''
    if (kind === 'agent_message_chunk') say(update)
    else if (MODE_KINDS.includes(kind)) readMode(update)
    else if (isTurn && !WITHOUT_USE.includes(kind)) {
      // the next chunk starts a new message, even if the agent does not number its messages
      message = null
      takeOther(kind, update)
    }
  }

  function readMode({ currentModeId, configOptions }: UnknownRecord): void {
    const mode = asString(currentModeId) ?? modeIn(configOptions)
    if (mode !== null) onMode(mode)
  }

  function failure(): string | null {
    const said = messages.join('\n\n')
    return isErrorAlone(said) ? `failed: ${errorText(said).replace(/^error: /i, '')}` : null
  }

  function takeOther(kind: string, update: UnknownRecord): void {
    switch (kind) {
      case 'tool_call':
      case 'tool_call_update':
        call(update, false)
        return
      case 'agent_thought_chunk':
        shown.part(asString(asRecord(update.content).text) ?? '', 'thought')
        return
      case 'plan':
        plan(update.entries)
        return
      case 'plan_update':
        planDocument(update)
        return
      case 'notice': {
        const texts = [update.title, update.description].map(asString).filter((text) => text)
        shown.line(texts.join(': '))
        return
      }
      default:
        shown.line(`[casefile] an update of unknown kind: ${kind.slice(0, 100)}`)
    }
  }

  return {
    begin() {
      isTurn = true
    },
    take,
    call: (update) => call(update, true),
    plan(request) {
      const written = [request?.plan, handedIn, planUpdate].find((text) => text?.trim())
      return written ? planOf(written) : planAmong(messages)
    },
    denied: addDenial,
    lastDenied: () => lastDenied,
    noPlan: () => noPlan(messages),
    failure,
    isEmpty: () => !hasActed && messages.every((text) => text.trim() === ''),
    isTooLong: () => length > MAX_TEXT,
  }
}

function toolFacts(call: ToolCall): ToolFacts {
  const { tool, kind } = call
  const title = titleWithPlace(call)
  return { tool, ...(kind === null ? {} : { kind }), ...(title === null ? {} : { title }) }
}

/** What the call would do: its command or its paths; null if unknown. */
function actionOf({ commands, paths }: ToolCall): string | null {
  return commands[0] ?? (paths.length > 0 ? paths.join(', ') : null)
}

const ON_FILES = ['edit', 'read', 'delete', 'move']

/** The title, plus the path or command if the title does not mention it. */
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
  // a title of several words is a command itself
  if (kind === 'execute') return commands.length > 0 || /\S\s+\S/.test(title ?? '')
  return paths.length > 0 || commands.length > 0 || kind === 'switch_mode'
}
