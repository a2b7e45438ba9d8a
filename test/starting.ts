import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../src/build.ts'
import { createApp } from '../src/http/app.ts'
import { createStreamRegistry } from '../src/http/sse/stream-registry.ts'
import { openServer } from '../src/serve.ts'
import { openService } from '../src/service.ts'
import { connect } from './fixtures/event-source.ts'
import { changeState, rowsOnDisk } from './fixtures/state-rows.ts'

// What a service of many cases answers while it still reads them

const MANY = 300

/** A workspace of many cases, and a service that has just begun to read them. */
function workspace(t: Test) {
  t.teardown(() => {}) // tap removes the testdir before all handlers, but for one that was there first
  const dir = t.testdir({ root: { memory: { cases: {} } }, state: {} })
  const root = join(dir, 'root')
  const ids = Array.from({ length: MANY }, (_, each) => {
    const id = `00000000-0000-4000-8000-${String(each).padStart(12, '0')}`
    mkdirSync(join(root, 'memory', 'cases', id))
    writeFileSync(join(root, 'memory', 'cases', id, 'case.md'), caseText(`Case ${each}`))
    return id
  })
  return {
    ids,
    options: { root, stateDir: join(dir, 'state'), log: (line: string) => t.fail(line) },
  }
}

function caseText(title: string): string {
  return `---\ntitle: ${title}\nstate: OPEN\n---\n\nText.\n`
}

async function open(options: Parameters<typeof openService>[0]) {
  const service = await openService({ ...options, build: await build() }) // as openServer does
  const app = createApp(service, { port: () => 0, streams: createStreamRegistry() })
  const ask = async (path: string, init?: RequestInit) => {
    const response = await app.request(path, init)
    // biome-ignore lint/suspicious/noExplicitAny: whatever came
    const json: any = await response.json()
    return { status: response.status, json }
  }
  return { service, ask }
}

const CREATE = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ title: 'New' }),
}

t.test('while it reads, a service says so, and what needs the files waits for them', async (t) => {
  const { options } = workspace(t)
  const { service, ask } = await open(options)
  const [health, version, list, created, found] = await Promise.all([
    ask('/health'),
    ask('/version'),
    ask('/cases'),
    ask('/cases', CREATE),
    ask('/search?q=text&limit=100'),
  ])
  t.match(health, { status: 200, json: { status: 'ok', indexing: true, watching: 'starting' } })
  t.ok(health.json.cases < MANY)
  t.equal(version.status, 200)
  t.equal(list.json.length, MANY, 'the whole list')
  t.equal(created.status, 201)
  t.equal(found.json.length, 100)
  t.match(await ask('/health'), { json: { indexing: false, cases: MANY + 1 } })
  await service.close()
})

for (const stage of ['indexing', 'publishing'] as const) {
  t.test(`a start that is given up while ${stage} is made by the next service`, async (t) => {
    const { options, ids } = workspace(t)
    const first = await openServer({ ...options, port: 0 })
    await first.close()

    const edited = ids[7]!
    writeFileSync(join(options.root, 'memory', 'cases', edited, 'case.md'), caseText('Renamed'))
    await delay(100) // a file that was just changed is read again anyway
    const { service, ask } = await open(options)
    const asked = [ask('/cases', CREATE)]
    if (stage === 'publishing') await service.start.indexed
    else asked.push(ask('/cases'))
    t.equal(service.start.stage(), stage)
    service.giveUpStart()
    for (const answer of await Promise.all(asked)) {
      t.match(answer, { status: 503, json: { code: 'stopping' } }, 'who waits is refused')
    }
    await t.rejects(service.start.begun, { code: 'stopping' })
    await service.close()

    const again = await openServer({ ...options, port: 0 })
    t.teardown(() => again.close())
    const list = (await (await fetch(`${again.url}/cases`)).json()) as { id: string }[]
    t.strictSame(list.map(({ id }) => id).sort(), ids)
    const events = await connect(`${again.url}/events?after=0`)
    t.teardown(() => events.close())
    await fetch(`${again.url}/cases`, CREATE)
    const update = await events.next()
    t.equal(update.event, 'case_updated', 'the edit has its event')
    t.match(JSON.parse(update.data), { payload: { case_id: edited } })
    t.equal((await events.next()).event, 'case_created', 'no case was told to be gone')
  })
}

t.test('of a first start that was cut short nothing is told later', async (t) => {
  const { options, ids } = workspace(t)
  const serve = async () => (await openServer({ ...options, port: 0 })).close()
  await serve()
  await changeState(options.stateDir, "DELETE FROM published WHERE key = 'workspace'") // written last
  rmSync(join(options.root, 'memory', 'cases', ids[7]!), { recursive: true })
  await serve()
  await serve()
  t.strictSame(rowsOnDisk(options.stateDir, 'SELECT type FROM events'), [])
})
