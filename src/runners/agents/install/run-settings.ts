/** How an agent starts with hooks that are not installed anywhere. */

import { join } from 'node:path'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import { claudeGroups } from '../claude/install.ts'
import { codexGroups, codexHash } from '../codex/install.ts'
import type { HookTarget } from './hook-command.ts'
import { hookFiles } from './hook-files.ts'
import type { HookGroup } from './json-hooks.ts'

/** The agents that can start so. */
export const RUN_AGENTS = ['claude', 'codex'] as const
export type RunAgent = (typeof RUN_AGENTS)[number]

/** The arguments that come before those of the person. */
export async function hookArguments(
  agent: RunAgent,
  stateDir: string,
  target: HookTarget,
): Promise<string[]> {
  return agent === 'claude' ? claudeArguments(stateDir, target) : codexArguments(target)
}

async function claudeArguments(stateDir: string, target: HookTarget): Promise<string[]> {
  const { folder } = hookFiles(stateDir)
  const name = target.isStrict ? 'claude-strict.json' : 'claude.json'
  const hooks: Record<string, HookGroup['group'][]> = {}
  for (const { event, group } of claudeGroups(target)) hooks[event] = [group]
  await makeFolder(folder, 0o700)
  const path = join(folder, name)
  await writeDurable(path, Buffer.from(`${JSON.stringify({ hooks }, null, 2)}\n`), { mode: 0o600 })
  return ['--settings', path]
}

/** Codex takes hooks, and the trust in them, from its arguments. Its daemon would have the hooks of another terminal. */
function codexArguments(target: HookTarget): string[] {
  const groups = codexGroups(target)
  const trusted: string[] = []
  const hooks = groups.flatMap(({ event, group }) => {
    const [hook] = group.hooks
    const name = event.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()
    const key = `/<session-flags>/config.toml:${name}:0:0`
    const hash = codexHash(name, undefined, hook!)
    trusted.push(`${tomlString(key)}={trusted_hash=${tomlString(hash)}}`)
    const { command, timeout } = hook!
    const value = `{type="command",command=${tomlString(command)},timeout=${timeout}}`
    return ['-c', `hooks.${event}=[{hooks=[${value}]}]`]
  })
  const state = ['-c', `hooks.state={${trusted.join(',')}}`]
  return ['--disable', 'daemon_auto_start', ...hooks, ...state]
}

/** JSON's escapes are those of TOML, too. */
function tomlString(text: string): string {
  return JSON.stringify(text)
}
