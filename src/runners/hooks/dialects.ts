import type { HookAgent } from '../../model/conversation.ts'
import { claude } from './claude.ts'
import type { HookDialect } from './hook-event.ts'

/** The hooks that the service understands, by the agent. Copilot and Cursor also read Claude's settings. */
export const HOOK_DIALECTS: Partial<Readonly<Record<HookAgent, HookDialect>>> = {
  claude,
}
