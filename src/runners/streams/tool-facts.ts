import type { AgentRetry } from '../../model/agent-retry.ts'
import { beginningOf } from '../agents/cut-text.ts'
import { asArray, asRecord, asString } from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import type { ParsedNote } from './output-parser.ts'

/** Inputs that best describe a tool call to a person; the first existing one is used. */
const TELLING = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
]
const MAX_TITLE = 1000

/** The kinds of the Agent Client Protocol, by tool name. */
const KINDS: readonly [kind: string, tools: RegExp][] = [
  ['execute', /^(?:bash|shell|run_shell_command|exec_command|command_execution)$/],
  ['edit', /^(?:edit|multiedit|write|write_file|replace|create|notebookedit|(?:apply_)?patch)$/],
  ['read', /^(?:read|read_file|read_many_files|view|ls|list|list_directory)$/],
  ['search', /^(?:grep|glob|grep_search|search_file_content)$/],
  ['fetch', /^(?:webfetch|web_fetch|websearch|web_search|google_web_search)$/],
]

export function toolFacts(tool: string, input: unknown): ToolFacts {
  const kind = KINDS.find(([, tools]) => tools.test(tool.toLowerCase()))?.[0]
  const title = titleOf(input)
  return { tool, ...(kind ? { kind } : {}), ...(title === '' ? {} : { title }) }
}

function titleOf(input: unknown): string {
  const fields = asRecord(input)
  const reported = TELLING.map((name) => asString(fields[name])).find((text) => text)
  if (reported) return beginningOf(reported, MAX_TITLE)
  return Object.keys(fields).length === 0 ? '' : beginningOf(JSON.stringify(fields), MAX_TITLE)
}

export function toolCall(facts: ToolFacts, status: string): ParsedNote {
  return { event: 'tool_call', fields: { ...facts, status } }
}

export function denied(facts: ToolFacts, reason: string): ParsedNote {
  return { event: 'denied', fields: { ...facts, reason } }
}

export function retry(fields: AgentRetry): ParsedNote[] {
  return [{ event: 'agent_retry', fields }]
}

export function session(id: unknown): ParsedNote[] {
  const agent_session = asString(id)
  return agent_session ? [{ event: 'agent_session', fields: { agent_session } }] : []
}

/** An agent's to-do list. `text` names the field with an item's text. */
export function agentPlan(items: unknown, text: string): ParsedNote[] {
  const entries = asArray(items).map((item) => {
    const { [text]: content, status, completed } = asRecord(item)
    const plain = completed === true ? 'completed' : 'pending'
    return { content: asString(content) ?? '', status: asString(status) ?? plain }
  })
  return entries.length > 0 ? [{ event: 'agent_plan', fields: { entries } }] : []
}
