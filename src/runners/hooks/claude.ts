import { asRecord, asString } from '../agents/unknown-record.ts'
import {
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  type HookTool,
  type HookToolKind,
  inputHash,
} from './hook-event.ts'

/** The hooks of Claude Code, measured with 2.1.330. Copilot, Cursor and VS Code read the same settings. */
export const claude: HookDialect = {
  agent: 'claude',
  read: (body) => readClaudeEvent(body),
  answer: answerClaude,
}

const READING = ['Read', 'Glob', 'Grep', 'LS', 'WebFetch', 'WebSearch', 'NotebookRead']
const HARMLESS = [
  'Agent',
  'AskUserQuestion',
  'BashOutput',
  'EnterPlanMode',
  'ExitPlanMode',
  'KillShell',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
  'Skill',
  'Task',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskUpdate',
  'TodoWrite',
  'ToolSearch',
]
const WRITING = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit']
const PLAN_FILE = /[/\\]\.claude[/\\]plans[/\\][^/\\]+\.md$/

/** Reads an event in Claude's words; `toolOf` names the tools of another agent. */
export function readClaudeEvent(
  body: Record<string, unknown>,
  toolOf: (name: string, input: Record<string, unknown>) => HookTool = claudeTool,
): HookEvent | null {
  const agentSession = asString(body.session_id)
  const cwd = asString(body.cwd)
  if (!agentSession || !cwd) return null
  const common = {
    agentSession,
    cwd,
    model: asString(body.model),
    transcript: asString(body.transcript_path),
    isSubagent: asString(body.agent_id) !== null,
  }
  const name = asString(body.tool_name) ?? ''
  const input = asRecord(body.tool_input)
  switch (body.hook_event_name) {
    case 'SessionStart':
      return { ...common, kind: 'started', isContinued: body.source !== 'startup' }
    case 'UserPromptSubmit':
      return { ...common, kind: 'prompted', prompt: asString(body.prompt) ?? '', isApproval: false }
    case 'PreToolUse':
      return {
        ...common,
        kind: 'calling',
        tool: toolOf(name, input),
        isPlanMode: body.permission_mode === 'plan',
      }
    case 'PermissionRequest': {
      if (name !== 'ExitPlanMode') return { ...common, kind: 'heard' }
      const plan = asString(input.plan) ?? ''
      return { ...common, kind: 'planned', plan, input, isHeld: true }
    }
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const hasFailed = body.hook_event_name === 'PostToolUseFailure'
      if (name === 'ExitPlanMode') {
        if (hasFailed) return { ...common, kind: 'heard' }
        return { ...common, kind: 'approved', plan: asString(asRecord(body.tool_response).plan) }
      }
      return { ...common, kind: 'called', tool: toolOf(name, input), hasFailed }
    }
    case 'Stop':
      return {
        ...common,
        kind: 'stopped',
        wasBlocked: body.stop_hook_active === true,
        turn: asString(body.turn_id),
      }
    case 'SessionEnd':
      return {
        ...common,
        kind: 'ended',
        isReplaced: body.reason === 'clear' || body.reason === 'resume',
      }
    default:
      return { ...common, kind: 'heard' }
  }
}

function claudeTool(name: string, input: Record<string, unknown>): HookTool {
  const path = asString(input.file_path) ?? asString(input.notebook_path) ?? asString(input.path)
  return {
    name,
    kind: kindOf(name, path),
    paths: path === null ? [] : [path],
    command: asString(input.command),
    input_sha256: inputHash(input),
  }
}

function kindOf(name: string, path: string | null): HookToolKind {
  if (READING.includes(name)) return 'read'
  if (WRITING.includes(name)) return path !== null && PLAN_FILE.test(path) ? 'plan' : 'write'
  if (name === 'Bash' || name === 'PowerShell') return 'execute'
  if (HARMLESS.includes(name) || name.startsWith('mcp__casefile__')) return 'other'
  return name.startsWith('mcp__') ? 'write' : 'other'
}

/** Answers in Claude's words. */
export function answerClaude(event: HookEvent, answer: HookAnswer): Record<string, unknown> | null {
  switch (answer.is) {
    case 'pass':
      return null
    case 'context':
      return specific(event.kind === 'started' ? 'SessionStart' : 'UserPromptSubmit', {
        additionalContext: answer.text,
      })
    case 'denied':
      return specific('PreToolUse', {
        permissionDecision: 'deny',
        permissionDecisionReason: answer.reason,
      })
    case 'approved':
      if (event.kind !== 'planned') return null
      // Claude ignores an approval without the input
      return specific('PermissionRequest', {
        decision: {
          behavior: 'allow',
          updatedInput: { ...event.input, plan: answer.plan },
          updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
        },
      })
    case 'sentBack':
      return specific('PermissionRequest', {
        decision: { behavior: 'deny', message: answer.message },
      })
    case 'blocked':
      return { decision: 'block', reason: answer.reason }
  }
}

function specific(hookEventName: string, fields: Record<string, unknown>): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName, ...fields } }
}
