/** The circumstances in which installed hooks are tried. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import { readRegular } from '../../../files/safe-read.ts'
import { stateFolders } from '../../../state/state-folder.ts'
import { openRunFolder } from '../../output/run-folder.ts'
import { findProgram } from '../../process/find-program.ts'
import { quoteForShell } from '../../shell-quote.ts'
import { CLIENT_SECRET, SYSTEM_FIRST } from '../hooks/hook-script.ts'
import { announceToHooks, hookFiles, newSecrets } from './hook-files.ts'
import { type HookFolders, setVariables } from './service-hooks.ts'

export interface Scene {
  /** What is wrong, as the end of "fails open when …"; null for a running service. */
  when: string | null
  /** What the hooks find there: not for opencode, whose plugin needs neither. */
  isOfShell: boolean
  /** A text of the settings that leads to this scene; only names of files change. */
  redirect(text: string): string
  env: Record<string, string>
}

export interface Scenes {
  served: Scene
  others: Scene[]
  /** A folder for files of the trial. */
  folder: string
  close(): Promise<void>
}

/** The hook's script needs these, besides curl. */
const PROGRAMS = ['cat', 'sleep']
const MAX_BYTES = 1024 * 1024

/** The hooks of agents go on meanwhile: each scene has copies of the files that the hooks read. */
export async function openScenes({ root, stateDir, environment }: HookFolders): Promise<Scenes> {
  const scratch = await openRunFolder(join(stateDir, 'scratch'), `hooks-test-${randomUUID()}`)
  const folder = scratch.path
  const files = hookFiles(stateDir)
  const env = setVariables({ ...environment, CLAUDE_PROJECT_DIR: root })
  const finder = join(stateFolders(environment), 'hook')
  const silent = createServer(() => {})
  const gone = createServer()
  const stranger = createHttpServer((_, response) => response.writeHead(204).end())
  const servers = [silent, gone, stranger]
  for (const server of servers) server.listen(0, '127.0.0.1')
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const urlOf = (server: typeof silent) =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const nowhere = urlOf(gone)
  gone.close()

  async function copies(
    name: string,
    url: string | null,
  ): Promise<Pick<Scene, 'redirect' | 'env'>> {
    const at = join(folder, name)
    const script = join(at, 'hook')
    const shared = join(at, 'casefile')
    await makeFolder(join(shared, 'hook-places'), 0o700)
    if (url !== null) {
      await copy(files.script, script)
      await copy(finder, join(shared, 'hook'))
      await writeDurable(join(shared, 'hook-places', 'test'), Buffer.from(`${root}\n\n${script}\n`))
      const address = { url, pid: process.pid, secrets: newSecrets(), header: CLIENT_SECRET }
      await announceToHooks(at, address)
    }
    return {
      redirect: (text) =>
        text
          .replaceAll(quoteForShell(files.script), quoteForShell(script))
          .replaceAll(JSON.stringify(files.url), JSON.stringify(join(at, 'url'))),
      env: { ...env, XDG_STATE_HOME: at },
    }
  }

  /** The service answers there, but nothing can ask it. */
  async function withoutCurl(): Promise<Pick<Scene, 'redirect' | 'env'>> {
    const scene = await copies('curl', nowhere)
    const at = scene.env.XDG_STATE_HOME!
    for (const name of ['headers', 'service', 'url']) {
      await copy(join(files.folder, name), join(at, name))
    }
    await copy(files.script, join(at, 'hook'), (text) => text.replace(SYSTEM_FIRST, ''))
    const PATH = await programsOnly(join(folder, 'bin'), env.PATH)
    return { ...scene, env: { ...scene.env, PATH } }
  }

  const same = (text: string) => text
  return {
    served: { when: null, isOfShell: false, redirect: same, env },
    others: [
      { when: 'no service runs', isOfShell: false, ...(await copies('stopped', nowhere)) },
      { when: 'the service hangs', isOfShell: false, ...(await copies('silent', urlOf(silent))) },
      {
        when: 'another program answers',
        isOfShell: false,
        ...(await copies('other', urlOf(stranger))),
      },
      { when: "Casefile's script is missing", isOfShell: true, ...(await copies('bare', null)) },
      {
        when: 'curl is missing',
        isOfShell: true,
        ...(await withoutCurl()),
      },
    ],
    folder,
    async close() {
      silent.close()
      stranger.close()
      await scratch.close()
    },
  }
}

/** A folder with the programs of the script, except for curl. */
async function programsOnly(folder: string, path: string | undefined): Promise<string> {
  await makeFolder(folder, 0o700)
  for (const name of PROGRAMS) {
    const program = await findProgram(name, { path, cwd: folder })
    if (program === null) continue
    const text = `#!/bin/sh\nexec ${quoteForShell(program)} "$@"\n`
    await writeDurable(join(folder, name), Buffer.from(text), { mode: 0o700 })
  }
  return folder
}

async function copy(from: string, to: string, edit = (text: string) => text): Promise<void> {
  const read = await readRegular(from, { maxBytes: MAX_BYTES })
  if (!read.ok) return
  await makeFolder(dirname(to), 0o700)
  await writeDurable(to, Buffer.from(edit(read.bytes.toString())), { mode: 0o600 })
}
