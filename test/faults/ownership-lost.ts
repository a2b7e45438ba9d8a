import { closeSync, ftruncateSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { thisProcess } from '../../src/state/owner/owner-file.ts'
import { leftovers, startBuilt } from '../fixtures/built-service.ts'
import { isFull } from '../fixtures/full.ts'
import { filesBelow, isOnItsWay } from '../fixtures/paths-below.ts'
import { must, newSession, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const SLEEP_MS = isFull ? 30_000 : 1500

/** Each file below a folder with its bytes. */
function contents(folder: string): Record<string, string> {
  const files = [...filesBelow(folder)].filter(({ path }) => !isOnItsWay(basename(path)))
  return Object.fromEntries(files.map(({ path, bytes }) => [path, bytes.toString('latin1')]))
}

/** What another machine does that shares the folder and found no owner. */
async function takeFromElsewhere(stateDir: string): Promise<void> {
  const record = { ...thisProcess(), host: 'elsewhere', pid: 77 }
  await mkdir(join(stateDir, 'owner.lock'), { recursive: true })
  const then = Date.now() / 1000 - 1
  await utimes(join(stateDir, 'owner.lock'), then, then)
  await writeFile(join(stateDir, 'owner.json'), JSON.stringify(record))
}

// The lock is looked at every 5 s: what waits for that waits side by side.
t.test('an owner', { jobs: 3, buffered: true }, async (t) => {
  t.test('nothing is written once another machine owns the files', async (t) => {
    const app = await openTestService(t, { mount: false })
    const ref = await planned(app, { runbook: step('true') })
    const path = `/cases/${ref.case_id}`
    const proof = await must(app, 'POST', `${path}/proof`, { type: 'log', content: 'x' })
    await takeFromElsewhere(app.stateDir)
    // the lock is looked at every 5 s; until then the one who took it has not begun either
    let refused = await app.request('PUT', path, { title: 'Ours' })
    for (; refused.status === 200; await delay(100)) {
      refused = await app.request('PUT', path, { title: 'Ours' })
    }
    t.match(refused, { status: 409, json: { code: 'already_active', detail: /elsewhere/ } })
    const before = contents(app.memory)

    for (const [method, of, body] of [
      ['POST', '/cases', { title: 'New' }],
      ['PUT', path, { title: 'Again' }],
      ['PUT', `${path}/state`, { state: 'BLOCKED' }],
      ['PUT', `${path}/memory/notes.md`, 'text'],
      ['PUT', `${path}/memory/runbook.md`, 'other'],
      ['POST', `${path}/proof`, { type: 'log', content: 'y' }],
      ['PUT', `${path}/proof/${proof.id}/verify`, undefined],
      ['POST', `${path}/proof/checklist`, { description: 'It works', type: 'log', required: true }],
      ['POST', `${path}/sessions`, { type: 'planning' }],
      ['PUT', `${ref.path}/plan`, { plan: 'other' }],
      ['POST', `${ref.path}/approve`, undefined],
      ['POST', `${ref.path}/abandon`, {}],
      ['DELETE', path, undefined],
    ] as const) {
      const { status, json } = await app.request(method, of, body)
      t.match(
        { status, code: json.code },
        { status: 409, code: 'already_active' },
        `${method} ${of}`,
      )
    }
    t.equal((await app.request('GET', path)).status, 200, 'what is there is served')
    await app.service.lateSaves.idle()
    t.strictSame(contents(app.memory), before)
    t.strictSame(await leftovers(app.memory), [])
  })

  t.test('what a person saved into a replaced file is kept beside it', async (t) => {
    const app = await openTestService(t)
    const { id } = await app.newCase()
    const path = app.file(id, 'case.md')
    const theirs = readFileSync(path, 'utf8').replace(/^title:.*$/m, 'title: Theirs')
    await takeFromElsewhere(app.stateDir)
    // an editor has each file open that loses its name; it saves when the ownership is lost
    let displaced = -1
    for (let n = 0; ; n++) {
      const open = openSync(path, 'r+')
      const { status } = await app.request('PUT', `/cases/${id}`, { title: `Ours ${n}` })
      if (status !== 200) {
        closeSync(open)
        break
      }
      if (displaced !== -1) closeSync(displaced)
      displaced = open
      await delay(50)
    }
    const before = contents(app.memory)
    ftruncateSync(displaced)
    writeSync(displaced, theirs, 0)
    closeSync(displaced)
    await app.service.lateSaves.idle()
    const added = Object.entries(contents(app.memory)).filter(([name]) => !(name in before))
    t.match(added, [[/case\.conflict-/, theirs]], 'a copy beside the file, for who owns it now')
    t.strictSame(contents(app.memory), { ...before, ...Object.fromEntries(added) })
  })

  t.test('a service that slept goes on', async (t) => {
    t.teardown(() => {})
    const dir = t.testdir({ root: {}, state: {} })
    const service = await startBuilt(t, { root: join(dir, 'root'), stateDir: join(dir, 'state') })
    const { id } = await must(service, 'POST', '/cases', { title: 'Awake' })
    process.kill(service.pid, 'SIGSTOP')
    const file = join(dir, 'root', 'memory', 'cases', id, 'case.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('Awake', 'Saved meanwhile'))
    await delay(SLEEP_MS)
    process.kill(service.pid, 'SIGCONT')
    t.match(await must(service, 'GET', `/cases/${id}`), { title: 'Saved meanwhile' })
    await must(service, 'PUT', `/cases/${id}`, { description: 'It still writes.' })
    await newSession(service, id)
    const { stderr } = await service.stop()
    t.equal(stderr, '')
  })
})

t.test('a clock that is set by an hour takes no ownership away', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const real = Date.now
  t.teardown(() => {
    Date.now = real
  })
  for (const hours of isFull ? [1, -1, 1, -1] : [1]) {
    Date.now = () => real() + hours * 3_600_000
    // long enough for the lock to be looked at
    await delay(6000)
    const { status } = await app.request('PUT', `/cases/${id}`, { title: `By ${hours} hours` })
    t.equal(status, 200)
  }
})
