import { HOOK_AGENTS, type HookAgent } from '../../../model/agent-names.ts'
import type { ConversationAgent } from '../../../model/conversation.ts'
import { cursor, isFromCursor } from '../cursor/hooks.ts'
import { AGENTS } from '../registry.ts'
import { isFromVsCode, vscode } from '../vscode/hooks.ts'
import type { HookDialect } from './hook-event.ts'

/** The hooks that the service understands, by the agent. */
export const HOOK_DIALECTS = {
  ...Object.fromEntries(Object.entries(AGENTS).map(([name, { hooks }]) => [name, hooks])),
  cursor,
  vscode,
} as Readonly<Record<HookAgent, HookDialect>>

/** Null for an agent without hooks. */
export const dialectOf = (agent: ConversationAgent): HookDialect | null =>
  agent === 'other' ? null : HOOK_DIALECTS[agent]

/** Agents that send Claude's events. */
const LIKE_CLAUDE: readonly HookAgent[] = ['claude', 'codex', 'opencode']
const GEMINI_EVENT = /^(?:Before|After)(?:Tool|Agent|Model|ToolSelection)$/
const CLAUDE_EVENT =
  /^(?:UserPromptSubmit|PreToolUse|PermissionRequest|PostToolUse|PostToolUseFailure|Stop)$/

/**
 * The dialect of a body: agents read the settings of other agents too. `line` is the agent whose settings have the
 * hook; its dialect counts if the body does not say more, and Claude's if it is not known.
 */
export function dialectFor(line: string, body: Readonly<Record<string, unknown>>): HookDialect {
  if (isFromCursor(body)) return cursor
  if (isFromVsCode(body)) return vscode
  if ('toolName' in body || 'toolArgs' in body) return HOOK_DIALECTS.copilot
  const own = HOOK_AGENTS.find((agent) => agent === line)
  const event = typeof body.hook_event_name === 'string' ? body.hook_event_name : ''
  if (GEMINI_EVENT.test(event)) return HOOK_DIALECTS.gemini
  if (own === undefined || (CLAUDE_EVENT.test(event) && !LIKE_CLAUDE.includes(own)))
    return HOOK_DIALECTS.claude
  return HOOK_DIALECTS[own]
}
