import { createBoundedMap } from '../agents/bounded-map.ts'
import { type Foreign, objectOf, textOf } from '../agents/foreign.ts'
import { isPlanFile } from '../agents/plan-file.ts'
import type { ToolFacts } from '../contract.ts'
import { type AgentStream, NO_VERDICT, type StreamNote, said } from './agent-stream.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { agentPlan, denied, session, toolCall, toolFacts } from './tool-facts.ts'

const REFUSALS = new Set([
  'policy_violation',
  'path_not_in_workspace',
  'sandbox_expansion_required',
])
const REFUSAL = /denied by policy|not in workspace|\buser (?:denied|rejected|cancel)/i

interface Call {
  facts: ToolFacts
  /** What it writes into its own folder of plans, the one place where plan mode lets it write. */
  plan: string | null
}

/** `gemini -o stream-json`, as of 0.61. */
export function createGeminiStream(): AgentStream {
  const messages = createMessages()
  const calls = createBoundedMap<Call>()
  let verdict = NO_VERDICT

  function line(text: string): StreamNote[] {
    const event = readEvent(text)
    switch (event?.type) {
      case 'init':
        return session(event.session_id)
      case 'message':
        if (event.role === 'assistant') onText(event)
        return []
      case 'tool_use':
        return onToolUse(event)
      case 'tool_result':
        return onToolResult(event)
      case 'result':
        verdict = event.status === 'success' ? { ok: true } : said(objectOf(event.error).message)
        return []
      default:
        return []
    }
  }

  function onText(event: Foreign): void {
    const text = textOf(event.content) ?? ''
    if (event.delta === true) messages.append(text)
    else messages.add(text)
  }

  function onToolUse(event: Foreign): StreamNote[] {
    messages.close()
    const tool = textOf(event.tool_name) ?? ''
    const input = objectOf(event.parameters)
    if (tool === 'write_todos') return agentPlan(input.todos, 'description')
    const facts = toolFacts(tool, input)
    const isPlan = tool === 'write_file' && isPlanFile(input.file_path)
    calls.set(String(event.tool_id), { facts, plan: isPlan ? textOf(input.content) : null })
    return [toolCall(facts, 'in_progress')]
  }

  function onToolResult(event: Foreign): StreamNote[] {
    const id = String(event.tool_id)
    const call = calls.get(id)
    if (!call) return []
    calls.delete(id)
    if (event.status === 'success') {
      if (call.plan !== null) messages.add(call.plan)
      return [toolCall(call.facts, 'completed')]
    }
    const { type, message } = objectOf(event.error)
    const reason = textOf(message) ?? textOf(event.output) ?? ''
    const isRefusal = REFUSALS.has(String(type)) || REFUSAL.test(reason)
    return [isRefusal ? denied(call.facts, reason) : toolCall(call.facts, 'failed')]
  }

  return { line, end: () => ({ ...messages.end(), plan: null, verdict }) }
}
