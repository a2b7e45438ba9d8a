/** What is installed where, and what could keep it from working. Reads the settings, and changes nothing. */

import { AppError } from '../../../model/app-error.ts'
import { findProgram } from '../../process/find-program.ts'
import { SYSTEM_FOLDERS } from '../hooks/hook-script.ts'
import type { AgentHooks, Homes, HookScope, Obstacle } from './agent-hooks.ts'
import { HOOK_AGENTS, hookAgent, hookTarget, workspaceKey } from './hook-agents.ts'
import type { HookTarget } from './hook-command.ts'
import { createInstalledHooks, type InstalledHooks } from './installed-hooks.ts'
import type { HookFolders } from './service-hooks.ts'
import { hashOf, readSettings } from './settings-file.ts'

export interface HookStatus {
  agent: string
  place: HookScope
  file: string
  /** `older`: an older version of Casefile wrote it. `changed`: somebody changed it since. */
  installed: 'current' | 'older' | 'changed' | 'unreadable'
  is_strict: boolean
  /** Of the hooks in the file; null if it cannot be read. */
  hooks_sha256: string | null
  /** Why the agent runs none of its hooks, as far as its own files say; null if it may. */
  obstacle: Obstacle | null
  /** Why the hooks may not run, and what to do; empty if nothing is known. */
  warnings: string[]
}

export interface HooksReport {
  hooks: HookStatus[]
  /** Agents on the PATH that have no hooks of this workspace. */
  missing: string[]
  /** What concerns all agents. */
  warnings: string[]
}

export async function hooksReport(places: HookFolders): Promise<HooksReport> {
  const { root, stateDir, environment } = places
  const records = createInstalledHooks(stateDir)
  const homes = { root, environment, key: workspaceKey(stateDir) }
  const hooks: HookStatus[] = []
  const missing: string[] = []
  for (const agent of HOOK_AGENTS) {
    const found = await statusesOf(agent, { ...homes, stateDir }, records)
    hooks.push(...found)
    if (found.length > 0) continue
    const where = { path: environment.PATH, cwd: root }
    if ((await findProgram(agent.id, where)) !== null) missing.push(agent.id)
  }
  const path = `${SYSTEM_FOLDERS}:${environment.PATH ?? ''}`
  const hasCurl = (await findProgram('curl', { path, cwd: root })) !== null
  const warnings =
    hooks.length > 0 && !hasCurl
      ? ['curl is not on the PATH, so the hooks deny every tool. Install curl.']
      : []
  for (const status of hooks) status.warnings.push(...twiceWarnings(status, hooks))
  return { hooks, missing, warnings }
}

/** What an agent reads in two places runs twice. */
function twiceWarnings({ agent, place }: HookStatus, all: readonly HookStatus[]): string[] {
  const first = all.find((other) => other.agent === agent)
  if (first !== undefined && first.place !== place)
    return [`each hook runs twice. Keep one place: casefile agent remove ${agent} --${place}`]
  const also = hookAgent(agent).alsoReads
  return all.some((other) => other.agent === also?.agent && other.place === also.place)
    ? [`it reads ${also!.file} too, so each hook runs twice. Remove one of the two.`]
    : []
}

async function statusesOf(
  agent: AgentHooks,
  homes: Homes & HookFolders,
  records: InstalledHooks,
): Promise<HookStatus[]> {
  const found: HookStatus[] = []
  for (const [place, fileOf] of Object.entries(agent.files) as [
    HookScope,
    (of: Homes) => string,
  ][]) {
    const file = fileOf(homes)
    const common = { agent: agent.id, place, file }
    try {
      const status = await statusOf(agent, file, hookTarget(homes, place), records)
      if (status === null) continue
      const obstacle = (await agent.obstacle?.(file, homes)) ?? null
      const warnings = obstacle === null ? [] : [obstacle.reason]
      found.push({ ...common, ...status, obstacle, warnings })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      found.push({
        ...common,
        installed: 'unreadable',
        is_strict: false,
        hooks_sha256: null,
        obstacle: null,
        warnings: [error.message],
      })
    }
  }
  return found
}

async function statusOf(
  agent: AgentHooks,
  file: string,
  target: HookTarget,
  records: InstalledHooks,
): Promise<Pick<HookStatus, 'installed' | 'is_strict' | 'hooks_sha256'> | null> {
  const { realPath, text } = await readSettings(file)
  const present = text === null ? null : agent.find(text, file, target)
  if (text === null || present === null) return null
  const hooks_sha256 = hashOf(present)
  for (const is_strict of [false, true]) {
    const wanted = { ...target, isStrict: is_strict }
    const installed = agent.add(agent.remove(text, file, target), file, wanted)
    if (agent.find(installed, file, wanted) === present) {
      return { installed: 'current', is_strict, hooks_sha256 }
    }
  }
  const record = await records.read(realPath)
  const isOurs = record !== null && record.hooks_sha256 === hooks_sha256
  const is_strict = / strict\b/.test(present)
  return { installed: isOurs ? 'older' : 'changed', is_strict, hooks_sha256 }
}
