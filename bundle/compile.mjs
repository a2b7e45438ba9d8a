/**
 * Runs the built program once for what is done most, so that V8 leaves in dist/ what it compiled. The next
 * start reads that, if its Node has the same V8 and the same flags for it; if not, it is only slower.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What a service is asked as soon as somebody works with it. */
const ASKED = ['/health', '/cases', '/triage', '/']

/** Takes what `bundle.mjs` made in `dist`. */
export async function compile(root) {
  const home = await mkdtemp(join(tmpdir(), 'casefile-build-'))
  try {
    const workspace = join(home, 'workspace')
    await cp(resolve(root, 'sample-workspace'), workspace, { recursive: true })
    const where = ['--root', workspace, '--state-dir', join(home, 'state')]
    const start = (...args) => program(root, home, [...args, ...where])
    const made = JSON.parse(await ended(start('new', 'Sign-in fails', '--json')))
    for (let time = 0; time < 2; time++) {
      await served(start('serve', '--port', '0', '--no-mount', '--json'), made)
    }
    await ended(start('list'))
    await ended(start('show', made.id))
  } finally {
    await rm(home, { recursive: true })
  }
}

function program(root, home, args) {
  const paths = ['bundle/record.cjs', 'dist/cli.js'].map((path) => resolve(root, path))
  return spawn(process.execPath, ['--require', ...paths, ...args], {
    env: { PATH: process.env.PATH, HOME: home }, // no option of the build is one of later runs
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Calls back with the first line that it prints, and gives all of that when it has ended. */
async function ended(child, first = () => {}) {
  let said = ''
  let complained = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complained += text
  })
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (!said.includes('\n') && text.includes('\n')) first(said + text)
    said += text
  })
  const [code] = await once(child, 'close')
  if (code === 0) return said
  throw new Error(`${child.spawnargs.join(' ')} ended with ${code}: ${complained}`)
}

async function served(child, { id }) {
  const line = new Promise((resolve, reject) => ended(child, resolve).then(reject, reject))
  const { url } = JSON.parse(await line)
  for (const path of [...ASKED, `/cases/${id}`, `/case/${id}`]) {
    const answer = await fetch(url + path)
    if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}`)
    await answer.arrayBuffer()
  }
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}
