import type { Agent } from './agent.ts'
import type { HookDialect } from './hooks/hook-event.ts'
import type { AgentHooks } from './install/agent-hooks.ts'

/** What `<name>/agent.ts` exports as `folder`: how the agent runs, how its hooks speak, and how they are installed. */
export interface AgentFolder {
  run: Agent
  hooks: HookDialect
  install: AgentHooks
}
