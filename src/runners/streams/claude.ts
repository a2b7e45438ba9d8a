import type { AgentRetry } from '../../model/agent-retry.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import type { ReadableOutput } from '../agents/readable-output.ts'
import {
  asArray,
  asNumber,
  asRecord,
  asString,
  type UnknownRecord,
} from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import { createClaudeUsage } from './claude-usage.ts'
import { createDenialDeduplicator } from './denial-deduplicator.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import {
  failedOutcome,
  NO_VERDICT,
  type OutputParser,
  type ParsedNote,
  type RunOutcome,
} from './output-parser.ts'
import { agentPlan, denied, retry, session, toolCall, toolFacts } from './tool-facts.ts'

const EXIT_PLAN_MODE = 'ExitPlanMode'
const NOT_GRANTED = /^Claude requested permissions?\b[\s\S]{0,4000}\byou haven't granted it yet\b/

/** Parses `claude -p --output-format stream-json --verbose`, as of 2.1.197 and 2.1.328. */
export function createClaudeParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<ToolFacts>()
  const news = createDenialDeduplicator()
  const usage = createClaudeUsage()
  let plan: string | null = null
  let verdict = NO_VERDICT

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    switch (event?.type) {
      case 'system':
        return onSystem(event)
      case 'assistant':
        return blocksOf(event).flatMap((block) => onBlock(block, event))
      case 'user':
        return blocksOf(event).flatMap(onToolResult)
      case 'result':
        return onResult(event)
      default:
        return []
    }
  }

  function onSystem(event: UnknownRecord): ParsedNote[] {
    if (event.subtype === 'init') {
      usage.init(event)
      return session(event.session_id)
    }
    if (event.subtype === 'api_retry') return retry(claudeRetry(event))
    return event.subtype === 'permission_denied' ? onDenied('at once', event, event.message) : []
  }

  function onBlock(block: UnknownRecord, event: UnknownRecord): ParsedNote[] {
    // a subagent's text is addressed to the agent
    if (block.type === 'text' && !event.parent_tool_use_id) say(asString(block.text) ?? '')
    if (block.type !== 'tool_use') return []
    const tool = asString(block.name) ?? ''
    const input = asRecord(block.input)
    if (tool === EXIT_PLAN_MODE && asString(input.plan)) {
      plan = asString(input.plan)
      shown.message(plan ?? '')
    }
    if (tool === 'TodoWrite') return agentPlan(input.todos, 'content')
    const facts = toolFacts(tool, tool === EXIT_PLAN_MODE ? {} : input)
    const id = String(block.id)
    calls.set(id, facts)
    shown.call(id, facts)
    return [toolCall(facts, 'in_progress')]
  }

  function say(text: string): void {
    messages.add(text)
    shown.message(text)
  }

  function onToolResult(block: UnknownRecord): ParsedNote[] {
    if (block.type !== 'tool_result') return []
    const id = String(block.tool_use_id)
    const facts = calls.get(id)
    const isError = block.is_error === true
    const words = textIn(block.content)
    // some versions end without any text in that case
    const isAppError = isError && NOT_GRANTED.test(words)
    const reported = { ...block, tool_name: facts?.tool }
    const found = isAppError ? onDenied('at once', reported, words) : []
    calls.delete(id)
    if (!facts) return found
    const isDenied = isAppError || news.isKnown(id)
    const status = isDenied ? 'denied' : isError ? 'failed' : 'completed'
    shown.result(id, facts, { status, text: words })
    return isDenied ? found : [toolCall(facts, status)]
  }

  /** Newer versions report a denial at once, all versions at the end. */
  function onDenied(
    when: 'at once' | 'at the end',
    reported: UnknownRecord,
    reason: unknown,
  ): ParsedNote[] {
    const id = asString(reported.tool_use_id)
    const tool = asString(reported.tool_name) ?? ''
    if (!news.isNew({ id, tool, when })) return []
    const facts = (id === null ? undefined : calls.get(id)) ?? toolFacts(tool, reported.tool_input)
    return [denied(facts, asString(reason) ?? 'permission was not granted')]
  }

  function onResult(event: UnknownRecord): ParsedNote[] {
    usage.result(event)
    const denials = asArray(event.permission_denials).map(asRecord)
    verdict = verdictOf(event, plan !== null && denials.some(isOfPlan))
    const result = asString(event.result)
    if (verdict.ok && result) say(result)
    return denials.flatMap((denial) => onDenied('at the end', denial, null))
  }

  return { line, end: () => ({ ...messages.end(), plan, verdict, usage: usage.end() }) }
}

function blocksOf(event: UnknownRecord): UnknownRecord[] {
  return asArray(asRecord(event.message).content).map(asRecord)
}

/** A tool's answer: a text, or blocks of text. */
function textIn(content: unknown): string {
  const blocks = asArray(content).map((block) => asString(asRecord(block).text) ?? '')
  return (asString(content) ?? blocks.join('\n')).replace(/<\/?tool_use_error>/g, '')
}

/** `error_status` is null if the model could not be reached. */
export function claudeRetry({
  attempt,
  max_retries,
  error_status,
  error,
}: UnknownRecord): AgentRetry {
  const status = asNumber(error_status)
  const reason = status === undefined ? asString(error) : null
  return {
    status,
    attempt: asNumber(attempt),
    of: asNumber(max_retries),
    reason: reason ?? undefined,
  }
}

function isOfPlan(denial: UnknownRecord): boolean {
  return denial.tool_name === EXIT_PLAN_MODE
}

/** Planning ends with a denied request to leave plan mode. Claude reports that as an error and exits with 1. */
function verdictOf(event: UnknownRecord, isHeldInPlan: boolean): RunOutcome {
  if (event.is_error !== true && event.subtype === 'success') return { ok: true }
  if (event.subtype === 'error_during_execution' && isHeldInPlan) return { ok: true, anyExit: true }
  const errors = asArray(event.errors).filter((error) => typeof error === 'string')
  return failedOutcome(asString(event.result) || errors.join('; ') || event.subtype)
}
