import { answerClaude, denyClaude, readClaudeEvent } from '../claude/hooks.ts'
import { CLAUDE_TOOLS } from '../claude/tools.ts'
import type { HookDialect } from '../hooks/hook-event.ts'
import { toolOf } from '../hooks/hook-tool.ts'
import type { AgentTools } from '../tool-kinds.ts'
import { asString } from '../unknown-record.ts'

/** By the names in a hook's input, by those in its documentation, and Claude's. */
const TOOLS: AgentTools = {
  ...CLAUDE_TOOLS,
  read: [
    ...CLAUDE_TOOLS.read,
    'changes',
    'codebase',
    'fetch',
    'fetch_webpage',
    'fileSearch',
    'file_search',
    'get_changed_files',
    'get_errors',
    'get_search_view_results',
    'get_terminal_output',
    'grep_search',
    'listDirectory',
    'list_code_usages',
    'list_dir',
    'problems',
    'readFile',
    'read_file',
    'read_project_structure',
    'search',
    'semantic_search',
    'terminal_last_command',
    'terminal_selection',
    'textSearch',
    'usages',
  ],
  execute: [
    ...CLAUDE_TOOLS.execute,
    'runCommand',
    'runInTerminal',
    'runTerminalCommand',
    'run_in_terminal',
  ],
  other: [...CLAUDE_TOOLS.other, 'manage_todo_list', 'runSubagent', 'todos', 'vscode_askQuestions'],
}

/**
 * The hooks of VS Code's own agent, as its documentation describes them
 * (https://code.visualstudio.com/docs/agents/reference/hooks-reference): Claude's events, whose common fields are
 * written in another way. It presents no plan: that comes by MCP.
 */
export const vscode: HookDialect = {
  agent: 'vscode',
  // only it names the event so
  isFrom: (body) => 'hookEventName' in body && !('toolArgs' in body),
  read: (body, place) =>
    readClaudeEvent(claudeNames(body), place, (name, input) => toolOf(TOOLS, name, input)),
  answer(event, answer) {
    if (answer.is !== 'blocked') return answerClaude(event, answer)
    const { reason } = answer
    return { hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason } }
  },
  deny: denyClaude,
}

function claudeNames(body: Record<string, unknown>): Record<string, unknown> {
  const either = (snake: string, camel: string) => body[snake] ?? body[camel]
  const event = asString(either('hook_event_name', 'hookEventName'))
  return {
    ...body,
    hook_event_name: event,
    session_id: either('session_id', 'sessionId'),
    transcript_path: either('transcript_path', 'transcriptPath'),
    tool_name: either('tool_name', 'toolName'),
    tool_input: either('tool_input', 'toolInput'),
    // the only source of a conversation that it names
    source: body.source === 'new' ? 'startup' : body.source,
  }
}
