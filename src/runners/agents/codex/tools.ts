import type { AgentTools } from '../tool-kinds.ts'

/** `shell` and `patch` are what we call the actions in its output. */
export const CODEX_TOOLS: AgentTools = {
  execute: ['Bash', 'shell'],
  edit: ['apply_patch', 'patch'],
  read: [],
  fetch: ['web_search'],
  other: ['request_user_input', 'update_plan', 'view_image'],
}
