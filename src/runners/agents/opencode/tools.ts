import type { AgentTools } from '../tool-kinds.ts'

export const OPENCODE_TOOLS: AgentTools = {
  execute: ['bash'],
  edit: ['apply_patch', 'edit', 'multiedit', 'patch', 'write'],
  read: ['list', 'lsp', 'read'],
  search: ['codesearch', 'glob', 'grep'],
  fetch: ['webfetch', 'websearch'],
  other: ['invalid', 'question', 'skill', 'submit_plan', 'task', 'todoread', 'todowrite'],
}
