import { HOOK_AGENTS, type HookAgent } from '../../../model/agent-names.ts'
import type { ConversationAgent } from '../../../model/conversation.ts'
import { cursor } from '../cursor/hooks.ts'
import { AGENTS } from '../registry.ts'
import { vscode } from '../vscode/hooks.ts'
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

/**
 * The dialect of a body: agents read the settings of other agents too. `line` is the agent whose settings have the
 * hook; its dialect counts if the body does not say more, and Claude's if it is not known.
 */
export function dialectFor(line: string, body: Readonly<Record<string, unknown>>): HookDialect {
  const name = HOOK_AGENTS.find((agent) => agent === line)
  const own = HOOK_DIALECTS[name ?? 'claude']
  const all = [cursor, vscode, own, ...Object.values(HOOK_DIALECTS)]
  return all.find((dialect) => dialect.isFrom(body)) ?? own
}
