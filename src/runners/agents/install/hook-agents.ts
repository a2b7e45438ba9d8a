import { createHash } from 'node:crypto'
import { findProgram } from '../../process/find-program.ts'
import { AGENTS } from '../registry.ts'
import type { AgentHooks, HookScope } from './agent-hooks.ts'
import type { HookTarget } from './hook-command.ts'
import { hookFiles } from './hook-files.ts'

/** The agents whose hooks can be installed. */
export const HOOK_AGENTS: readonly AgentHooks[] = Object.values(AGENTS).map(
  ({ install }) => install,
)

/** One of them, by its id. */
export function hookAgent(id: string): AgentHooks {
  return HOOK_AGENTS.find((agent) => agent.id === id)!
}

/** Those on the PATH. */
export async function installedAgents(
  environment: NodeJS.ProcessEnv,
  cwd: string,
): Promise<AgentHooks[]> {
  const found: AgentHooks[] = []
  for (const agent of HOOK_AGENTS) {
    if (await findProgram(agent.id, { path: environment.PATH, cwd })) found.push(agent)
  }
  return found
}

export function hookTarget(
  { root, stateDir }: { root: string; stateDir: string },
  place: HookScope,
  isStrict = false,
): HookTarget {
  const { script } = hookFiles(stateDir)
  return { root, script, isUser: place === 'user', isShared: place === 'project', isStrict }
}

/** Part of a file name that tells workspaces apart. */
export function workspaceKey(stateDir: string): string {
  return createHash('sha256').update(stateDir).digest('hex').slice(0, 8)
}
