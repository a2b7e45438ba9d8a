import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { renameSync, symlinkSync } from 'node:fs'
import {
  appendFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contentHash } from '../../src/markdown/proof-file.ts'
import type { Decide } from '../../src/model/case-contents.ts'
import { attachProof, verifyProof } from '../../src/model/decide-proof.ts'
import { leftovers } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import { openTestService, type Reply, type TestService } from '../fixtures/workspace.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'
const app = await openTestService(t)

/** What every error must be, whoever caused it (RFC 9457, reliability HS-11). */
function faultOf(app: TestService, reply: Reply): string | null {
  if (reply.status >= 500) return `status ${reply.status}`
  if (reply.status < 400) return null
  const type = reply.headers['content-type']
  if (type !== 'application/problem+json') return `content type ${type}`
  if (reply.text === '') return null // of a HEAD
  const { json } = reply
  for (const key of ['type', 'title', 'detail']) {
    if (typeof json[key] !== 'string' || json[key] === '') return `no ${key}`
  }
  if (json.status !== reply.status) return `status ${json.status} in the body`
  if (reply.status === 400 && !Array.isArray(json.errors)) return 'no errors'
  for (const secret of [app.root, app.stateDir, process.cwd(), '/node_modules/', '.ts:', '.js:']) {
    if (reply.text.includes(secret)) return `it tells ${secret}`
  }
  return null
}

// What a request may be made of. Random ones are in fuzz.ts.

t.test('no method of HTTP is a failure on any path', async (t) => {
  const { id } = await app.newCase()
  // CONNECT opens a tunnel: there is no answer to read
  for (const method of METHODS.filter((name) => name !== 'CONNECT' && name !== 'DELETE')) {
    const path = `/cases/${id}/memory/x.md`
    t.equal(faultOf(app, await app.request(method, path)), null, method)
  }
  t.strictSame(app.log, [])
})

// A folder that changes under our hands

t.test('a link that is swapped in and out again leads nowhere', async (t) => {
  const { id } = await app.newCase()
  const outside = join(app.stateDir, 'outside')
  await mkdir(outside)
  for (const name of ['notes.md', 'case.md', '1.md']) await writeFile(join(outside, name), 'secret')
  const [folder, aside] = [app.file(id), `${app.file(id)}.aside`]
  let done = false
  const swapping = (async () => {
    while (!done) {
      await rename(folder, aside)
      await symlink(outside, folder)
      await rm(folder)
      await rename(aside, folder)
    }
  })()
  for (let n = 0; n < 15; n++) {
    const get = await app.request('GET', `/cases/${id}/memory/notes.md`)
    const put = await app.request('PUT', `/cases/${id}/memory/notes.md`, 'mine')
    if (get.text.includes('secret') || put.text.includes('secret')) t.fail('it was read')
    for (const reply of [get, put]) {
      const fault = faultOf(app, reply)
      if (fault) t.fail(fault)
    }
  }
  done = true
  await swapping
  t.strictSame(await readdir(outside), ['1.md', 'case.md', 'notes.md'], 'nothing was written there')
  t.strictSame(app.log, [])
})

t.test('a change is not written through a link that came while it was decided', async (t) => {
  const now = new Date().toISOString()
  const wanted = {
    id: randomUUID(),
    type: 'log',
    content: 'x',
    exit_code: null,
    picture: null,
    counted: {
      sha256: contentHash('x'),
      image: null,
      tests: null,
      failed_tests: [],
      flaky_tests: [],
      unread: null,
    },
  }
  const { id } = await app.newCase()
  const proof = await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  const edits: [folder: string, decide: Decide][] = [
    ['', () => [{ file: 'case', edit: { fields: { title: 'Theirs' } } }]],
    [
      'proof',
      (folder) =>
        verifyProof(folder, proof.json.id, {
          counted: wanted.counted,
          accept: null,
          by: 'Ada',
          now,
        }),
    ],
    ['proof', (folder) => attachProof(folder, wanted, now)],
  ]
  for (const [n, [name, decide]] of edits.entries()) {
    const [folder, aside] = [join(app.file(id), name), join(app.stateDir, 'aside')]
    const outside = join(app.stateDir, `outside-${n}`)
    await cp(folder, outside, { recursive: true })
    const before = await contentsOf(outside)
    let isSwapped = false
    const changed = app.service.store.update(id, (present) => {
      const found = decide(present)
      if (!isSwapped) {
        renameSync(folder, aside)
        symlinkSync(outside, folder)
      }
      isSwapped = true
      return found
    })
    await t.rejects(changed, { name: 'AppError' })
    t.strictSame(await contentsOf(outside), before)
    await rm(folder)
    await rename(aside, folder)
  }
})

