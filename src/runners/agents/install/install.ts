/** Plans a change of an agent's settings, and carries it out. Nothing is written before the operator agreed. */

import { dirname } from 'node:path'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import { isFolder } from '../../../files/folder-names.ts'
import { removeEmptyFolder, removeFile } from '../../../files/remove-file.ts'
import type { TrustFile } from '../../../settings/trust-file.ts'
import type { AgentHooks, HookScope } from './agent-hooks.ts'
import type { HookTarget } from './hook-command.ts'
import type { InstalledFile, InstalledHooks } from './installed-hooks.ts'
import { hashOf, readSettings } from './settings-file.ts'

/** A change of one settings file. */
export interface SettingsChange {
  agent: AgentHooks
  place: HookScope
  /** As the agent names it, and without symbolic links: that file is written. */
  path: string
  realPath: string
  /** Null for a missing file. */
  before: string | null
  after: string | null
  /** What Casefile remembers of it, and is to remember; null if nothing of it is left. */
  known: InstalledFile | null
  record: InstalledFile | null
}

export interface ChangePlan {
  agent: AgentHooks
  place: HookScope
  path: string
  target: HookTarget
  records: InstalledHooks
}

export async function planInstall(plan: ChangePlan): Promise<SettingsChange> {
  const { agent, path, target } = plan
  const { realPath, before, base, known } = await withoutHooks(plan)
  const after = agent.add(base, path, target)
  return {
    agent,
    place: plan.place,
    path,
    realPath,
    before,
    after,
    known,
    record: {
      is_new: known?.is_new ?? before === null,
      is_folder_new: known?.is_folder_new ?? !(await isFolder(dirname(realPath))),
      hooks_sha256: hashOf(agent.find(after, path, target) ?? ''),
    },
  }
}

export async function planRemoval(plan: ChangePlan): Promise<SettingsChange> {
  const { realPath, before, base, known } = await withoutHooks(plan)
  const { agent, place, path } = plan
  // nothing else came into a file that was new
  const after = known?.is_new && /^\s*\{\s*\}\s*$/.test(base ?? '') ? null : base
  return { agent, place, path, realPath, before, after, known, record: null }
}

export async function carryOut(
  change: SettingsChange,
  records: InstalledHooks,
  trust: TrustFile,
): Promise<void> {
  const { realPath, before, after, known, record } = change
  await records.write(realPath, record)
  if (before === after) return
  if (after === null) {
    await removeFile(realPath)
    if (known?.is_folder_new) await removeEmptyFolder(dirname(realPath))
  } else {
    await makeFolder(dirname(realPath))
    await writeDurable(realPath, Buffer.from(after), {
      expect: before === null ? null : Buffer.from(before),
    })
  }
  await keepTrust(change, trust)
}

/**
 * A project file that an agent acts on needs the operator's trust. A change that they have just agreed to does not end
 * it; a file that they have not trusted stays so.
 */
async function keepTrust(
  { path, place, before, after }: SettingsChange,
  trust: TrustFile,
): Promise<void> {
  if (place === 'user') return
  const trusted = await trust.read()
  if (before !== null && trusted.files.get(path) !== hashOf(before)) return
  const files = new Map(trusted.files)
  if (after === null) files.delete(path)
  else files.set(path, hashOf(after))
  await trust.write({ ...trusted, files }, new Date().toISOString())
}

/** The settings with the hooks taken out. */
async function withoutHooks({ agent, path, target, records }: ChangePlan) {
  const { realPath, text: before } = await readSettings(path)
  const base = before === null ? null : agent.remove(before, path, target)
  return { realPath, before, base, known: await records.read(realPath) }
}
