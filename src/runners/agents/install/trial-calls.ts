/** How an agent calls its hooks, and how it takes their answer, as far as a test needs it. */

import { join } from 'node:path'
import { asRecord, asString, parsedJson, type UnknownRecord } from '../unknown-record.ts'
import type { HookGroup } from './json-hooks.ts'

export type NamedCall = readonly [tool: string, input: UnknownRecord]

export interface TrialCall {
  tool: string
  input: UnknownRecord
  isRead: boolean
}

/** A line that the agent runs before it calls a tool. */
export interface GateLine {
  /** The tools that it is run for; undefined for all. */
  matcher: string | undefined
  command: string
  /** How long the agent waits for it. */
  limitMs: number
}

/** What a line did. `timedOut`: the agent stopped waiting. */
export interface TrialAnswer {
  exit: number | null
  stdout: string
  timedOut: boolean
}

export interface HookTrial {
  /** A call of its built-in tools that writes a file, and one that only reads. */
  writes(path: string): NamedCall
  reads(path: string): NamedCall
  /** Its tool for commands. */
  shellTool: string
  /** Its name for a tool of an MCP server. */
  mcpTool: string
  /** Null for hooks that are no lines for a shell, but a plugin that runs in the agent's own process. */
  shell: ShellTrial | null
}

export interface ShellTrial {
  /** What the agent sends to its hook. */
  body(call: TrialCall, place: { root: string; session: string }): UnknownRecord
  /** The lines in the hooks that `AgentHooks.find` gives. */
  lines(found: string): GateLine[]
  /** Whether the agent does not call the tool. */
  isDenied(answer: TrialAnswer): boolean
}

const FILE = 'casefile-hooks-test'
/** The limit of an agent whose settings name none. */
const USUAL_S = 60

/** As the agents match: nothing and `*` mean all tools, words are whole names, the rest is a regular expression. */
export function matches(matcher: string | undefined, tool: string): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (/^[\w|]+$/.test(matcher)) return matcher.split('|').includes(tool)
  try {
    return new RegExp(matcher).test(tool)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Calls of each kind: a file, a command, a tool of an MCP server, and two that only read. */
export function callsOf(
  { writes, reads, shellTool, mcpTool }: HookTrial,
  root: string,
): TrialCall[] {
  const runs = (command: string): NamedCall => [shellTool, { command }]
  const call =
    (isRead: boolean) =>
    ([tool, input]: NamedCall) => ({ tool, input, isRead })
  return [
    ...[writes(join(root, FILE)), runs(`touch ${FILE}`), [mcpTool, { path: FILE }] as const].map(
      call(false),
    ),
    ...[reads(join(root, 'casefile.md')), runs('ls')].map(call(true)),
  ]
}

export function claudeBody(
  { tool, input }: TrialCall,
  { root, session }: { root: string; session: string },
): UnknownRecord {
  return {
    session_id: session,
    transcript_path: join(root, `${session}.jsonl`),
    cwd: root,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: session,
  }
}

export function claudeDenies(said: TrialAnswer): boolean {
  if (said.exit !== 0) return false
  const output = asRecord(jsonIn(said).hookSpecificOutput)
  return (
    output.hookEventName === 'PreToolUse' &&
    output.permissionDecision === 'deny' &&
    (asString(output.permissionDecisionReason) ?? '') !== ''
  )
}

/** `unitMs`: of the limits in the settings. */
export function groupLines(found: string, event: string, unitMs: number): GateLine[] {
  const groups = parsedJson(found) as HookGroup[]
  return groups
    .filter((each) => each.event === event)
    .flatMap(({ group: { matcher, hooks } }) =>
      hooks
        // an agent does not wait for the answer of these
        .filter((hook) => hook.async !== true)
        .map(({ command, timeout }) => ({ matcher, command, limitMs: limitIn(timeout, unitMs) })),
    )
}

export function limitIn(value: unknown, unitMs: number): number {
  return typeof value === 'number' && value > 0 ? value * unitMs : USUAL_S * 1000
}

export const jsonIn = ({ stdout }: TrialAnswer): UnknownRecord => asRecord(parsedJson(stdout))
