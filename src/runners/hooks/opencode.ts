import { answerClaude, denyClaude, readClaudeEvent } from './claude.ts'
import type { HookDialect } from './hook-event.ts'
import { type ToolNames, toolOf } from './tool-kinds.ts'

const TOOLS: ToolNames = {
  reading: ['glob', 'grep', 'list', 'lsp', 'read', 'webfetch', 'websearch', 'codesearch'],
  commands: ['bash'],
  harmless: ['question', 'skill', 'submit_plan', 'task', 'todoread', 'todowrite', 'invalid'],
  isPlanFile: () => false,
}

/** The plugin for opencode, which speaks Claude's words with the tools of opencode. */
export const opencode: HookDialect = {
  agent: 'opencode',
  read: (body, place) => readClaudeEvent(body, place, (name, input) => toolOf(TOOLS, name, input)),
  answer: answerClaude,
  deny: denyClaude,
  carriesNotes: true,
}
