/** `casefile agent test`: tries installed hooks against the running service, and stores what held. */

import type { TrustFile } from '../../../settings/trust-file.ts'
import { hookAgent, hookTarget } from './hook-agents.ts'
import { isPlainCommand } from './hook-command.ts'
import { findAgent, hashOfScripts } from './levels.ts'
import type { HookFolders } from './service-hooks.ts'
import { hashOf, readSettings } from './settings-file.ts'
import type { HookStatus } from './status.ts'
import { createTestedHooks } from './tested-hooks.ts'
import { tryHooks } from './trial.ts'
import { openScenes } from './trial-scenes.ts'

interface TestDeps {
  trust: TrustFile
  now: () => string
}

/** Tries the hooks in these files at the same time. Gives the files with commands that nobody trusted. */
export async function testHooks(
  hooks: readonly HookStatus[],
  places: HookFolders,
  { trust, now }: TestDeps,
): Promise<string[]> {
  const { root, stateDir } = places
  const records = createTestedHooks(stateDir)
  const script_sha256 = await hashOfScripts(places)
  const scenes = await openScenes(places)
  const untrusted: string[] = []
  try {
    const results = await Promise.all(
      hooks.map(async (status) => {
        const found = await findHooks(status, places)
        if (found === null) return null
        if (!(await mayTry(status, found, stateDir, trust))) {
          untrusted.push(status.file)
          return null
        }
        const { trial } = hookAgent(status.agent)
        const { program, version } = await findAgent(status.agent, places, null)
        const result = await tryHooks({ trial, root, found: found.hooks }, scenes)
        const hooks_sha256 = hashOf(found.hooks)
        const tested = { ...result, tested_at: now(), hooks_sha256, script_sha256 }
        return { file: status.file, tested: { ...tested, program, version } }
      }),
    )
    for (const each of results) if (each !== null) await records.write(each.file, each.tested)
  } finally {
    await scenes.close()
  }
  return untrusted
}

interface FoundHooks {
  /** The whole file. */
  text: string
  hooks: string
}

async function findHooks(
  { agent, place, file, installed }: HookStatus,
  places: HookFolders,
): Promise<FoundHooks | null> {
  if (installed === 'unreadable') return null
  const { find } = hookAgent(agent)
  const { text } = await readSettings(file)
  const hooks = text === null ? null : find(text, file, hookTarget(places, place))
  return text === null || hooks === null ? null : { text, hooks }
}

/** A file of a project may come from others, with commands that only look like ours. */
async function mayTry(
  { agent, place, file, installed }: HookStatus,
  { text, hooks }: FoundHooks,
  stateDir: string,
  trust: TrustFile,
): Promise<boolean> {
  if (place === 'user' || installed === 'current') return true
  if ((await trust.read()).files.get(file) === hashOf(text)) return true
  const { script } = hookTarget({ root: '', stateDir }, place)
  const { shell } = hookAgent(agent).trial
  return shell?.lines(hooks).every(({ command }) => isPlainCommand(command, script)) ?? false
}
