import { isAbsolute, join, normalize } from 'node:path'
import { namedIn, parsedInput } from '../../named-input.ts'
import { type AgentTools, toolKind } from '../tool-kinds.ts'
import { asRecord, type UnknownRecord } from '../unknown-record.ts'
import { type HookTool, type HookToolKind, inputHash } from './hook-event.ts'

/** The input of a tool, which some agents send as JSON in a text, or as another text. */
export function toolInput(input: unknown): UnknownRecord {
  return typeof input === 'string' ? (parsedInput(input) ?? { input }) : asRecord(input)
}

/** Whether a path is the agent's own plan, which it may write at any time. */
export type IsPlanFile = (path: string) => boolean

/** A call as the gate sees it. */
export function toolOf(
  tools: AgentTools,
  name: string,
  input: UnknownRecord,
  isPlanFile: IsPlanFile = () => false,
): HookTool {
  const named = namedIn(input)
  const { folder } = named
  const at = (path: string) =>
    folder === null || /^(?:~|file:)/.test(path) || isAbsolute(path) ? path : join(folder, path)
  // without all of them, none is known
  const found = named.isWhole ? named.paths.filter((path) => path !== folder).map(at) : []
  const paths = [...new Set(found)]
  const kind = kindOf(tools, name, paths, isPlanFile)
  const [command = null, ...others] = kind === 'execute' ? [...new Set(named.commands)] : []
  return {
    name,
    kind,
    isEditor: toolKind(tools, name) === 'edit',
    paths: kind === 'execute' ? [] : paths,
    // of several, it is not known which one runs
    command: others.length === 0 ? command : null,
    folder,
    input_sha256: inputHash(input),
  }
}

function kindOf(
  tools: AgentTools,
  name: string,
  paths: readonly string[],
  isPlanFile: IsPlanFile,
): HookToolKind {
  const kind = toolKind(tools, name)
  if (kind === 'execute' || kind === 'other') return kind
  if (kind !== undefined && kind !== 'edit') return 'read'
  // the tools of our own MCP server have rules of their own
  if (/^(?:mcp_{1,2})?casefile_{1,2}/.test(name)) return 'other'
  const isPlan = paths.length > 0 && paths.every((path) => isPlanFile(normalize(path)))
  // a tool of an MCP server may name another file by a key that is not known
  return isPlan && !name.startsWith('mcp_') ? 'plan' : 'write'
}
