import { type AgentUsage, NO_USAGE, tokenSums } from '../agents/agent-usage.ts'
import { type Foreign, listOf, objectOf, textOf } from '../agents/foreign.ts'
import type { ToolFacts } from '../contract.ts'
import { type AgentStream, NO_VERDICT, type StreamNote, said } from './agent-stream.ts'
import { readEvent } from './json-line.ts'
import { createMessages } from './messages.ts'
import { agentPlan, denied, session, toolCall, toolFacts } from './tool-facts.ts'

/** `codex exec --json`, as of 0.169. */
export function createCodexStream(): AgentStream {
  const messages = createMessages()
  let verdict = NO_VERDICT
  let usage = NO_USAGE

  function line(text: string): StreamNote[] {
    const event = readEvent(text)
    switch (event?.type) {
      case 'thread.started':
        return session(event.thread_id)
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        return onItem(objectOf(event.item), event.type === 'item.completed')
      case 'turn.completed':
        verdict = { ok: true }
        usage = usageIn(event.usage)
        return []
      case 'turn.failed':
        verdict = said(objectOf(event.error).message)
        return []
      case 'error':
        // also told of a connection that is made again: what the turn says counts
        verdict = said(event.message)
        return []
      default:
        return []
    }
  }

  function onItem(item: Foreign, isDone: boolean): StreamNote[] {
    if (item.type === 'todo_list') return agentPlan(item.items, 'text')
    if (item.type === 'agent_message') {
      if (isDone) messages.add(textOf(item.text) ?? '')
      return []
    }
    const facts = factsOf(item)
    if (!facts) return []
    const status = textOf(item.status) ?? (isDone ? 'completed' : 'in_progress')
    if (status === 'declined') return [denied(facts, 'declined by its own policy')]
    const refusal = status === 'failed' ? refusalIn(item) : null
    if (refusal !== null) return [denied(facts, refusal)]
    return isDone || status === 'in_progress' ? [toolCall(facts, status)] : []
  }

  return { line, errorLine, end: () => ({ ...messages.end(), plan: null, verdict, usage }) }
}

/** It counts a conversation from its beginning, also where it is resumed; it does not name its model. */
function usageIn(usage: unknown): AgentUsage {
  const names = {
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: 'cached_input_tokens',
  }
  return { ...NO_USAGE, ...tokenSums(usage, names), cumulative: 'tokens' }
}

/** An item of type `error` is a warning: the turn goes on, and says itself how it ended. */
function factsOf(item: Foreign): ToolFacts | null {
  switch (item.type) {
    case 'command_execution':
      return toolFacts('shell', { command: item.command })
    case 'file_change': {
      const paths = listOf(item.changes).map((change) => textOf(objectOf(change).path))
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

/** In place of what a command prints, in one line: a command that was not run. */
function refusalIn({ type, aggregated_output }: Foreign): string | null {
  const words = textOf(aggregated_output)?.trim() ?? ''
  const isOwn = /^[^\n]{0,2000}\brejected by user(?: approval settings)?\W{0,5}$/.test(words)
  return type === 'command_execution' && isOwn ? words : null
}

const REFUSAL = /codex_core::\S*router: error=(.*\breject.*)$/i

/** What its policy refuses is in no event, and neither in its exit code: only its log has it. */
function errorLine(text: string): StreamNote[] {
  const reason = REFUSAL.exec(text)?.[1]
  if (reason === undefined) return []
  return [denied({ tool: /^patch\b/.test(reason) ? 'patch' : 'shell' }, reason)]
}
