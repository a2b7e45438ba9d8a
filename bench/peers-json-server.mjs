import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, installPeer, newFolder, startPeer } from './peers-process.mjs'

/** @import { Start } from './peers.mjs' */

const SPEC = 'json-server@0.17.4'

/** json-server on a file with all cases. @type {Start} */
export async function startJsonServer({ cases, parent, onEnd }) {
  const installed = await installPeer(SPEC, parent, onEnd)
  if ('missing' in installed) return installed
  const folder = newFolder(parent, onEnd)
  writeFileSync(join(folder, 'db.json'), JSON.stringify({ cases }))
  const port = await freePort()
  const program = join(installed.folder, 'json-server', 'lib', 'cli', 'bin.js')
  const peer = await startPeer({
    command: process.execPath,
    folder,
    onEnd,
    args: [program, 'db.json', '--host', '127.0.0.1', '--port', String(port), '--quiet'],
    url: `http://127.0.0.1:${port}`,
    list: '/cases',
    count: cases.length,
  })
  return {
    ...peer,
    requests: {
      get: (index) => ['GET', `/cases/${cases[index]?.id}`],
      list: () => ['GET', '/cases'],
      create: (texts) => ['POST', '/cases', { ...cases[0], id: crypto.randomUUID(), ...texts }],
      update: (index, title) => ['PATCH', `/cases/${cases[index]?.id}`, { title }],
    },
  }
}
