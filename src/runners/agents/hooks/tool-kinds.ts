import { isAbsolute, join, normalize } from 'node:path'
import { namedIn, parsedInput } from '../../named-input.ts'
import { asRecord, type UnknownRecord } from '../unknown-record.ts'
import { type HookTool, type HookToolKind, inputHash } from './hook-event.ts'

/** The tools of an agent, by name. A tool that is none of these may write. */
export interface ToolNames {
  reading: readonly string[]
  commands: readonly string[]
  /** Those that change nothing outside of the conversation. */
  harmless: readonly string[]
  /** Whether a path is the agent's own plan, which it may write at any time. */
  isPlanFile(path: string): boolean
}

/** The input of a tool, which some agents send as JSON in a text, or as another text. */
export function toolInput(input: unknown): UnknownRecord {
  return typeof input === 'string' ? (parsedInput(input) ?? { input }) : asRecord(input)
}

/** A call as the gate sees it. */
export function toolOf(names: ToolNames, name: string, input: UnknownRecord): HookTool {
  const named = namedIn(input)
  const { folder } = named
  const at = (path: string) =>
    folder === null || /^(?:~|file:)/.test(path) || isAbsolute(path) ? path : join(folder, path)
  // without all of them, none is known
  const found = named.isWhole ? named.paths.filter((path) => path !== folder).map(at) : []
  const paths = [...new Set(found)]
  const kind = kindOf(names, name, paths)
  const [command = null, ...others] = kind === 'execute' ? [...new Set(named.commands)] : []
  return {
    name,
    kind,
    paths: kind === 'execute' ? [] : paths,
    // of several, it is not known which one runs
    command: others.length === 0 ? command : null,
    folder,
    input_sha256: inputHash(input),
  }
}

function kindOf(names: ToolNames, name: string, paths: readonly string[]): HookToolKind {
  if (names.reading.includes(name)) return 'read'
  if (names.commands.includes(name)) return 'execute'
  // the tools of our own MCP server have rules of their own
  if (names.harmless.includes(name) || /^(?:mcp_{1,2})?casefile_{1,2}/.test(name)) return 'other'
  const isPlan = paths.length > 0 && paths.every((path) => names.isPlanFile(normalize(path)))
  // a tool of an MCP server may name another file by a key that is not known
  return isPlan && !name.startsWith('mcp_') ? 'plan' : 'write'
}
