import type { AgentRetry } from '../../model/agent-retry.ts'
import { type AgentUsage, NO_USAGE, tokenSums } from '../agents/agent-usage.ts'
import { clauseOf } from '../agents/cut-text.ts'
import { FROM_RECORD, type OwnRecord } from '../agents/own-record.ts'
import type { ReadableOutput, ToolResult } from '../agents/readable-output.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import { codexRejection, sandboxError } from './codex-record.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { failedOutcome, NO_VERDICT, type OutputParser, type ParsedNote } from './output-parser.ts'
import { agentPlan, denied, retry, session, toolCall, toolFacts } from './tool-facts.ts'

/** Parses `codex exec --json`, as of 0.169. */
export function createCodexParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  let verdict = NO_VERDICT
  let usage = NO_USAGE
  /** Whether it reported any action. */
  let hasActions = false
  const rejections: string[] = []

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    switch (event?.type) {
      case 'thread.started':
        return session(event.thread_id)
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        return onItem(asRecord(event.item), event.type === 'item.completed')
      case 'turn.completed':
        verdict = { ok: true }
        usage = usageIn(event.usage)
        return []
      case 'turn.failed':
        verdict = failedOutcome(asRecord(event.error).message)
        return []
      case 'error':
        // also sent for a connection that is retried; the end of the turn overrides it
        verdict = failedOutcome(event.message)
        return onError(asString(event.message) ?? '')
      default:
        return []
    }
  }

  function onItem(item: UnknownRecord, isDone: boolean): ParsedNote[] {
    if (item.type === 'todo_list') return agentPlan(item.items, 'text')
    if (item.type === 'agent_message') {
      if (isDone) say(asString(item.text) ?? '')
      return []
    }
    // only a warning: the end of the turn says how it ended
    if (item.type === 'error') shown.line(`warning: ${clauseOf(asString(item.message) ?? '')}`)
    const facts = factsOf(item)
    if (!facts) return []
    hasActions = true
    const id = String(item.id)
    const status = asString(item.status) ?? (isDone ? 'completed' : 'in_progress')
    const refusal = refusalIn(item, status)
    if (refusal !== null) {
      shown.result(id, facts, { status: 'denied', text: refusal })
      return [denied(facts, refusal)]
    }
    if (!isDone && status !== 'in_progress') return []
    if (isDone) shown.result(id, facts, resultOf(item, status))
    else shown.call(id, facts)
    return [toolCall(facts, status)]
  }

  function onError(message: string): ParsedNote[] {
    const again = codexRetry(message)
    return again === null ? [] : retry(again)
  }

  function say(text: string): void {
    messages.add(text)
    shown.message(text)
  }

  /** Its log has no command or path; its record of the conversation may have them. */
  function errorLine(text: string): ParsedNote[] {
    const reason = REJECTION.exec(text)?.[1]
    if (reason !== undefined) rejections.push(reason)
    return []
  }

  function unsent(record: OwnRecord | null): ParsedNote[] {
    const isComparable = record !== null && (record.marksSent || !hasActions)
    const actions = isComparable ? record.actions : []
    if (actions.length > 0) shown.line(FROM_RECORD)
    const notes = actions.map(({ id, facts, result }) => {
      shown.result(`record ${id}`, facts, result)
      const { status, text } = result
      return status === 'denied' ? denied(facts, text) : toolCall(facts, status)
    })
    const reasons = actions.map(({ result }) => result.text)
    for (const rejection of rejections) {
      const reason = codexRejection(rejection) ?? rejection
      const at = reasons.indexOf(reason)
      if (at >= 0) reasons.splice(at, 1)
      else notes.push(denied({ tool: /^patch\b/.test(rejection) ? 'patch' : 'shell' }, reason))
    }
    return notes
  }

  const end = () => ({ ...messages.end(), plan: null, verdict, usage })
  return { line, errorLine, unsent, end }
}

/** It counts a conversation from its beginning, even if resumed, and does not name its model. */
function usageIn(usage: unknown): AgentUsage {
  const names = {
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: 'cached_input_tokens',
  }
  return { ...NO_USAGE, ...tokenSums(usage, names), cumulative: 'tokens' }
}

const RECONNECTING = /^Reconnecting\.{3} (\d+)\/(\d+)(?: \((.*)\))?$/s
const STATUS = /\bstatus (\d{3})\b/

/** A reconnection. Retries on the same connection are only in its own log. */
export function codexRetry(message: string, details = ''): AgentRetry | null {
  const [found, attempt, of, inside = ''] = RECONNECTING.exec(message) ?? []
  if (found === undefined) return null
  const reason = inside || details
  const status = STATUS.exec(reason)?.[1]
  return {
    attempt: Number(attempt),
    of: Number(of),
    ...(status === undefined ? { reason: clauseOf(reason) } : { status: Number(status) }),
  }
}

function resultOf(
  { exit_code, aggregated_output, error }: UnknownRecord,
  status: string,
): ToolResult {
  const printed = asString(aggregated_output) ?? asString(asRecord(error).message) ?? ''
  if (status !== 'failed') return { status: 'completed', text: printed }
  const code = typeof exit_code === 'number' ? `exit ${exit_code}\n` : ''
  return { status: 'failed', text: code + printed }
}

function factsOf(item: UnknownRecord): ToolFacts | null {
  switch (item.type) {
    case 'command_execution':
      return toolFacts('shell', { command: innerCommand(asString(item.command) ?? '') })
    case 'file_change': {
      const paths = asArray(item.changes).map((change) => asString(asRecord(change).path))
      return toolFacts('patch', { path: paths.join(', ') })
    }
    case 'mcp_tool_call':
      return toolFacts(`${item.server}.${item.tool}`, item.arguments)
    case 'web_search':
      return toolFacts('web_search', { query: item.query })
    default:
      return null
  }
}

const WITHIN_SHELL = /^\S*\b(?:ba|z)?sh -l?c (?:'([^']*)'|"([^"\\$`]*)")$/

/** Removes the shell that Codex wraps around every command. */
function innerCommand(command: string): string {
  const [, single, double] = WITHIN_SHELL.exec(command) ?? []
  return single ?? double ?? command
}

/**
 * Why a command was blocked. If it was not run, its whole output is one line that says so; if the sandbox blocked
 * it, any line may say so.
 */
function refusalIn({ type, aggregated_output }: UnknownRecord, status: string): string | null {
  if (status === 'declined') return 'declined by its own policy'
  if (status !== 'failed') return null
  const words = asString(aggregated_output)?.trim() ?? ''
  const isOwn = /^[^\n]{0,2000}\brejected by user(?: approval settings)?\W{0,5}$/.test(words)
  if (type !== 'command_execution') return null
  return isOwn ? words : sandboxError(words)
}

/** A rejection by its policy is in no event and does not change its exit code; only the log has it. */
const REJECTION = /codex_core::\S*router: error=(.*\breject.*)$/i
