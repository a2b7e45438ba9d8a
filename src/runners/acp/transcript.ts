import { basename } from 'node:path'
import type { AgentRetry } from '../../model/agent-retry.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import { refusalText } from '../agents/denials.ts'
import { type Foreign, listOf, objectOf, textOf } from '../agents/foreign.ts'
import { FROM_RECORD, type RecordedAction } from '../agents/own-record.ts'
import { PLAN_MARKS } from '../agents/plan-marks.ts'
import { isErrorAlone, noPlan, planAmong, planOf } from '../agents/plan-text.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { saidError } from '../agents/said-error.ts'
import type { AgentNote, PlanResult, ToolFacts } from '../contract.ts'
import { modeIn } from './modes.ts'
import { endsPlanning } from './permission.ts'
import { retryIn } from './retry.ts'
import {
  contentText,
  idOf,
  printedIn,
  readToolCall,
  resultIn,
  type ToolCall,
  todosIn,
} from './tool-call.ts'

/** Far more than any plan may have. */
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
/** Copilot's notices, each in a separate piece. */
const OWN_NOTICE = /^Info: (?:.*Retrying\.\.\.|Disabled tools: .*|Operation cancelled by user)$/
/** Gemini's way to tell its mode: a message of its own. */
const MODE_TEXT = /^\[MODE_UPDATE\] (\S+)\s*$/

export interface TranscriptDeps {
  note(note: AgentNote): void
  shown: ReadableOutput
  onMode(mode: string): void
  /** See `AcpSpec`. */
  saysInWords: boolean
  refusalIn: (printed: string) => string | null
  /** Paths in this folder are noted relative to it. */
  workdir: string
}

/** What an agent says and does in its turn, as it tells it. */
export interface Transcript {
  /** From here on it counts: what comes before is of an earlier turn, or a greeting; but for its mode. */
  begin(): void
  /** A `session/update`, of whatever shape. */
  take(params: unknown): void
  /** That it asks its model again, where it says it in another way than by an update. */
  takeRetry(retry: AgentRetry | null): void
  /** The actions that the agent's own record has, at the end: those that it did not send are reported. */
  takeUnsent(actions: readonly RecordedAction[]): void
  /** The call of a request for permission, with what was told of it before. */
  call(update: unknown): ToolCall
  /** A call that was refused, and why: what its tool says to that is not shown again. */
  refused(call: ToolCall, reason: string): void
  /** What was refused, where the agent has said and done nothing since. */
  lastRefused(): string | null
  /** The plan in its request to begin (null where it ended its turn), else in what it wrote and said. */
  plan(request: { plan: string | null } | null): PlanResult | null
  /** Why there is none, for a sentence that begins with the agent's name. */
  noPlan(): string
  /** How it says that its turn failed; null where it does not. */
  failure(): string | null
  /** It said nothing, called no tool and kept no list. */
  isEmpty(): boolean
  isTooLong(): boolean
}

interface KnownCall {
  present: ToolCall
  /** That it began is in the trail and in the output: its end is given in the same words. */
  noted: ToolFacts | null
  isRefused: boolean
  /** It keeps the agent's to-do list, and is reported as that. */
  isList: boolean
  /** What its command printed so far. */
  printed: string
}

