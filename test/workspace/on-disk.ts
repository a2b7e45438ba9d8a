import fs, { readdirSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type HeldSync, hasName, holdSyncs, notOnDisk } from '../fixtures/synced-disk.ts'

// not before the functions of the disk are watched
const { clientOf, finished, must, planned, step } = await import('../fixtures/session-client.ts')
const { openTestService } = await import('../fixtures/workspace.ts')
const { makeMemoryRoot } = await import('../../src/workspace/case-making.ts')
const { writeNewFile } = await import('../../src/files/new-file.ts')
const { layoutOf } = await import('../../src/workspace/layout.ts')
const { openEventLog } = await import('../../src/workspace/log/event-log.ts')

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

const isLog = (path: string) => /\d\.jsonl$/.test(path)

t.test('whatever is answered is on the disk, file and folder', async (t) => {
  const app = await openTestService(t)
  const client = clientOf(() => app.url)
  const cases = join(app.memory, 'cases')
  // what a run printed is on the disk at its end, and no part of an answer before
  const isRecord = (path: string) => !path.includes('/artifacts')
  async function holds(what: string, asked: Promise<unknown>): Promise<void> {
    await asked
    t.strictSame(notOnDisk(cases, isRecord), [], what)
    t.strictSame(notOnDisk(join(app.stateDir, 'log')), [], `${what}: its events`)
  }
  for (let round = 0; round < 3; round++) {
    const { id } = await app.newCase()
    const path = `/cases/${id}`
    await holds('a new case', Promise.resolve())
    await holds('other fields', must(client, 'PUT', path, { title: `T ${round}`, tags: ['a'] }))
    await holds('another state', must(client, 'PUT', `${path}/state`, { state: 'BLOCKED' }))
    await holds('a new memory file', must(client, 'PUT', `${path}/memory/notes.md`, 'One\n'))
    await holds('a changed one', must(client, 'PUT', `${path}/memory/notes.md`, 'Two\n'))
    const proof = await must(client, 'POST', `${path}/proof`, { type: 'log', content: 'x' })
    await holds('a proof', Promise.resolve())
    await holds('its verification', must(client, 'PUT', `${path}/proof/${proof.id}/verify`))
    const item = { description: 'An item', type: 'log', required: true }
    await holds('an item', must(client, 'POST', `${path}/proof/checklist`, item))
    const ref = await planned(client, { runbook: step('echo hello') })
    await finished(client, ref)
    t.strictSame(notOnDisk(cases, isRecord), [], 'a run')
    const hook = { url: 'http://127.0.0.1:65000/hook', events: ['case_deleted'] }
    await holds('a webhook', must(client, 'POST', `${path}/webhooks`, hook))
    const third = (await app.newCase()).id
    await holds('a case that is deleted', must(client, 'DELETE', `/cases/${third}`))
  }
})

t.test('a memory root that was made is on the disk, and so are its folders', async (t) => {
  const root = t.testdir()
  const layout = layoutOf(root, join(root, 'a', 'memory'))
  await makeMemoryRoot(layout)
  t.strictSame(notOnDisk(root), [])
})

t.test('each file that the event log begins is on the disk with its first entry', async (t) => {
  const folder = join(t.testdir(), 'log')
  const log = await openEventLog(folder, { checkpoint: () => [], log: () => {}, segmentBytes: 200 })
  for (let n = 0; n < 5; n++) {
    log.append({ events: [{ type: 'x', envelope: 'x'.repeat(100) }], marks: {} })
    await log.flushed()
    const files = readdirSync(folder).filter(isLog)
    t.ok(
      files.every((name) => hasName(join(folder, name))),
      'with its name',
    )
    t.strictSame(notOnDisk(folder, isLog), [])
  }
  t.ok(readdirSync(folder).filter(isLog).length > 2)
  await log.close()
})

