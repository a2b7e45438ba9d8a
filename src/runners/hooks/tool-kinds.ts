import { normalize } from 'node:path'
import { asString } from '../agents/unknown-record.ts'
import { type HookTool, type HookToolKind, inputHash } from './hook-event.ts'

type Input = Readonly<Record<string, unknown>>

/** The tools of an agent, by name. A tool that is none of these may write. */
export interface ToolNames {
  reading: readonly string[]
  commands: readonly string[]
  /** Those that change nothing outside of the conversation. */
  harmless: readonly string[]
  /** Whether a path is the agent's own plan, which it may write at any time. */
  isPlanFile(path: string): boolean
}

const PATH_KEYS = ['file_path', 'filePath', 'notebook_path', 'path', 'absolute_path'] as const

/** A call as the gate sees it. */
export function toolOf(names: ToolNames, name: string, input: Input): HookTool {
  const path = PATH_KEYS.map((key) => asString(input[key])).find((text) => text !== null) ?? null
  return {
    name,
    kind: kindOf(names, name, path),
    paths: path === null ? [] : [path],
    command: asString(input.command),
    input_sha256: inputHash(input),
  }
}

function kindOf(names: ToolNames, name: string, path: string | null): HookToolKind {
  if (names.reading.includes(name)) return 'read'
  if (names.commands.includes(name)) return 'execute'
  // the tools of our own MCP server have rules of their own
  if (names.harmless.includes(name) || /^(?:mcp_{1,2})?casefile_{1,2}/.test(name)) return 'other'
  // a tool of an MCP server may name a second file by another key
  const isPlan = path !== null && !name.startsWith('mcp_') && names.isPlanFile(normalize(path))
  return isPlan ? 'plan' : 'write'
}
