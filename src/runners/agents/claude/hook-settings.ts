import { join } from 'node:path'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import type { HookGroup } from '../install/json-hooks.ts'

/** Writes settings with these hooks, and gives the arguments for them. */
export async function settingsArguments(
  folder: string,
  name: string,
  groups: readonly HookGroup[],
): Promise<string[]> {
  const hooks = Object.fromEntries(groups.map(({ event, group }) => [event, [group]]))
  await makeFolder(folder, 0o700)
  const path = join(folder, name)
  await writeDurable(path, Buffer.from(`${JSON.stringify({ hooks }, null, 2)}\n`), { mode: 0o600 })
  return ['--settings', path]
}
