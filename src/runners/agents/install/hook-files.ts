/** What the hooks of agents read in the state folder: the script, and the address of the running service. */

import { createHash, randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { makeFolder, writeDurable, writeVolatile } from '../../../files/durable-write.ts'
import { removeFile } from '../../../files/remove-file.ts'
import { readRegular } from '../../../files/safe-read.ts'
import { stateFolders } from '../../../state/state-folder.ts'

export interface HookFiles {
  folder: string
  /** The script that the agents' settings name. */
  script: string
  /** One line, the base URL; missing while no service runs. */
  url: string
}

/** How a hook knows that the service answers, and the service that a hook asks. New with each start. */
export interface HookSecrets {
  client: string
  server: string
}

export function newSecrets(): HookSecrets {
  const [client, server] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('hex'))
  return { client: client!, server: server! }
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

export interface HookAddress {
  url: string
  /** Of the service: a hook sends nothing to another process that has its port. */
  pid: number
  secrets: HookSecrets
  /** The name of the header that has the client's secret. */
  header: string
}

/** Tells the hooks in this folder where the service answers, and how they know it. */
export async function announceToHooks(
  folder: string,
  { url, pid, secrets, header }: HookAddress,
): Promise<void> {
  await makeFolder(folder, 0o700)
  const write = (name: string, text: string) =>
    writeVolatile(join(folder, name), Buffer.from(text), 0o600)
  await write('headers', `${header}: ${secrets.client}\n`)
  await write('service', `${pid} ${secrets.server}\n`)
  await write('url', `${url}\n`)
}

/** Call this before the service stops answering: another program may then listen on its port. */
export async function withdrawFromHooks(stateDir: string): Promise<void> {
  await removeFile(hookFiles(stateDir).url)
}

const MAX_BYTES = 64 * 1024
