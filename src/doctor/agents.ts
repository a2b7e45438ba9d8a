import { OWN_PROVIDER } from '../model/settings.ts'
import { HOOK_AGENTS } from '../runners/agents/install/hook-agents.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import type { ProviderStatus } from '../sessions/providers.ts'

export const AGENT_STATUSES = [
  'ready',
  'not_logged_in',
  'unknown_login',
  'not_installed',
  'not_trusted',
] as const
export type AgentStatus = (typeof AGENT_STATUSES)[number]

/** An agent as setup shows it. */
export interface Agent {
  id: string
  title: string
  kind: 'command' | 'acp'
  status: AgentStatus
  version: string | null
  /** The command to type next; null if it is ready. */
  advice: string | null
  /** Whether it can also be used in a terminal, with hooks. */
  can_hook: boolean
}

/** Every provider that runs an agent. */
export function agentsIn(providers: readonly ProviderStatus[]): Agent[] {
  return providers.flatMap((provider) => {
    const { id, kind, title, version } = provider
    if (kind === 'runbook' || id === OWN_PROVIDER) return []
    const status = statusOf(provider)
    const can_hook = HOOK_AGENTS.some((agent) => agent.id === id)
    return [{ id, title, kind, status, version, advice: adviceFor(id, status), can_hook }]
  })
}

/** The agent that setup proposes: the only one that is ready, else the only one that may be; null if none is. */
export function proposedAgent(agents: readonly Agent[]): Agent | null {
  const commands = agents.filter(({ kind }) => kind === 'command')
  for (const wanted of ['ready', 'unknown_login'] as const) {
    const found = commands.filter(({ status }) => status === wanted)
    if (found.length > 0) return found.length === 1 ? found[0]! : null
  }
  return null
}

function statusOf({ available, trusted, login }: ProviderStatus): AgentStatus {
  if (!trusted) return 'not_trusted'
  if (!available) return 'not_installed'
  if (login === 'not_logged_in') return 'not_logged_in'
  return login === 'unknown' ? 'unknown_login' : 'ready'
}

function adviceFor(id: string, status: AgentStatus): string | null {
  const spec = KNOWN_AGENTS.find((each) => each.id === id)
  switch (status) {
    case 'ready':
      return null
    case 'not_trusted':
      return 'casefile doctor --trust'
    case 'not_logged_in':
    case 'unknown_login':
      return spec?.login?.command ?? null
    case 'not_installed':
      return spec?.install || null
    default:
      return status satisfies never
  }
}