t.test(
  'no folder of a case is followed where it is a link, whatever its target is called',
  async (t) => {
    const { id } = await app.newCase()
    // the neighbour's folder begins with the name of the case
    for (const outside of [join(app.stateDir, 'elsewhere'), `${app.file(id)}-old`]) {
      const secrets = { sessions: '1.md', proof: `${NOBODY}.md`, artifacts: '1-x.log' }
      for (const [name, file] of Object.entries(secrets)) {
        await mkdir(join(outside, name), { recursive: true })
        await writeFile(join(outside, name, file), 'secret')
        await symlink(join(outside, name), app.file(id, name))
      }
      await symlink(join(outside, 'sessions/1.md'), app.file(id, 'notes.md'))
      const before = await contentsOf(outside)
      const asked: [method: string, path: string, body?: object | string][] = [
        ['GET', '/memory'],
        ['GET', '/memory/1.md'],
        ['GET', '/memory/notes.md'],
        ['PUT', '/memory/notes.md', 'mine'],
        ['PUT', '/memory/1.md', 'mine'],
        ['GET', '/sessions'],
        ['POST', '/sessions', { type: 'planning' }],
        ['GET', '/proof'],
        ['GET', `/proof/${NOBODY}`],
        ['PUT', `/proof/${NOBODY}/verify`],
        ['POST', '/proof', { type: 'log', content: 'x' }],
        ['POST', '/proof', { artifact: '1-x.log' }],
        ['GET', '/report?format=md'],
        ['GET', ''],
      ]
      for (const [method, path, body] of asked) {
        const reply = await app.request(method, `/cases/${id}${path}`, body)
        t.notMatch(reply.text, 'secret', `${method} ${path}`)
        t.equal(faultOf(app, reply), null, `${method} ${path}`)
        if (method !== 'GET') t.ok(reply.status >= 400, `${method} ${path}: ${reply.status}`)
      }
      t.strictSame(await contentsOf(outside), before)
      for (const name of [...Object.keys(secrets), 'notes.md']) await rm(app.file(id, name))
    }
  },
)

async function contentsOf(folder: string): Promise<[string, string][]> {
  const names = (await filesIn(folder)).sort()
  const read = (name: string) => readFile(join(folder, name), 'utf8').catch(() => 'within')
  return Promise.all(names.map(async (name): Promise<[string, string]> => [name, await read(name)]))
}

// A full disk

/** Mounts a file system of 1 MiB on the memory root, or skips with the reason why it cannot. */
function mountSmall(t: Test, folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    t.pass('no tmpfs can be mounted here', { skip: String(error).split('\n')[0] ?? 'no mount' })
    return false
  }
  t.teardown(() => execFileSync('umount', [folder]))
  return true
}

/** Appends to a file until nothing fits on its disk any more. */
async function fillUp(filler: string): Promise<void> {
  await appendFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch((error) => {
    if (error.code !== 'ENOSPC') throw error
  })
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((each) => each.isFile()).map((each) => each.name)
}

t.test(
  'on a full disk a write is 507, nothing is lost, and the service lives',
  inLongLane,
  async (t) => {
    t.teardown(() => {}) // see openTestService
    const folder = t.testdir()
    if (!mountSmall(t, folder)) return
    await t.test('there', async (t) => {
      const app = await openTestService(t, { memoryRoot: folder })
      const { id } = await app.newCase({ title: 'Kept', description: 'x'.repeat(8000) })
      await app.request('PUT', `/cases/${id}/memory/notes.md`, 'mine')
      const proof = await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
      const before = (await app.request('GET', `/cases/${id}`)).json
      const files = await filesIn(join(folder, 'cases'))
      const filler = join(folder, 'filler')
      // again before each request: what the service replaces meanwhile frees a page
      const path = `/cases/${id}`
      const writes: [string, string, (object | string)?][] = [
        ['POST', '/cases', { title: 'New' }],
        ['PUT', path, { title: 'New', description: 'y'.repeat(9000) }],
        ['PUT', `${path}/state`, { state: 'BLOCKED' }],
        ['POST', `${path}/proof`, { type: 'log', content: 'y'.repeat(9000) }],
        ['PUT', `${path}/proof/${proof.json.id}/verify`],
        ['POST', `${path}/proof/checklist`, { description: 'New', type: 'log' }],
        ['PUT', `${path}/memory/notes.md`, 'theirs'.repeat(2000)],
        ['PUT', `${path}/memory/other.md`, 'theirs'.repeat(2000)],
        ['POST', `${path}/sessions`, { type: 'planning' }],
      ]
      for (const [method, where, body] of writes) {
        await fillUp(filler)
        const reply = await app.request(method, where, body)
        t.equal(reply.status, 507, `${method} ${where}: ${reply.text}`)
        t.match(reply.json, { code: 'storage_full', detail: /Free space/ })
        t.notMatch(reply.text, folder)
      }
      t.strictSame((await app.request('GET', path)).json, before)
      t.equal((await app.request('GET', `${path}/memory/notes.md`)).text, 'mine')
      t.match((await app.request('GET', `${path}/proof`)).json, [{ content: 'x', verified: false }])
      await rm(filler)
      t.strictSame(await filesIn(join(folder, 'cases')), files, 'no half of a file is left')
      t.strictSame(await leftovers(folder), [], 'nor beside the cases')

      for (const [method, where, body] of writes) {
        t.match((await app.request(method, where, body)).status, /^20[01]$/, `${method} ${where}`)
      }
    })
  },
)
