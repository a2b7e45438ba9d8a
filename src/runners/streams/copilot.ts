import { modelName } from '../../model/usage.ts'
import { NO_USAGE } from '../agents/agent-usage.ts'
import { createBoundedMap } from '../agents/bounded-map.ts'
import { type Foreign, objectOf, textOf } from '../agents/foreign.ts'
import type { ToolFacts } from '../contract.ts'
import { type AgentStream, NO_VERDICT, type StreamNote, said } from './agent-stream.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { denied, session, toolCall, toolFacts } from './tool-facts.ts'

const REFUSALS = ['denied', 'permission_denied', 'rejected']
/** Its own words, for where it tells no code. */
const REFUSAL = /\bno interactive user response\b|\bcould not request permission from user\b/i

/** `copilot --output-format json`, as of 1.0.102. Its `ephemeral` events are told again, whole. */
export function createCopilotStream(): AgentStream {
  const messages = createMessages()
  const calls = createBoundedMap<ToolFacts>()
  let error: unknown = null
  let model: string | null = null
  let verdict = NO_VERDICT

  function line(text: string): StreamNote[] {
    const event = readEvent(text)
    const data = objectOf(event?.data)
    switch (event?.type) {
      case 'assistant.message':
        // what a subagent says, it says to the agent
        if (!data.parentToolCallId) model = modelName(data.model) ?? model
        if (!data.parentToolCallId) messages.add(textOf(data.content) ?? '')
        return []
      case 'tool.execution_start':
        return onStart(data)
      case 'tool.execution_complete':
        return onComplete(data)
      case 'session.error':
        error = data.message
        return []
      case 'result':
        return onResult(event)
      default:
        return []
    }
  }

  function onStart(data: Foreign): StreamNote[] {
    const facts = factsOf(data)
    calls.set(String(data.toolCallId), facts)
    return [toolCall(facts, 'in_progress')]
  }

  function onComplete(data: Foreign): StreamNote[] {
    const id = String(data.toolCallId)
    const begun = calls.get(id)
    calls.delete(id)
    const refusal = data.success === true ? null : refusalIn(objectOf(data.error))
    // what is refused is not always begun
    if (refusal !== null) return [denied(begun ?? factsOf(data), refusal)]
    return begun ? [toolCall(begun, data.success === true ? 'completed' : 'failed')] : []
  }

  function onResult(event: Foreign): StreamNote[] {
    const { exitCode } = event
    verdict = exitCode === 0 ? { ok: true } : said(error ?? `exit code ${exitCode}`)
    return session(event.sessionId)
  }

  function end() {
    // it counts no tokens, only premium requests
    return { ...messages.end(), plan: null, verdict, usage: { ...NO_USAGE, model } }
  }

  return { line, end }
}

function factsOf(data: Foreign): ToolFacts {
  return toolFacts(textOf(data.toolName) ?? '', data.arguments)
}

function refusalIn({ code, message }: Foreign): string | null {
  const words = textOf(message) ?? ''
  return REFUSALS.includes(String(code)) || REFUSAL.test(words) ? words : null
}
