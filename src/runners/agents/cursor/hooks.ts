import { isWithin } from '../../../files/real-path.ts'
import {
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  missingTexts,
  type Unreadable,
} from '../hooks/hook-event.ts'
import { toolInput, toolOf } from '../hooks/hook-tool.ts'
import type { AgentTools } from '../tool-kinds.ts'
import { asArray, asString } from '../unknown-record.ts'

const TOOLS: AgentTools = {
  read: [
    'CodebaseSearch',
    'FetchRules',
    'Glob',
    'Grep',
    'LS',
    'List',
    'Read',
    'ReadLints',
    'Search',
    'SemanticSearch',
    'WebFetch',
    'WebSearch',
  ],
  execute: ['Shell'],
  // a plan can be handed in only so, and preToolUse does not name the server of a tool
  other: ['AskQuestion', 'CreatePlan', 'MCP:propose_plan', 'Task', 'TodoWrite'],
}

const isPlanFile = (path: string) => /[/\\]\.cursor[/\\]plans[/\\][^/\\]+\.md$/.test(path)

/** The events of a tool, and where they have its name. */
const TOOL_FIELD: Readonly<Record<string, string>> = {
  preToolUse: 'tool_name',
  postToolUse: 'tool_name',
  postToolUseFailure: 'tool_name',
  beforeMCPExecution: 'tool_name',
  afterMCPExecution: 'tool_name',
  beforeShellExecution: 'command',
  afterShellExecution: 'command',
  beforeReadFile: 'file_path',
  afterFileEdit: 'file_path',
}

/** Claude's names, for hooks that Cursor found in Claude's settings. */
const CLAUDE_NAMES: Readonly<Record<string, string>> = {
  UserPromptSubmit: 'beforeSubmitPrompt',
}

/**
 * The hooks of Cursor, as its documentation describes them (https://cursor.com/docs/hooks and, for those in Claude's
 * settings, https://cursor.com/docs/reference/third-party-hooks). It presents no plan: that comes by MCP.
 */
export const cursor: HookDialect = {
  agent: 'cursor',
  // the fields that all of its hooks get
  isFrom: (body) =>
    'cursor_version' in body || ('conversation_id' in body && 'generation_id' in body),
  read: async (body, { root }) => read(body, root),
  answer,
  deny,
  // it shows one only with a denial
  noticeFields: () => null,
}

function read(body: Record<string, unknown>, root: string): HookEvent | Unreadable {
  const named = asString(body.hook_event_name) ?? ''
  const event = CLAUDE_NAMES[named] ?? `${named.charAt(0).toLowerCase()}${named.slice(1)}`
  const field = TOOL_FIELD[event]
  const agentSession = asString(body.conversation_id) || asString(body.session_id)
  const open = asArray(body.workspace_roots).filter((each) => typeof each === 'string')
  // of several folders, that of this workspace; what a tool has as its folder may lie outside
  const cwd =
    open.find((each) => each !== '' && isWithin(root, each)) || open[0] || asString(body.cwd)
  const missing = [
    ...(agentSession ? [] : ['conversation_id']),
    ...(cwd ? [] : ['workspace_roots']),
    ...missingTexts(body, ['hook_event_name', ...(field === undefined ? [] : [field])]),
  ]
  if (missing.length > 0) return { missing }
  const common = {
    agentSession: agentSession!,
    cwd: cwd!,
    model: asString(body.model),
    transcript: asString(body.transcript_path),
    isSubagent: false,
  }
  switch (event) {
    case 'sessionStart':
      return { ...common, kind: 'started', isContinued: false }
    case 'beforeSubmitPrompt':
      return { ...common, kind: 'prompted', prompt: asString(body.prompt) ?? '', isApproval: false }
    case 'preToolUse':
    case 'beforeMCPExecution':
    case 'beforeShellExecution':
    case 'beforeReadFile':
      return { ...common, kind: 'calling', tool: toolIn(event, body) }
    case 'postToolUse':
    case 'postToolUseFailure':
    case 'afterMCPExecution':
    case 'afterShellExecution':
    case 'afterFileEdit': {
      const hasFailed = event === 'postToolUseFailure'
      return { ...common, kind: 'called', tool: toolIn(event, body), hasFailed }
    }
    case 'stop':
      return { ...common, kind: 'stopped', wasBlocked: Number(body.loop_count) > 0, turn: null }
    case 'sessionEnd':
      return { ...common, kind: 'ended', isReplaced: false }
    default:
      return { ...common, kind: 'heard' }
  }
}

function toolIn(event: string, body: Record<string, unknown>) {
  const { command, file_path } = body
  switch (event) {
    case 'beforeShellExecution':
    case 'afterShellExecution':
      return toolOf(TOOLS, 'Shell', { command })
    case 'beforeReadFile':
      return toolOf(TOOLS, 'Read', { file_path })
    case 'afterFileEdit':
      return toolOf(TOOLS, 'Write', { file_path }, isPlanFile)
    case 'beforeMCPExecution':
    case 'afterMCPExecution': {
      const server = asString(body.mcp_server_name)
      const tool = asString(body.tool_name)
      const name = server ? `mcp__${server}__${tool}` : `MCP:${tool}`
      return toolOf(TOOLS, name, toolInput(body.tool_input))
    }
    default: {
      const name = asString(body.tool_name) ?? ''
      // a tool of a server may name a second file by another key
      const input = toolInput(body.tool_input)
      return toolOf(TOOLS, name, input, name.startsWith('MCP:') ? undefined : isPlanFile)
    }
  }
}

function answer(event: HookEvent, answer: HookAnswer): Record<string, unknown> | null {
  switch (answer.is) {
    case 'pass':
    case 'allowed':
    case 'approved':
      return null
    case 'context':
      // a prompt takes none
      return event.kind === 'started' ? { additional_context: answer.text } : null
    case 'asked':
    case 'denied':
      return deny(answer.reason)
    case 'sentBack':
      return deny(answer.message)
    case 'blocked':
      return { followup_message: answer.reason }
  }
}

function deny(reason: string): Record<string, unknown> {
  return { permission: 'deny', user_message: reason, agent_message: reason }
}
