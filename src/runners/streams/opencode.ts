import { dollarCount, NO_COUNTS, tokenCount, type UsageCounts } from '../../model/usage.ts'
import { costOf, NO_USAGE, summed, sumOf } from '../agents/agent-usage.ts'
import { denialReason } from '../agents/denials.ts'
import type { ReadableOutput, ToolResult } from '../agents/readable-output.ts'
import { asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { createOpencodeLog } from './opencode-log.ts'
import {
  failedOutcome,
  type OutputParser,
  type ParsedNote,
  type RunOutcome,
} from './output-parser.ts'
import { agentPlan, denied, retry, session, toolCall, toolFacts } from './tool-facts.ts'

const REJECTED = /rejected permission/i
const FORBIDDEN = /\brule which prevents you from using\b|^permission denied by rule\b/i
const AUTO_REJECTED = /permission requested: (\S+)(?: \((.*)\))?; auto-rejecting/

/**
 * Parses `opencode run --format json`, as of 1.18. It prints finished parts of messages and no final event, so a
 * run succeeded if there was an answer and no error.
 */
export function createOpencodeParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  /** A rejection is reported twice, as a line of text and in the tool's result; it counts once. */
  const rejections = { line: 0, result: 0 }
  let failure: RunOutcome | null = null
  const log = createOpencodeLog()
  /** The present request to its model has had no answer so far. */
  let isSilent = false
  let counts: UsageCounts | null = null

  function rejection(by: 'line' | 'result', facts: ToolFacts, reason: string): ParsedNote[] {
    const reported = Math.max(rejections.line, rejections.result)
    rejections[by]++
    return rejections[by] > reported ? [denied(facts, reason)] : []
  }

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (!event) {
      shown.line(text)
      return permissionLine(text)
    }
    return [...session(event.sessionID), ...onEvent(event)]
  }

  function onEvent(event: UnknownRecord): ParsedNote[] {
    const part = asRecord(event.part)
    if (event.type === 'text') {
      messages.add(asString(part.text) ?? '')
      shown.message(asString(part.text) ?? '')
    }
    if (event.type === 'step_finish' && isSilent && part.reason === 'unknown') {
      return retry({ reason: 'its answer was empty' })
    }
    isSilent = event.type === 'step_start'
    if (event.type === 'error') failure = failedOutcome(messageOf(asRecord(event.error)))
    if (event.type === 'step_finish') {
      const step = countsIn(part)
      counts = counts ? summed([counts, step]) : step
    }
    return event.type === 'tool_use' ? onTool(part) : []
  }

  function onTool(part: UnknownRecord): ParsedNote[] {
    const tool = asString(part.tool) ?? ''
    const state = asRecord(part.state)
    if (tool === 'todowrite') return agentPlan(asRecord(state.input).todos, 'content')
    const facts = toolFacts(tool, state.input)
    const error = denialReason(asString(state.error) ?? '')
    const isDenied = REJECTED.test(error) || FORBIDDEN.test(error)
    shown.result(String(part.callID), facts, resultOf(state, isDenied))
    if (state.status !== 'error') return [toolCall(facts, 'completed')]
    if (REJECTED.test(error)) return rejection('result', facts, error)
    return [isDenied ? denied(facts, error) : toolCall(facts, 'failed')]
  }

  function errorLine(text: string): ParsedNote[] | null {
    const notes = log.line(text)
    if (notes === null) return permissionLine(text)
    return notes.length > 0 ? notes : null
  }

  function permissionLine(text: string): ParsedNote[] {
    const [reason, tool = '', title] = AUTO_REJECTED.exec(text) ?? []
    if (reason === undefined) return []
    return rejection('line', toolFacts(tool, title ? { description: title } : {}), reason)
  }

  function end() {
    const ended = messages.end()
    const none: RunOutcome = { ok: false, reason: 'ended without an answer' }
    const verdict: RunOutcome = failure ?? (ended.messages.length > 0 ? { ok: true } : none)
    const { cost_usd, ...tokens } = counts ?? NO_COUNTS
    const usage = { ...NO_USAGE, ...tokens, cost_usd: costOf(cost_usd, tokens) }
    return { ...ended, plan: null, verdict, usage }
  }

  return { line, errorLine, end }
}

/** It reports a failed command as completed. */
function resultOf(
  { status, output, error, metadata }: UnknownRecord,
  isDenied: boolean,
): ToolResult {
  if (status === 'error') {
    return { status: isDenied ? 'denied' : 'failed', text: denialReason(asString(error) ?? '') }
  }
  const text = asString(output) ?? ''
  const { exit } = asRecord(metadata)
  if (typeof exit !== 'number' || exit === 0) return { status: 'completed', text }
  return { status: 'failed', text: `exit ${exit}\n${text}` }
}

/** It counts cache reads, cache writes and reasoning separately. */
function countsIn({ tokens, cost }: UnknownRecord): UsageCounts {
  const { input, output, reasoning, cache } = asRecord(tokens)
  const { read, write } = asRecord(cache)
  return {
    input_tokens: sumOf([input, read, write]),
    output_tokens: sumOf([output, reasoning]),
    cached_tokens: tokenCount(read),
    cost_usd: dollarCount(cost),
  }
}

function messageOf(error: UnknownRecord): unknown {
  return asRecord(error.data).message ?? error.message ?? error.name
}
