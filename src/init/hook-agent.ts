import { AppError } from '../model/app-error.ts'
import type { AgentHooks } from '../runners/agents/install/agent-hooks.ts'
import { HOOK_AGENTS } from '../runners/agents/install/hook-agents.ts'

/** The agent with this name, for hooks. Throws `bad_request` if it has none. */
export function hookAgent(name: string): AgentHooks {
  const agent = HOOK_AGENTS.find(({ id }) => id === name)
  if (agent) return agent
  const names = HOOK_AGENTS.map(({ id }) => id).join(', ')
  throw new AppError(
    'bad_request',
    `Casefile has no hooks for "${name}", so it cannot work with it in your terminal. It has hooks for ${names}.`,
    { errors: [{ path: 'in_terminal', message: `expected a provider that is one of ${names}` }] },
  )
}
