/** How each agent calls its hooks, and how it takes their answer, as far as a test needs it. */

import { join } from 'node:path'
import { asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import type { HookGroup } from './json-hooks.ts'

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

export interface TrialWords {
  /** Calls of each kind: a file, a command, a tool of an MCP server, and two that only read. */
  calls(root: string): TrialCall[]
  /** What the agent sends to its hook. */
  body(call: TrialCall, place: { root: string; session: string }): UnknownRecord
  /** The lines in the hooks that `AgentHooks.find` gives. */
  lines(found: string): GateLine[]
  /** Whether the agent does not call the tool. */
  isDenied(answer: TrialAnswer): boolean
}

const NAME = 'casefile-hooks-test'
const WRITE_COMMAND = `touch ${NAME}`
const READ_COMMAND = 'ls'
/** The limit of an agent whose settings name none. */
const USUAL_S = 60

/** The agents whose hooks are lines for a shell. opencode has a plugin. */
export const TRIAL_WORDS: Readonly<Record<string, TrialWords>> = {
  claude: {
    calls: (root) =>
      callsOf(
        ['Write', { file_path: join(root, NAME), content: '' }],
        ['Bash', { command: WRITE_COMMAND }],
        'mcp__test__write',
        ['Read', { file_path: join(root, 'casefile.md') }],
        ['Bash', { command: READ_COMMAND }],
      ),
    body: (call, place) => claudeBody(call, place),
    lines: (found) => groupLines(found, 'PreToolUse', 1000),
    isDenied: (said) => said.exit === 2 || claudeDenies(said),
  },
  codex: {
    calls: () =>
      callsOf(
        ['apply_patch', { command: `*** Begin Patch\n*** Add File: ${NAME}\n+\n*** End Patch` }],
        ['Bash', { command: WRITE_COMMAND }],
        'mcp__test__write',
        ['Bash', { command: READ_COMMAND }],
        ['update_plan', { plan: [] }],
      ),
    body: (call, place) => ({ ...claudeBody(call, place), turn_id: place.session, model: 'test' }),
    lines: (found) => groupLines(found, 'PreToolUse', 1000),
    isDenied: (said) => claudeDenies(said),
  },
  gemini: {
    calls: (root) =>
      callsOf(
        ['write_file', { file_path: join(root, NAME), content: '' }],
        ['run_shell_command', { command: WRITE_COMMAND }],
        'mcp_test_write',
        ['read_file', { file_path: join(root, 'casefile.md') }],
        ['run_shell_command', { command: READ_COMMAND }],
      ),
    body: ({ tool, input }, { root, session }) => ({
      session_id: session,
      transcript_path: join(root, `${session}.jsonl`),
      cwd: root,
      hook_event_name: 'BeforeTool',
      timestamp: new Date().toISOString(),
      tool_name: tool,
      tool_input: input,
    }),
    lines: (found) => groupLines(found, 'BeforeTool', 1),
    isDenied: (said) =>
      said.exit === 2 ||
      (said.exit === 0 && ['deny', 'block'].includes(asString(jsonIn(said).decision) ?? '')),
  },
  copilot: {
    calls: (root) =>
      callsOf(
        ['create', { path: join(root, NAME), file_text: '' }],
        ['bash', { command: WRITE_COMMAND }],
        'test-write',
        ['view', { path: join(root, 'casefile.md') }],
        ['bash', { command: READ_COMMAND }],
      ),
    body: ({ tool, input }, { root, session }) => ({
      sessionId: session,
      timestamp: Date.now(),
      cwd: root,
      toolName: tool,
      toolArgs: input,
    }),
    lines(found) {
      const { hooks } = asRecord(parsed(found))
      const { preToolUse } = asRecord(hooks)
      return (Array.isArray(preToolUse) ? preToolUse : []).flatMap((each) => {
        const { bash, timeoutSec } = asRecord(each)
        return typeof bash === 'string'
          ? [{ matcher: undefined, command: bash, limitMs: limitIn(timeoutSec, 1000) }]
          : []
      })
    },
    // only a limit that is over lets the tool run
    isDenied: (said) =>
      !said.timedOut && (said.exit !== 0 || jsonIn(said).permissionDecision === 'deny'),
  },
}

/** opencode calls its plugin in its own process. */
export const opencodeCalls = (root: string): TrialCall[] =>
  callsOf(
    ['write', { filePath: join(root, NAME), content: '' }],
    ['bash', { command: WRITE_COMMAND }],
    'test_write',
    ['read', { filePath: join(root, 'casefile.md') }],
    ['bash', { command: READ_COMMAND }],
  )

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

type Named = readonly [tool: string, input: UnknownRecord]

function callsOf(file: Named, command: Named, mcp: string, ...reads: Named[]): TrialCall[] {
  const writes: Named[] = [file, command, [mcp, { path: NAME }]]
  return [
    ...writes.map(([tool, input]) => ({ tool, input, isRead: false })),
    ...reads.map(([tool, input]) => ({ tool, input, isRead: true })),
  ]
}

function claudeBody(
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

function claudeDenies(said: TrialAnswer): boolean {
  if (said.exit !== 0) return false
  const output = asRecord(jsonIn(said).hookSpecificOutput)
  return (
    output.hookEventName === 'PreToolUse' &&
    output.permissionDecision === 'deny' &&
    (asString(output.permissionDecisionReason) ?? '') !== ''
  )
}

/** `unitMs`: of the limits in the settings. */
function groupLines(found: string, event: string, unitMs: number): GateLine[] {
  const groups = parsed(found) as HookGroup[]
  return groups
    .filter((each) => each.event === event)
    .flatMap(({ group: { matcher, hooks } }) =>
      hooks
        // an agent does not wait for the answer of these
        .filter((hook) => hook.async !== true)
        .map(({ command, timeout }) => ({ matcher, command, limitMs: limitIn(timeout, unitMs) })),
    )
}

function limitIn(value: unknown, unitMs: number): number {
  return typeof value === 'number' && value > 0 ? value * unitMs : USUAL_S * 1000
}

const jsonIn = ({ stdout }: TrialAnswer): UnknownRecord => asRecord(parsed(stdout))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
