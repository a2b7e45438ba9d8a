import type { ToolFacts } from '../contract.ts'
import { beginningOf } from './agent-text.ts'
import { asRecord, asString } from './unknown-record.ts'

/** The tools of an agent, by what they do. A tool that is none of these may write. */
export interface AgentTools {
  execute: readonly string[]
  edit?: readonly string[]
  read: readonly string[]
  search?: readonly string[]
  fetch?: readonly string[]
  /** Those that change nothing outside of the conversation. */
  other: readonly string[]
}

/** The kind of a tool, as the Agent Client Protocol names it; undefined for one that is not known. */
export function toolKind(tools: AgentTools, name: string): keyof AgentTools | undefined {
  return (Object.keys(tools) as (keyof AgentTools)[]).find((kind) => tools[kind]?.includes(name))
}

/** Inputs that best describe a tool call to a person; the first existing one is used. */
const SUBJECTS = [
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

/** A call of a tool, as a person reads it. */
export function toolFacts(tools: AgentTools, tool: string, input: unknown): ToolFacts {
  const kind = toolKind(tools, tool)
  const title = titleOf(input)
  const known = kind === undefined || kind === 'other' ? {} : { kind }
  return { tool, ...known, ...(title === '' ? {} : { title }) }
}

function titleOf(input: unknown): string {
  const fields = asRecord(input)
  const reported = SUBJECTS.map((name) => asString(fields[name])).find((text) => text)
  if (reported) return beginningOf(reported, MAX_TITLE)
  return Object.keys(fields).length === 0 ? '' : beginningOf(JSON.stringify(fields), MAX_TITLE)
}
