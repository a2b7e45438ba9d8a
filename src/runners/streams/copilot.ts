import { modelName } from '../../model/usage.ts'
import { NO_USAGE } from '../agents/agent-usage.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import type { ReadableOutput, ToolResult } from '../agents/readable-output.ts'
import { asNumber, asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { failedOutcome, NO_VERDICT, type OutputParser, type ParsedNote } from './output-parser.ts'
import { denied, retry, session, toolCall, toolFacts } from './tool-facts.ts'

const REFUSALS = ['denied', 'permission_denied', 'rejected']
/** Its wording of a denial, if it sends no code. */
const REFUSAL = /\bno interactive user response\b|\bcould not request permission from user\b/i

/** Parses `copilot --output-format json`, as of 1.0.102. Its `ephemeral` events are repeated later as a whole. */
export function createCopilotParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<ToolFacts>()
  let error: unknown = null
  /** The last failed request to its model. */
  let failure: UnknownRecord = {}
  let model: string | null = null
  let verdict = NO_VERDICT

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    const data = asRecord(event?.data)
    switch (event?.type) {
      case 'assistant.message':
        // a subagent's text is addressed to the agent
        if (data.parentToolCallId) return []
        model = modelName(data.model) ?? model
        messages.add(asString(data.content) ?? '')
        shown.message(asString(data.content) ?? '')
        return []
      case 'tool.execution_start':
        return onStart(data)
      case 'tool.execution_complete':
        return onComplete(data)
      case 'model.call_failure':
        failure = data
        return []
      case 'assistant.turn_retry':
        return onRetry(asString(data.reason))
      case 'session.error':
        error = data.message
        return []
      case 'result':
        return onResult(event)
      default:
        return []
    }
  }

  function onStart(data: UnknownRecord): ParsedNote[] {
    const facts = factsOf(data)
    const id = String(data.toolCallId)
    calls.set(id, facts)
    shown.call(id, facts)
    return [toolCall(facts, 'in_progress')]
  }

  function onComplete(data: UnknownRecord): ParsedNote[] {
    const id = String(data.toolCallId)
    const begun = calls.get(id)
    calls.delete(id)
    const refusal = data.success === true ? null : refusalIn(asRecord(data.error))
    const facts = begun ?? factsOf(data)
    // a denied call may have no start event
    if (begun || refusal !== null) shown.result(id, facts, resultOf(data, refusal))
    if (refusal !== null) return [denied(facts, refusal)]
    return begun ? [toolCall(begun, data.success === true ? 'completed' : 'failed')] : []
  }

  /** The reason is in the failure before the retry. */
  function onRetry(reason: string | null): ParsedNote[] {
    const { statusCode, retryAttempt } = failure
    const status = asNumber(statusCode)
    const attempt = typeof retryAttempt === 'number' ? retryAttempt + 1 : undefined
    failure = {}
    return retry({
      status,
      attempt,
      reason: status === undefined ? reason?.replaceAll('_', ' ') : undefined,
    })
  }

  function onResult(event: UnknownRecord): ParsedNote[] {
    const { exitCode } = event
    verdict = exitCode === 0 ? { ok: true } : failedOutcome(error ?? `exit code ${exitCode}`)
    return session(event.sessionId)
  }

  function end() {
    // it reports no tokens, only premium requests
    return { ...messages.end(), plan: null, verdict, usage: { ...NO_USAGE, model } }
  }

  return { line, end }
}

function factsOf(data: UnknownRecord): ToolFacts {
  return toolFacts(asString(data.toolName) ?? '', data.arguments)
}

/** It reports a failed command as success. */
function resultOf(data: UnknownRecord, refusal: string | null): ToolResult {
  if (refusal !== null) return { status: 'denied', text: refusal }
  const { message } = asRecord(data.error)
  if (data.success !== true) return { status: 'failed', text: asString(message) ?? '' }
  const { exitCode } = asRecord(data.shellExecution)
  const text = (asString(asRecord(data.result).content) ?? '').replace(SHELL_NOTE, '')
  if (typeof exitCode !== 'number' || exitCode === 0) return { status: 'completed', text }
  return { status: 'failed', text: `exit ${exitCode}\n${text}` }
}

/** A line that it adds for its model. */
const SHELL_NOTE = /\n?<shellId: [^>\n]*>\s*$/

function refusalIn({ code, message }: UnknownRecord): string | null {
  const words = asString(message) ?? ''
  return REFUSALS.includes(String(code)) || REFUSAL.test(words) ? words : null
}
