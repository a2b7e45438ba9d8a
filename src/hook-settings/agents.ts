import { findProgram } from '../runners/process/find-program.ts'
import type { AgentHooks } from './agent-hooks.ts'
import { claudeHooks } from './claude.ts'

/** The agents whose hooks can be installed. */
export const HOOK_AGENTS: readonly AgentHooks[] = [claudeHooks]

/** Those on the PATH. */
export async function installedAgents(
  environment: NodeJS.ProcessEnv,
  cwd: string,
): Promise<AgentHooks[]> {
  const found: AgentHooks[] = []
  for (const agent of HOOK_AGENTS) {
    if (await findProgram(agent.program, { path: environment.PATH, cwd })) found.push(agent)
  }
  return found
}
