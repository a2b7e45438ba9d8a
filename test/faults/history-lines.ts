import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Served } from '../../src/serve.ts'
import { installFaultyDisk } from '../fixtures/faults/faulty-disk.ts'
import { isFull } from '../fixtures/full.ts'
import { type Client, clientOf, must } from '../fixtures/session-client.ts'

// before the modules of src are loaded, as some keep a function that they found
const disk = await installFaultyDisk()
const { openServer } = await import('../../src/serve.ts')

interface Opened extends Client {
  served: Served
  root: string
  stateDir: string
  /** The type of each event, and the file that it is about. */
  events(): Promise<string[]>
  history(id: string): string[]
  close(): Promise<void>
}

async function open(t: Test, folder: string): Promise<Opened> {
  const [root, stateDir] = [join(folder, 'root'), join(folder, 'state')]
  const served = await openServer({ root, stateDir, port: 0, mount: false, log: () => {} })
  let isOpen = true
  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await served.close()
  }
  t.teardown(close)
  return {
    ...clientOf(() => served.url),
    served,
    root,
    stateDir,
    async events() {
      await served.service.start.begun
      await served.service.refresher.rescan()
      await served.service.refresher.freshenAll()
      await served.service.eventLog.flushed()
      const found: string[] = []
      for await (const { envelope } of served.service.eventLog.read(0)) {
        const { event_type, payload } = JSON.parse(envelope)
        found.push(payload.filename ? `${event_type} ${payload.filename}` : event_type)
      }
      return found
    },
    history(id) {
      const text = readFileSync(join(root, 'memory', 'cases', id, 'history.md'), 'utf8')
      return text.split('\n').filter((line) => line.startsWith('- '))
    },
    close,
  }
}

function folderOf(t: Test): string {
  t.teardown(() => {}) // or tap removes the testdir before the services have ended
  return t.testdir({ root: {}, state: {} })
}

const CALLS = 60
/** Every call in full, else some of them. */
const [KILL_STEP, FAILURE_STEP] = isFull ? [1, 1] : [3, 2]

t.test('after a kill the lines of the service are no news of the memory', async (t) => {
  let kills = 0
  for (let at = 1; at < CALLS; at += KILL_STEP) {
    await t.test(`at call ${at}`, async (t) => {
      const folder = folderOf(t)
      const first = await open(t, folder)
      const { id } = await must(first, 'POST', '/cases', { title: 'Old' })
      await first.events()
      disk.arm({ kind: 'crash', at }, [first.root, first.stateDir])
      await first.request('PUT', `/cases/${id}`, { title: 'New' })
      await disk.settled()
      const killed = join(folder, 'killed')
      execFileSync('mkdir', [killed])
      execFileSync('cp', ['-a', first.root, first.stateDir, killed])
      const { struck } = disk.disarm()
      await first.close()
      if (struck === null) return
      kills++
      for (const name of ['owner.lock', 'owner.json']) {
        rmSync(join(killed, 'state', name), { recursive: true, force: true }) // as of another day
      }
      const next = await open(t, killed)
      const { title } = await must(next, 'GET', `/cases/${id}`)
      const isChanged = title === 'New'
      const wanted = ['case_created', ...(isChanged ? ['case_updated'] : [])]
      t.strictSame(await next.events(), wanted, struck)
      await next.close()
      const last = await open(t, killed) // a line that was missing is there by now
      await must(last, 'PUT', `/cases/${id}`, { title: 'Newer' })
      t.strictSame(await last.events(), [...wanted, 'case_updated'], struck)
      t.equal(last.history(id).length, isChanged ? 3 : 2, struck)
    })
  }
  t.ok(kills * KILL_STEP >= 20, `${kills} kills`)
})

t.test('a request that is repeated after a failure of the disk has one line', async (t) => {
  const folder = folderOf(t)
  const app = await open(t, folder)
  const ways: [string, string, (id: string) => [string, string, object]][] = [
    ['a title', 'case_updated', (id) => ['PUT', `/cases/${id}`, { title: 'New' }]],
    ['a state', 'case_state_changed', (id) => ['PUT', `/cases/${id}/state`, { state: 'BLOCKED' }]],
  ]
  for (const [name, event, ask] of ways) {
    await t.test(name, async (t) => {
      let failures = 0
      for (let at = 1; at < CALLS; at += FAILURE_STEP) {
        const { id } = await must(app, 'POST', '/cases', { title: 'Old' })
        const before = (await app.events()).length
        disk.arm({ kind: 'EIO', at }, [app.root, app.stateDir])
        const [method, path, body] = ask(id)
        const first = await app.request(method, path, body)
        await disk.settled()
        const { struck } = disk.disarm()
        if (struck === null) break
        failures++
        await must(app, method, path, body)
        await must(app, 'PUT', `/cases/${id}`, { tags: ['next'] }) // what was due is written with it
        const what = `${struck}: ${first.status}`
        t.equal(app.history(id).length, 3, `${what}\n${app.history(id).join('\n')}`)
        const events = (await app.events()).slice(before)
        // while the disk does not give a file back, that is a problem
        t.strictSame(
          events.filter((each) => !each.startsWith('problem_')),
          [event, 'case_updated'],
          what,
        )
      }
      t.ok(failures > 10, `${failures} failures`)
    })
  }
})
