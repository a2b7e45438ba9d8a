/** Installs and removes the hooks of one agent, as commands and the API do. */

import type { TrustFile } from '../../../settings/trust-file.ts'
import type { AgentHooks, HookScope } from './agent-hooks.ts'
import { hookTarget, workspaceKey } from './hook-agents.ts'
import { carryOut, planInstall, planRemoval, type SettingsChange } from './install.ts'
import { createInstalledHooks } from './installed-hooks.ts'
import { type HookFolders, installHookScript } from './service-hooks.ts'

export interface HookChange {
  what: 'install' | 'remove'
  agent: AgentHooks
  place: HookScope
  isStrict: boolean
}

/** Null if the agent has no settings in that place. */
export async function planHooks(
  { what, agent, place, isStrict }: HookChange,
  { root, stateDir, environment }: HookFolders,
): Promise<SettingsChange | null> {
  const path = agent.files[place]?.({ root, environment, key: workspaceKey(stateDir) })
  if (path === undefined) return null
  const target = hookTarget({ root, stateDir }, place, isStrict)
  const plan = { agent, place, path, target, records: createInstalledHooks(stateDir) }
  return what === 'install' ? planInstall(plan) : planRemoval(plan)
}

/** The place that is used if none is named: the first that the agent has. */
export function usualScope(agent: AgentHooks): HookScope {
  return Object.keys(agent.files)[0] as HookScope
}

/** What setup installs. */
export function usualChange(agent: AgentHooks): HookChange {
  return { what: 'install', agent, place: usualScope(agent), isStrict: false }
}

/** Writes the changes, and with `script` what the hooks run. The state folder must exist. */
export async function writeHooks(
  changes: readonly SettingsChange[],
  places: HookFolders,
  { trust, script }: { trust: TrustFile; script: boolean },
): Promise<void> {
  if (script) await installHookScript(places)
  const records = createInstalledHooks(places.stateDir)
  for (const change of changes) await carryOut(change, records, trust)
}