export function createTranscript(deps: TranscriptDeps): Transcript {
  const { note, shown, onMode, saysInWords, workdir } = deps
  const calls = createBoundedMap<KnownCall>()
  let isTurn = false
  const messages: string[] = []
  let message: { id: string | null } | null = null
  let length = 0
  let entriesNoted = ''
  let hasActed = false
  let planFile: string | null = null
  let planUpdate: string | null = null
  /** The plan of a tool that ends planning, whether or not it asks for permission. */
  let handedIn: string | null = null
  /** The last piece of a message, until something else happens. */
  let lastWords = ''
  let isBroken = false
  let lastRefused: string | null = null

  function call(update: unknown, isAsked: boolean): ToolCall {
    const id = idOf(update)
    const before = calls.get(id)
    hasActed = true
    const present = readToolCall(update, before?.present)
    planFile = present.planFile ?? planFile
    if (endsPlanning(present)) handedIn = present.plan ?? handedIn
    const todos = present.isTodoList ? todosIn(update) : null
    if (!before) lastRefused = null
    if (todos !== null || before?.isList) {
      const noted = factsOf(present)
      calls.set(id, { present, noted, isRefused: false, isList: true, printed: '' })
      if (todos !== null) plan(todos)
      return present
    }
    const isEnd = ENDED.includes(present.status ?? '') && present.status !== before?.present.status
    // many begin a call before they know what it works on: one more update is waited for
    const isTelling = isAsked || before !== undefined || isOnSomething(present)
    const facts = factsOf(present)
    const isFirst = !before?.noted && isTelling
    if (isFirst && !isEnd) {
      noteCall(present, facts)
      shown.call(id, facts)
    }
    // what was noted before it was known what it works on is noted better at its end
    const noted = before?.noted && isOnSomething(before.present) ? before.noted : facts
    const isRefused = before?.isRefused ?? false
    const printed = printedIn(update, before?.printed ?? '')
    const isNoted = before?.noted || isFirst
    calls.set(id, { present, noted: isNoted ? noted : null, isRefused, isList: false, printed })
    if (!isEnd || isRefused) return present
    const refusal =
      present.status === 'failed' ? (refusalIn(update) ?? deps.refusalIn(printed)) : null
    if (refusal !== null) refused(present, refusal)
    else {
      noteCall(present, noted)
      shown.result(id, noted, resultIn(update, present.status, printed))
    }
    return present
  }

  function noteCall({ status }: ToolCall, facts: ToolFacts): void {
    note({ event: 'tool_call', fields: { ...facts, ...(status === null ? {} : { status }) } })
  }

  function factsOf(call: ToolCall): ToolFacts {
    const facts = toolFacts(call)
    const { title } = facts
    // a command stays as it was given
    if (title === undefined || call.commands.length > 0) return facts
    return { ...facts, title: title.replaceAll(`${workdir}/`, '') }
  }

  function refused(present: ToolCall, said: string): void {
    const reason = refusalText(said)
    const { title: _, ...facts } = factsOf(present)
    const action = actionOf(present) ?? ATTEMPTED.exec(reason)?.[1] ?? present.title
    const named = { ...facts, ...(action === null ? {} : { title: action }) }
    lastRefused = action ?? present.tool
    note({ event: 'denied', fields: { ...named, reason } })
    shown.result(present.id, named, { status: 'denied', text: reason })
    calls.set(present.id, {
      present,
      noted: named,
      isRefused: true,
      isList: false,
      printed: '',
    })
  }

  function say({ content, messageId }: Foreign): void {
    const text = textOf(objectOf(content).text)
    if (text === null) return
    const mode = MODE_TEXT.exec(text)?.[1]
    if (mode !== undefined) onMode(mode)
    if (mode !== undefined || !isTurn) return
    const id = textOf(messageId)
    const isNotice = saysInWords && OWN_NOTICE.test(text.trim())
    const isOwn = isNotice || (saysInWords && isErrorAlone(text))
    if (isOwn) message = null
    if (isNotice && /Retrying\.\.\.$/.test(text.trim())) takeRetry({})
    else if (isOwn) shown.message(text.trim())
    else shown.part(text, id === null ? '' : `message ${id}`)
    if (isOwn && !isErrorAlone(text)) return
    lastWords = text
    if (text.trim() !== '') lastRefused = null
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
    hasActed = true
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
    takeRetry(retryIn(update))
    if (kind === 'agent_message_chunk') say(update)
    else if (MODE_KINDS.includes(kind)) tellMode(update)
    else if (isTurn && kind === 'session_info_update') tellStatus(update)
    else if (isTurn && !WITHOUT_USE.includes(kind)) {
      // What follows is another message, whether or not the agent numbers them.
      message = null
      lastWords = ''
      takeOther(kind, update)
    }
  }

  function takeRetry(retry: AgentRetry | null): void {
    if (retry !== null && isTurn) note({ event: 'agent_retry', fields: retry })
  }

  function takeUnsent(actions: readonly RecordedAction[]): void {
    const unsent = actions.filter(({ id }) => calls.get(id) === undefined)
    if (unsent.length > 0) shown.line(FROM_RECORD)
    for (const { id, facts, result } of unsent) {
      shown.result(id, facts, result)
      const { status, text } = result
      if (status === 'denied') note({ event: 'denied', fields: { ...facts, reason: text } })
      else note({ event: 'tool_call', fields: { ...facts, status } })
    }
  }

  function tellMode({ currentModeId, configOptions }: Foreign): void {
    const mode = textOf(currentModeId) ?? modeIn(configOptions)
    if (mode !== null) onMode(mode)
  }

  /** Of codex: the words of the error come behind it. */
  function tellStatus({ _meta }: Foreign): void {
    const { type } = objectOf(objectOf(objectOf(_meta).codex).threadStatus)
    if (type === 'systemError') isBroken = true
    if (type === 'active') isBroken = false
  }

  function failure(): string | null {
    const said = messages.join('\n\n')
    const isError = isBroken || (saysInWords && isErrorAlone(lastWords)) || isErrorAlone(said)
    if (!isError) return null
    const words = saidError(lastWords || said).replace(/^error: /i, '')
    return words === '' ? 'failed without saying why' : `failed: ${words}`
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
      case 'notice': {
        const texts = [update.title, update.description].map(textOf).filter((text) => text)
        shown.line(texts.join(': '))
        return
      }
      default:
        shown.line(`[casefile] an update of a kind that is not known: ${kind.slice(0, 100)}`)
    }
  }

  return {
    begin() {
      isTurn = true
    },
    take,
    takeRetry,
    takeUnsent,
    call: (update) => call(update, true),
    plan(request) {
      const isMarked = messages.some((text) => text.includes(PLAN_MARKS.begin))
      const file = request || !isMarked ? planFile : null
      const written = [request?.plan, handedIn, planUpdate, file].find((text) => text?.trim())
      return written ? planOf(written) : planAmong(messages)
    },
    refused,
    lastRefused: () => lastRefused,
    noPlan: () => noPlan(messages),
    failure,
    isEmpty: () => !hasActed && messages.every((text) => text.trim() === ''),
    isTooLong: () => length > MAX_TEXT,
  }
}

