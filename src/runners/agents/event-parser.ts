import type { AgentRetry } from '../../model/agent-retry.ts'
import type { ToolFacts } from '../contract.ts'
import { type AgentUsage, NO_USAGE } from './agent-usage.ts'
import { createBoundedMap } from './bounded-map.ts'
import {
  createMessages,
  type Messages,
  NO_VERDICT,
  type OutputParser,
  type OwnRecord,
  type ParsedNote,
  type RunOutcome,
  readEvent,
} from './parser-kit.ts'
import type { ReadableOutput, ToolResult } from './readable-output.ts'
import { asArray, asRecord, asString, type UnknownRecord } from './unknown-record.ts'

/** What the events of an agent mean, as data: a handler for each name. */
export interface EventTable {
  /** The parts of an event, each with its name. By default, the event itself by its `type`. */
  parts?(event: UnknownRecord): readonly EventPart[]
  /** The handlers. Of a name `a/b`, those of `any/b` and of `a` count too; that of `*` gets every event first. */
  on: Readonly<Record<string, (part: UnknownRecord) => void>>
  /** A line of standard error; whether it is of the agent's own log, which is not shown. */
  errorLine?(text: string): boolean
  /** Reports what the agent's record of the conversation has and its events did not. */
  unsent?(record: OwnRecord | null): void
  /** Called after the last event, with all messages. */
  end?(messages: readonly string[]): void
}

export type EventPart = readonly [name: string, part: UnknownRecord]

/** A run as its agent reports it: the handlers of a table call this. */
export interface ReportedRun {
  /** A whole message. */
  say(text: unknown): void
  /** A chunk of a message; `messages.close()` ends it. */
  sayPart(text: unknown): void
  messages: Messages
  shown: ReadableOutput
  /** The start of a call of a tool. */
  call(id: unknown, facts: ToolFacts): void
  /** A call that has started. */
  called(id: unknown): ToolFacts | undefined
  /**
   * The end of a call. Without `facts`, only of a call that has started. `status` is what the agent says in its event,
   * where that is not what its result shows.
   */
  result(id: unknown, result: ToolResult, more?: { facts?: ToolFacts; status?: string }): void
  /** A call was denied, once; its result comes later. */
  denied(id: unknown, facts: ToolFacts, reason: string): void
  /** Its to-do list; `text` names the field with an item's text. */
  list(items: unknown, text: string): void
  retry(fields: AgentRetry): void
  session(id: unknown): void
  verdict: RunOutcome
  usage: AgentUsage
  /** The plan that it asked to approve. */
  plan: string | null
}

/** A denial by our own check of a call (call-check.ts), which each agent puts behind its usual words. */
const CALL_DENIAL = /^[^\n]{0,100}?(Casefile: [\s\S]* Stay inside the approved plan\.)\s*$/

/** Some agents repeat all their denials at the end. */
const MAX_DENIALS = 10_000

/** Reads an agent's output, one JSON event a line, by its table. */
export function createEventParser(
  shown: ReadableOutput,
  tableOf: (run: ReportedRun) => EventTable,
): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<ToolFacts>()
  const denials = createBoundedMap<true>(MAX_DENIALS)
  let notes: ParsedNote[] = []
  const noteCall = (facts: ToolFacts, status: string) =>
    notes.push({ event: 'tool_call', fields: { ...facts, status } })
  const noteDenied = (facts: ToolFacts, reason: string) =>
    notes.push({ event: 'denied', fields: { ...facts, reason } })
  const run: ReportedRun = {
    say(text) {
      messages.add(asString(text) ?? '')
      shown.message(asString(text) ?? '')
    },
    sayPart(text) {
      messages.append(asString(text) ?? '')
      shown.part(asString(text) ?? '')
    },
    messages,
    shown,
    call(id, facts) {
      calls.set(String(id), facts)
      shown.call(String(id), facts)
      noteCall(facts, 'in_progress')
    },
    called: (id) => calls.get(String(id)),
    result(id, reported, { facts = calls.get(String(id)), status = reported.status } = {}) {
      const denial = reported.status === 'completed' ? null : CALL_DENIAL.exec(reported.text)
      const result: ToolResult = denial ? { status: 'denied', text: denial[1]! } : reported
      calls.delete(String(id))
      if (!facts) return
      const wasDenied = denials.has(String(id))
      shown.result(String(id), facts, wasDenied ? { ...result, status: 'denied' } : result)
      if (wasDenied) return
      if (result.status === 'denied') run.denied(id, facts, result.text)
      else noteCall(facts, status)
    },
    denied(id, facts, reason) {
      if (asString(id) !== null && denials.has(String(id))) return
      if (asString(id) !== null) denials.set(String(id), true)
      noteDenied(facts, reason)
    },
    list(items, text) {
      const entries = asArray(items).map((item) => {
        const { [text]: content, status, completed } = asRecord(item)
        const plain = completed === true ? 'completed' : 'pending'
        return { content: asString(content) ?? '', status: asString(status) ?? plain }
      })
      if (entries.length > 0) notes.push({ event: 'agent_plan', fields: { entries } })
    },
    retry: (fields) => void notes.push({ event: 'agent_retry', fields }),
    session(id) {
      const agent_session = asString(id)
      if (agent_session) notes.push({ event: 'agent_session', fields: { agent_session } })
    },
    verdict: NO_VERDICT,
    usage: NO_USAGE,
    plan: null,
  }
  const table = tableOf(run)
  const { on, parts = (event) => [[String(event.type), event]] } = table

  function noted(report: () => void): ParsedNote[] {
    notes = []
    report()
    return notes
  }

  return {
    line(text) {
      const event = readEvent(text)
      if (event === null) {
        shown.line(text)
        return []
      }
      return noted(() => {
        on['*']?.(event)
        for (const [name, part] of parts(event)) handlerOf(on, name)?.(part)
      })
    },
    errorLine(text) {
      let isOfLog = false
      const found = noted(() => {
        isOfLog = table.errorLine?.(text) ?? false
      })
      return isOfLog && found.length === 0 ? null : found
    },
    unsent: (record) => noted(() => table.unsent?.(record)),
    end() {
      const ended = messages.end()
      table.end?.(ended.messages)
      const { plan, verdict, usage } = run
      return { ...ended, plan, verdict, usage }
    },
  }
}

function handlerOf(on: EventTable['on'], name: string) {
  const [type = '', part] = name.split('/')
  return on[name] ?? (part === undefined ? undefined : on[`any/${part}`]) ?? on[type]
}
