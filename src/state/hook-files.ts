/** What the hooks of agents read in the state folder: the script, and the address of the running service. */

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { makeFolder, writeDurable } from '../files/durable-write.ts'
import { removeFile } from '../files/remove-file.ts'
import { readRegular } from '../files/safe-read.ts'
import { stateFolders } from './state-folder.ts'

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

export async function writeHookScript(stateDir: string, text: string): Promise<void> {
  await writeIfDifferent(hookFiles(stateDir).script, text)
}

export interface HookWorkspace {
  root: string
  /** The git folder that its working trees share; null without a repository. */
  gitFolder: string | null
  stateDir: string
}

/** Lets hooks in settings that many people share find the workspace; `finder` is the text of their script. */
export async function writeHookFinder(
  { root, gitFolder, stateDir }: HookWorkspace,
  finder: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const all = stateFolders(environment)
  const key = createHash('sha256').update(stateDir).digest('hex').slice(0, 16)
  const lines = [root, gitFolder ?? '', hookFiles(stateDir).script]
  await writeIfDifferent(join(all, 'hook-places', key), `${lines.join('\n')}\n`)
  await writeIfDifferent(join(all, 'hook'), finder)
}

async function writeIfDifferent(path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const present = await readRegular(path, { maxBytes: MAX_BYTES })
  if (present.ok && present.bytes.equals(bytes)) return
  await makeFolder(dirname(path), 0o700)
  await writeDurable(path, bytes, { mode: 0o600 })
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
