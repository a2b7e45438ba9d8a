import type { ConversationAgent, HookAgent } from '../../model/conversation.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import type { HookDialect } from './hook-event.ts'
import { opencode } from './opencode.ts'

/** The hooks that the service understands, by the agent. Cursor reads Claude's settings. */
export const HOOK_DIALECTS: Readonly<Record<HookAgent, HookDialect>> = {
  claude,
  codex,
  gemini,
  opencode,
  copilot,
  cursor: { ...claude, agent: 'cursor' },
}

/** Null for an agent without hooks. */
export const dialectOf = (agent: ConversationAgent): HookDialect | null =>
  agent === 'other' ? null : HOOK_DIALECTS[agent]