export function toolFacts(call: ToolCall): ToolFacts {
  const { kind } = call
  const named = titleIsTool(call) ? { ...call, tool: call.title ?? call.tool, title: null } : call
  const title = titleWithPlace(named)
  const { tool } = named
  return { tool, ...(kind === null ? {} : { kind }), ...(title === null ? {} : { title }) }
}

/** opencode's title is the name of the tool, until the call has ended. */
function titleIsTool({ tool, kind, title, paths }: ToolCall): boolean {
  return (
    tool === kind && ON_FILES.includes(kind) && paths.length > 0 && /^[a-z_]+$/.test(title ?? '')
  )
}

/** What it would do, where it says so: the command, or the paths. */
function actionOf({ commands, paths }: ToolCall): string | null {
  return commands[0] ?? (paths.length > 0 ? paths.join(', ') : null)
}

/** Gemini CLI names the path in its reason only. */
const ATTEMPTED = /Attempted path "([^"]+)"/

/** How agents say that a rule of theirs refused a call: it begins with that, as what a tool prints does not. */
const REFUSAL =
  /^(?:`{3,}\s*)?(?:Path not in workspace:|Tool execution denied by policy|Permission denied:|Permission to use \S+ has been denied|Claude requested permissions?\b|The user has specified a rule which prevents you from using|The user rejected permission)/i
const REFUSED_CODES = ['denied', 'permission_denied', 'rejected']

function refusalIn(update: unknown): string | null {
  const { rawOutput } = objectOf(update)
  const { code, error, message } = objectOf(rawOutput)
  const said = [contentText(update), error, message, rawOutput].map((each) => textOf(each) ?? '')
  if (REFUSED_CODES.includes(String(code))) return textOf(message) ?? String(code)
  return said.find((text) => REFUSAL.test(text.trim()))?.trim() ?? null
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
