import { createBoundedMap } from '../agents/bounded-map.ts'
import { type Foreign, listOf, objectOf, textOf } from '../agents/foreign.ts'
import { PLAN_MARKS } from '../agents/plan-marks.ts'
import { isErrorAlone, noPlan, planAmong, planOf } from '../agents/plan-text.ts'
import { saidError } from '../agents/said-error.ts'
import type { AgentNote, PlanResult, ToolFacts } from '../contract.ts'
import { modeIn } from './modes.ts'
import { endsPlanning } from './permission.ts'
import { contentText, idOf, readToolCall, type ToolCall } from './tool-call.ts'

/** Far more than any plan may have. */
const MAX_TEXT = 4 * 1024 * 1024
const ENDED = ['completed', 'failed']
const MODE_KINDS = ['current_mode_update', 'config_option_update']
const WITHOUT_USE = [
  ...['user_message_chunk', 'available_commands_update', 'session_info_update', 'usage_update'],
  ...['compaction_update', 'compaction_summary_chunk', 'plan_removed'],
]
/** Copilot's notices, each a piece of its own. */
const OWN_NOTICE = /^Info: (?:.*Retrying\.\.\.|Disabled tools: .*|Operation cancelled by user)$/
/** Gemini's way to tell its mode: a message of its own. */
const MODE_TEXT = /^\[MODE_UPDATE\] (\S+)\s*$/

export interface TranscriptNeeds {
  note(note: AgentNote): void
  output(text: string): void
  onMode(mode: string): void
  /** See `AcpSpec`. */
  saysInWords: boolean
}

/** What an agent says and does in its turn, as it tells it. */
export interface Transcript {
  /** From here on it counts: what comes before is of an earlier turn, or a greeting; but for its mode. */
  begin(): void
  /** A `session/update`, of whatever shape. */
  take(params: unknown): void
  /** The call of a request for permission, with what was told of it before. */
  call(update: unknown): ToolCall
  /** A call that was refused, and why: it is no failure of the tool. */
  refused(call: ToolCall, reason: string): void
  /** What was refused, where the agent has said and done nothing since. */
  lastRefused(): string | null
  /** The plan in its request to begin (null where it ended its turn), else in what it wrote and said. */
  plan(request: { plan: string | null } | null): PlanResult | null
  /** Why there is none, for a sentence that begins with the agent's name. */
  noPlan(): string
  /** How it says that its turn failed; null where it does not. */
  failure(): string | null
  isTooLong(): boolean
}

export function createTranscript(needs: TranscriptNeeds): Transcript {
  const { note, output, onMode, saysInWords } = needs
  const calls = createBoundedMap<ToolCall>()
  let isTurn = false
  const messages: string[] = []
  let message: { id: string | null } | null = null
  let length = 0
  let entriesNoted = ''
  let planFile: string | null = null
  let planUpdate: string | null = null
  /** The plan of a tool that ends planning, whether or not it asks for it. */
  let handedIn: string | null = null
  /** The last piece of a message, until something else happens. */
  let lastWords = ''
  let isBroken = false
  let lastRefused: string | null = null
  const refusedIds = createBoundedMap<true>()

  function call(update: unknown): ToolCall {
    const id = idOf(update)
    const before = calls.get(id)
    const present = readToolCall(update, before)
    calls.set(id, present)
    planFile = present.planFile ?? planFile
    if (endsPlanning(present)) handedIn = present.plan ?? handedIn
    const isEnd = ENDED.includes(present.status ?? '') && present.status !== before?.status
    if (!before) lastRefused = null
    if (refusedIds.has(id)) return present
    const refusal = isEnd && present.status === 'failed' ? refusalIn(update) : null
    if (refusal !== null) refused(present, refusal)
    else if (!before || isEnd) noteCall(present)
    return present
  }

  function refused(call: ToolCall, reason: string): void {
    refusedIds.set(call.id, true)
    const { title: _, ...facts } = toolFacts(call)
    const action = actionOf(call) ?? ATTEMPTED.exec(reason)?.[1] ?? call.title
    lastRefused = action ?? call.tool
    note({
      event: 'denied',
      fields: { ...facts, ...(action === null ? {} : { title: action }), reason },
    })
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
    const isOwn = saysInWords && (OWN_NOTICE.test(text.trim()) || isErrorAlone(text))
    if (isOwn) message = null
    output(isOwn ? `\n${text}\n` : text)
    if (isOwn && !isErrorAlone(text)) return
    lastWords = text
    if (text.trim() !== '') lastRefused = null
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
    else if (isTurn && kind === 'session_info_update') tellStatus(update)
    else if (isTurn && !WITHOUT_USE.includes(kind)) {
      // What follows is another message, whether or not the agent numbers them.
      message = null
      lastWords = ''
      takeOther(kind, update)
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
      case 'notice': {
        const texts = [update.title, update.description].map(textOf).filter((text) => text)
        output(`\n${texts.join(': ')}\n`)
        return
      }
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
      const written = [request?.plan, handedIn, planUpdate, file].find((text) => text?.trim())
      return written ? planOf(written) : planAmong(messages)
    },
    refused,
    lastRefused: () => lastRefused,
    noPlan: () => noPlan(messages),
    failure,
    isTooLong: () => length > MAX_TEXT,
  }
}

export function toolFacts({ tool, kind, title }: ToolCall): ToolFacts {
  return { tool, ...(kind === null ? {} : { kind }), ...(title === null ? {} : { title }) }
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