t.test('an answer waits for its events, and a change for the event log', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const ways: [name: string, method: string, path: string, body: object | string][] = [
    ['a title', 'PUT', `/cases/${id}`, { title: 'New' }],
    ['a state', 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' }],
    ['a memory file', 'PUT', `/cases/${id}/memory/notes.md`, 'x'],
    ['a proof', 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' }],
  ]
  for (const [name, method, path, body] of ways) {
    const { next, stop } = holding(t, isLog)
    let isAnswered = false
    const answer = app.request(method, path, body).finally(() => {
      isAnswered = true
    })
    const sync = await next()
    await app.request('GET', `/cases/${id}`) // whoever asks later is answered before
    t.equal(isAnswered, false, `${name} waits`)
    stop()
    sync.letGo()
    t.ok((await answer).status < 300)
  }

  const stop = holdSyncs(isLog, (each) => each.fail('EIO'))
  t.teardown(stop)
  await app.request('PUT', `/cases/${id}/state`, { state: 'WATCHLIST' })
  const before = readFileSync(app.file(id, 'case.md'), 'utf8')
  for (const [name, method, path, body] of ways) {
    const { status, json } = await app.request(method, path, body)
    t.match([status, json.code], [500, 'storage_failed'], `${name} is refused`)
  }
  t.equal(readFileSync(app.file(id, 'case.md'), 'utf8'), before, 'before anything is changed')
  t.equal(readdirSync(app.file(id, 'proof')).length, 1)
  stop()
  t.equal((await app.request('PUT', `/cases/${id}`, { title: 'New' })).status, 200)
})

t.test('a line of the trail is told once its folder is synced', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const told: string[] = []
  t.teardown(app.service.eventLog.subscribe(({ type }) => void told.push(type)))
  await app.request('PUT', `/cases/${id}/memory/notes.md`, 'x') // makes no folder of its own
  await finished(
    clientOf(() => app.url),
    await planned(clientOf(() => app.url)),
  )
  told.length = 0
  const { next, stop } = holding(t, (path) => path.endsWith(`${id}/sessions`))
  const answer = app.request('POST', `/cases/${id}/sessions`, { type: 'implementing' })
  const sync = await next()
  t.equal((await app.newCase()).state, 'OPEN')
  t.ok(told.includes('case_created'), 'another case is told meanwhile')
  t.notOk(told.includes('session_created'))
  stop()
  sync.letGo()
  t.equal((await answer).status, 201)
  t.ok(told.includes('session_created'))
})

t.test('a checkpoint waits for the entries that it stands for', async (t) => {
  const folder = join(t.testdir(), 'log')
  const marks = new Map<string, string>()
  const log = await openEventLog(folder, {
    ...{ checkpoint: () => marks, log: () => {}, segmentBytes: 100 },
  })
  const append = (key: string) => {
    marks.set(key, key)
    log.append({ events: [{ type: 'x', envelope: 'x'.repeat(100) }], marks: { [key]: key } })
  }
  append('a')
  await log.flushed()
  const { next, stop } = holding(t, isLog)
  append('b') // in a file of its own, with which a checkpoint comes
  const failed = log.flushed()
  const sync = await next()
  const stat = promisify(fs.stat)
  for (let n = 0; n < 100; n++) await stat(folder) // time enough for another file
  t.notOk(
    readdirSync(folder).some((name) => !isLog(name)),
    'none is begun',
  )
  sync.fail('EIO')
  await t.rejects(failed, { code: 'storage_failed' })
  const checkpoints = () => readdirSync(folder).filter((name) => !isLog(name))
  t.strictSame(checkpoints(), [])
  stop()
  await log.flushed()
  await log.close()
  t.equal(checkpoints().length, 1)
})

t.test('after a sync that failed nothing of that entry is called clean by the next', async (t) => {
  const folder = join(t.testdir(), 'log')
  const log = await openEventLog(folder, { checkpoint: () => [], log: () => {} })
  const append = () => log.append({ events: [{ type: 'x', envelope: '{}' }], marks: {} })
  append()
  await log.flushed()
  const file = join(folder, readdirSync(folder).find(isLog)!)
  const { size } = fs.statSync(file)
  const cut: number[] = []
  const { ftruncateSync } = fs
  fs.ftruncateSync = (fd, length) => {
    cut.push(length ?? 0)
    ftruncateSync(fd, length)
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.ftruncateSync = ftruncateSync
    syncBuiltinESMExports()
  })
  const { next, stop } = holding(t, isLog)
  append()
  const failed = log.flushed()
  ;(await next()).fail('EIO')
  await t.rejects(failed, { code: 'storage_failed' })
  stop()
  await log.flushed()
  t.strictSame(cut, [size])
  await log.close()
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
