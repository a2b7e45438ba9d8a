import { modelName, tokenCount } from '../../model/usage.ts'
import { type AgentUsage, modelNames, NO_USAGE, rowsOf, tokenSums } from '../agents/agent-usage.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import { isPlanFile } from '../agents/plan-file.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import { asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { failedOutcome, NO_VERDICT, type OutputParser, type ParsedNote } from './output-parser.ts'
import { agentPlan, denied, retry, session, toolCall, toolFacts } from './tool-facts.ts'

const REFUSALS = new Set([
  'policy_violation',
  'path_not_in_workspace',
  'sandbox_expansion_required',
])
const REFUSAL = /denied by policy|not in workspace|\buser (?:denied|rejected|cancel)/i

interface Call {
  facts: ToolFacts
  /** A plan that it writes to its own plans folder, the only place its plan mode may write to. */
  plan: string | null
}

/** Parses `gemini -o stream-json`, as of 0.61. */
export function createGeminiParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<Call>()
  let verdict = NO_VERDICT
  let usage = NO_USAGE

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    switch (event?.type) {
      case 'init':
        usage = { ...usage, model: modelName(event.model) }
        return session(event.session_id)
      case 'message':
        if (event.role === 'assistant') onText(event)
        return []
      case 'tool_use':
        return onToolUse(event)
      case 'tool_result':
        return onToolResult(event)
      case 'result':
        verdict =
          event.status === 'success' ? { ok: true } : failedOutcome(asRecord(event.error).message)
        usage = usageIn(event.stats, usage.model)
        return []
      default:
        return []
    }
  }

  function onText(event: UnknownRecord): void {
    const text = asString(event.content) ?? ''
    if (event.delta === true) {
      messages.append(text)
      shown.part(text)
    } else {
      messages.add(text)
      shown.message(text)
    }
  }

  function onToolUse(event: UnknownRecord): ParsedNote[] {
    messages.close()
    const tool = asString(event.tool_name) ?? ''
    const input = asRecord(event.parameters)
    if (tool === 'write_todos') return agentPlan(input.todos, 'description')
    const facts = toolFacts(tool, input)
    const isPlan = tool === 'write_file' && isPlanFile(input.file_path)
    const id = String(event.tool_id)
    calls.set(id, { facts, plan: isPlan ? asString(input.content) : null })
    shown.call(id, facts)
    return [toolCall(facts, 'in_progress')]
  }

  function onToolResult(event: UnknownRecord): ParsedNote[] {
    const id = String(event.tool_id)
    const call = calls.get(id)
    if (!call) return []
    calls.delete(id)
    if (event.status === 'success') {
      shown.result(id, call.facts, { status: 'completed', text: asString(event.output) ?? '' })
      if (call.plan !== null) {
        messages.add(call.plan)
        shown.message(call.plan)
      }
      return [toolCall(call.facts, 'completed')]
    }
    const { type, message } = asRecord(event.error)
    const reason = asString(message) ?? asString(event.output) ?? ''
    const isAppError = REFUSALS.has(String(type)) || REFUSAL.test(reason)
    const status = isAppError ? 'denied' : 'failed'
    shown.result(id, call.facts, { status, text: reason })
    return [isAppError ? denied(call.facts, reason) : toolCall(call.facts, status)]
  }

  return { line, errorLine, end: () => ({ ...messages.end(), plan: null, verdict, usage }) }
}

/** Its `output_tokens` exclude thinking; its total includes it. */
function usageIn(stats: unknown, asked: string | null): AgentUsage {
  const names = { input: ['input_tokens'], output: ['output_tokens'], cached: 'cached' }
  const counts = tokenSums(stats, names)
  const { input_tokens, output_tokens } = counts
  const { models, total_tokens } = asRecord(stats)
  const thoughtToo = (tokenCount(total_tokens) ?? 0) - (input_tokens ?? 0)
  const answered = rowsOf(models).map(({ model, row }) => ({
    model,
    tokens: tokenCount(row.total_tokens),
  }))
  return {
    ...NO_USAGE,
    ...counts,
    output_tokens: output_tokens === null ? null : Math.max(output_tokens, thoughtToo),
    model: modelNames(answered) ?? asked,
  }
}

const RETRY = /^Attempt (\d+) failed(?: with status (\d+))?\. Retrying\b/

/** Retries of a model request are only in its log. */
function errorLine(text: string): ParsedNote[] {
  const [found, attempt, status] = RETRY.exec(text) ?? []
  if (found === undefined) return []
  const known = status === undefined ? {} : { status: Number(status) }
  return retry({ ...known, attempt: Number(attempt) })
}
