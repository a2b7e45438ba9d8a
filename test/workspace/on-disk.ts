import fs, { readdirSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type HeldSync, holdSyncs, notOnDisk } from '../fixtures/synced-disk.ts'

// not before the functions of the disk are watched
const { clientOf, finished, must, planned, step } = await import('../fixtures/session-client.ts')
const { openTestService } = await import('../fixtures/workspace.ts')
const { makeMemoryRoot } = await import('../../src/workspace/case-making.ts')
const { writeNewFile } = await import('../../src/files/new-file.ts')
const { layoutOf } = await import('../../src/workspace/layout.ts')
const { failCommits, rowsOnDisk } = await import('../fixtures/state-rows.ts')

/** Holds up all syncs of some paths; those that came, in order. */
function holding(t: Test, of: (path: string) => boolean) {
  const held: HeldSync[] = []
  let onNews = () => {}
  const stop = holdSyncs(of, (sync) => {
    held.push(sync)
    onNews()
  })
  t.teardown(stop)
  return {
    stop,
    async next(): Promise<HeldSync> {
      while (held.length === 0) {
        await new Promise<void>((resolve) => {
          onNews = resolve
        })
      }
      return held.shift()!
    },
  }
}

t.test('whatever is answered is on the disk, file and folder', async (t) => {
  const app = await openTestService(t)
  const client = clientOf(() => app.url)
  const cases = join(app.memory, 'cases')
  // what a run printed is on the disk at its end, and no part of an answer before
  const isRecord = (path: string) => !/\/artifacts|\/history\.md$/.test(path)
  const linesOnDisk = () => rowsOnDisk(app.stateDir, 'SELECT text FROM history_pending')
  async function holds(what: string, asked: Promise<unknown>): Promise<void> {
    await asked
    t.strictSame(notOnDisk(cases, isRecord), [], what)
  }
  const { id } = await app.newCase()
  const path = `/cases/${id}`
  await holds('a new case', Promise.resolve())
  await holds('other fields', must(client, 'PUT', path, { title: 'T', tags: ['a'] }))
  t.match(
    linesOnDisk(),
    [{ text: 'edited title, tags' }],
    'its line is a row, until history.md is synced',
  )
  await holds('another state', must(client, 'PUT', `${path}/state`, { state: 'BLOCKED' }))
  await holds('a new memory file', must(client, 'PUT', `${path}/memory/notes.md`, 'One\n'))
  await holds('a changed one', must(client, 'PUT', `${path}/memory/notes.md`, 'Two\n'))
  const proof = await must(client, 'POST', `${path}/proof`, { type: 'log', content: 'x' })
  await holds('a proof', Promise.resolve())
  await holds('its verification', must(client, 'PUT', `${path}/proof/${proof.id}/verify`))
  const item = { description: 'An item', type: 'log', required: true }
  await holds('an item', must(client, 'POST', `${path}/proof/checklist`, item))
  await finished(client, await planned(client, { runbook: step('echo hello') }))
  await holds('a run', Promise.resolve())
  const hook = { url: 'http://127.0.0.1:65000/hook', events: ['case_deleted'] }
  const { id: added } = await must(client, 'POST', `${path}/webhooks`, hook)
  t.equal(rowsOnDisk(app.stateDir, `SELECT id FROM webhooks WHERE id = '${added}'`).length, 1)
  await holds('a case that is deleted', must(client, 'DELETE', path))
})

t.test('a memory root that was made is on the disk, and so are its folders', async (t) => {
  const root = t.testdir()
  const layout = layoutOf(root, join(root, 'a', 'memory'))
  await makeMemoryRoot(layout)
  t.strictSame(notOnDisk(root), [])
})

t.test('an answer waits for its events, and a change for the database', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const ways: [name: string, method: string, path: string, body: object | string][] = [
    ['a title', 'PUT', `/cases/${id}`, { title: 'New' }],
    ['a state', 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' }],
    ['a memory file', 'PUT', `/cases/${id}/memory/notes.md`, 'x'],
    ['a proof', 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' }],
  ]
  for (const [name, method, path, body] of ways) {
    const { last } = app.service.eventLog
    t.ok((await app.request(method, path, body)).status < 300)
    const events = rowsOnDisk(app.stateDir, `SELECT id FROM events WHERE id > ${last}`)
    t.ok(events.length > 0, `the event of ${name} is there when it is answered`)
  }

  const undo = failCommits(app.stateDir)
  const { last } = app.service.eventLog
  const late = await app.request('PUT', `/cases/${id}/state`, { state: 'WATCHLIST' })
  t.match(late, { status: 200, json: { state: 'WATCHLIST' } }, 'what the file has is made')
  const health = async () => (await app.request('GET', '/health')).json
  t.match(await health(), {
    status: 'failing',
    problems: [{ code: 'not_writable', file: 'casefile.db', message: /wait with their events/ }],
  })
  const before = readFileSync(app.file(id, 'case.md'), 'utf8')
  for (const [name, method, path, body] of ways) {
    const { status, json } = await app.request(method, path, body)
    t.match([status, json.code], [500, 'storage_failed'], `${name} is refused`)
  }
  t.equal(readFileSync(app.file(id, 'case.md'), 'utf8'), before, 'before anything is changed')
  t.equal(readdirSync(app.file(id, 'proof')).length, 1)
  undo()
  t.equal((await app.request('PUT', `/cases/${id}`, { title: 'Newer' })).status, 200)
  const events = `SELECT type FROM events WHERE id > ${last} AND type LIKE 'case_%' ORDER BY id`
  t.match(rowsOnDisk(app.stateDir, events), [{ type: 'case_state_changed' }, { type: /updated/ }])
  t.match(await health(), { status: 'ok' })
})

t.test('a line of the trail is told once its folder is synced', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const reported: string[] = []
  t.teardown(app.service.eventLog.subscribe(({ type }) => void reported.push(type)))
  await app.request('PUT', `/cases/${id}/memory/notes.md`, 'x') // makes no folder of its own
  reported.length = 0
  const { next, stop } = holding(t, (path) => path.endsWith(`${id}/sessions`))
  const answer = app.request('POST', `/cases/${id}/sessions`, { type: 'implementing' })
  const sync = await next()
  t.equal((await app.newCase()).state, 'OPEN')
  t.ok(reported.includes('case_created'), 'another case is told meanwhile')
  t.notOk(reported.includes('session_created'))
  stop()
  sync.letGo()
  t.equal((await answer).status, 201)
  t.ok(reported.includes('session_created'))
})

t.test('a disk that says more was written than was is not believed', async (t) => {
  const path = join(t.testdir(), 'new.md')
  const { writeSync } = fs
  fs.writeSync = ((fd: number, bytes: Buffer, offset: number, length: number, at: number) => {
    writeSync(fd, bytes, offset, length - 1, at)
    return length
  }) as typeof writeSync
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
  })
  await t.rejects(writeNewFile(path, Buffer.from('abc'), {}), { code: 'EIO' })
  t.notOk(fs.existsSync(path))
})
