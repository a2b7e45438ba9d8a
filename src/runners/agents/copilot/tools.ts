import type { AgentTools } from '../tool-kinds.ts'

export const COPILOT_TOOLS: AgentTools = {
  execute: ['bash', 'powershell'],
  edit: ['create', 'edit'],
  read: ['show_file', 'view'],
  search: ['glob', 'grep', 'rg'],
  fetch: ['web_fetch', 'web_search'],
  other: [
    'ask_user',
    'exit_plan_mode',
    'fetch_copilot_cli_documentation',
    'list_agents',
    'list_bash',
    'read_agent',
    'read_bash',
    'report_intent',
    'skill',
    'stop_bash',
    'task',
    'update_todo',
  ],
}
