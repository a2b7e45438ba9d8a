/** What the hooks of agents read in the state folder: the script, and the address of the running service. */

import { join } from 'node:path'
import { makeFolder, writeDurable } from '../files/durable-write.ts'
import { removeFile } from '../files/remove-file.ts'
import { readRegular } from '../files/safe-read.ts'

export interface HookFiles {
  folder: string
  /** The script that the agents' settings name. */
  script: string
  /** One line, the base URL; missing while no service runs. */
  url: string
}

export function hookFiles(stateDir: string): HookFiles {
  const folder = join(stateDir, 'hooks')
  return { folder, script: join(folder, 'hook'), url: join(folder, 'url') }
}

/** Writes the script if it differs. */
export async function writeHookScript(stateDir: string, text: string): Promise<void> {
  const { folder, script } = hookFiles(stateDir)
  const bytes = Buffer.from(text)
  const present = await readRegular(script, { maxBytes: MAX_BYTES })
  if (present.ok && present.bytes.equals(bytes)) return
  await makeFolder(folder, 0o700)
  await writeDurable(script, bytes, { mode: 0o600 })
}

/** Tells the hooks where the service answers. */
export async function announceToHooks(stateDir: string, url: string): Promise<void> {
  const { folder, url: path } = hookFiles(stateDir)
  await makeFolder(folder, 0o700)
  await writeDurable(path, Buffer.from(`${url}\n`), { mode: 0o600 })
}

/** Call this before the service stops answering: another program may then listen on its port. */
export async function withdrawFromHooks(stateDir: string): Promise<void> {
  await removeFile(hookFiles(stateDir).url)
}

const MAX_BYTES = 64 * 1024
