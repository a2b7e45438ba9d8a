import type { AgentTools } from '../tool-kinds.ts'

export const GEMINI_TOOLS: AgentTools = {
  execute: ['run_shell_command'],
  edit: ['replace', 'write_file'],
  read: [
    'codebase_investigator',
    'get_internal_docs',
    'list_directory',
    'read_file',
    'read_many_files',
  ],
  search: ['glob', 'grep_search', 'search_file_content'],
  fetch: ['google_web_search', 'web_fetch'],
  other: [
    'activate_skill',
    'ask_user',
    'complete_task',
    'enter_plan_mode',
    'exit_plan_mode',
    'invoke_agent',
    'update_topic',
    'write_todos',
  ],
}
