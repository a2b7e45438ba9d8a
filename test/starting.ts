import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../src/build.ts'
import { createApp } from '../src/http/app.ts'
import { createStreamRegistry } from '../src/http/sse/stream-registry.ts'
import { openServer } from '../src/serve.ts'
import { openService } from '../src/service.ts'
import { startBuilt } from './fixtures/built-service.ts'
import { connect } from './fixtures/event-source.ts'
import { inLongLane } from './fixtures/full.ts'
import { must } from './fixtures/session-client.ts'
import { changeState, rowsOnDisk } from './fixtures/state-rows.ts'

// What a service of many cases answers while it still reads them

const MANY = 60
/** Where it is not waited for. */
const SOME = 12

/** A workspace of many cases, and a service that has just begun to read them. */
function workspace(t: Test, count = MANY) {
  t.teardown(() => {}) // tap removes the testdir before all handlers, but for one that was there first
  const dir = t.testdir({ root: { memory: { cases: {} } }, state: {} })
  const root = join(dir, 'root')
  const ids = Array.from({ length: count }, (_, each) => {
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
    ask('/search?q=text&limit=50'),
  ])
  t.match(health, { status: 200, json: { status: 'ok', indexing: true, watching: 'starting' } })
  t.ok(health.json.cases < MANY)
  t.equal(version.status, 200)
  t.equal(created.status, 201)
  // all of them wait for the same, and nothing says which is answered first
  const before = list.json.filter(({ id }: { id: string }) => id !== created.json.id)
  t.equal(before.length, MANY, 'the whole list')
  t.equal(found.json.length, 50)
  t.match(await ask('/health'), { json: { indexing: false, cases: MANY + 1 } })
  await service.close()
})

for (const stage of ['indexing', 'publishing'] as const) {
  t.test(
    `a start that is given up while ${stage} is made by the next service`,
    inLongLane,
    async (t) => {
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
    },
  )
}

const NOBODY_UID = 65_534
const isRoot = process.getuid?.() === 0

/** What makes the folder of cases unreadable, and gives what makes it readable again. */
const UNREADABLE: [string, code: string, when: string, hide: (cases: string) => () => void][] = [
  [
    'permissions hide it',
    'unreadable',
    'at a start',
    (cases) => {
      chmodSync(cases, 0)
      return () => chmodSync(cases, 0o777)
    },
  ],
  [
    'a file is in its place',
    'symbolic_link',
    'while it runs',
    (cases) => {
      renameSync(cases, `${cases}-elsewhere`)
      writeFileSync(cases, '')
      return () => {
        rmSync(cases)
        renameSync(`${cases}-elsewhere`, cases)
      }
    },
  ],
]

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 120_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within two minutes: ${what}`)
    await delay(50)
  }
}

t.test('the folder of cases cannot be read', inLongLane, async (t) => {
  const { options, ids } = workspace(t, SOME)
  const { root, stateDir } = options
  chmodSync(join(root, 'memory'), 0o777) // the index is written there
  // a history that cannot be written would be one more problem
  if (isRoot) for (const id of ids) chownSync(join(root, 'memory', 'cases', id), NOBODY_UID, -1)
  const service = await startBuilt(t, { root, stateDir, ...(isRoot ? { uid: NOBODY_UID } : {}) })
  const get = (path: string) => must(service, 'GET', path)
  const cases = join(root, 'memory', 'cases')
  const problems = async () => (await get('/health')).problems as { file: string }[]
  const isWatched = async () => (await get('/health')).watching === 'ok'
  await until('the start', isWatched)
  let last = '0'
  for (const [name, code, when, hide] of UNREADABLE) {
    if (code === 'unreadable' && !isRoot) {
      t.pass('', { skip: 'it needs another user' })
      continue
    }
    if (when === 'at a start') await service.stop()
    const show = hide(cases)
    if (when === 'at a start') await service.restart()
    await until('a problem', async () => (await problems()).length > 0)
    t.match(await get('/health'), { status: 'ok', problems: [{ code, file: 'cases' }] }, name)
    show()
    await until('all cases', async () => (await get('/cases')).length === SOME)
    await until('no problem', async () => (await problems()).length === 0)
    await until('watches', isWatched)
    writeFileSync(join(cases, ids[7]!, 'case.md'), caseText(`Renamed, ${name}`))
    const events = await connect(`${service.url}/events?after=${last}`)
    const types: string[] = []
    while (types.at(-1) !== 'case_updated') {
      const { event, id } = await events.next()
      types.push(event)
      last = id ?? last
    }
    events.close()
    const others = types.filter((type) => !type.startsWith('problem_'))
    t.strictSame(others, ['case_updated'], `${name}: no case was taken for one that is gone`)
  }
})

/** An editor that saves in place empties the file before it writes it. */
t.test('a file that is half-saved while a service starts has no problem', async (t) => {
  const { options, ids } = workspace(t, SOME)
  const first = await openServer({ ...options, port: 0 })
  await first.close()
  const [emptied, cut, broken, fresh] = [ids[7]!, ids[8]!, ids[9]!, randomUUID()]
  const file = (id: string) => join(options.root, 'memory', 'cases', id, 'case.md')
  const long = '---\ntitle: Older\nstate: OPEN\n---\n\nA long text.\n'
  mkdirSync(join(options.root, 'memory', 'cases', fresh))
  writeFileSync(file(emptied), '')
  writeFileSync(file(fresh), '')
  writeFileSync(file(cut), long.slice(0, -20))
  writeFileSync(file(broken), '---\ntitle: [\n---\n')
  const began = performance.now()
  const save = async () => {
    await delay(300)
    for (const id of [emptied, cut, fresh]) writeFileSync(file(id), caseText(`Saved ${id}`))
    return performance.now() - began
  }
  const [server, ms] = await Promise.all([openServer({ ...options, port: 0 }), save()])
  t.teardown(() => server.close())
  if (ms > 700) return t.pass(`half-saved for ${ms} ms: the machine is too busy for an editor`)
  const list = (await (await fetch(`${server.url}/cases`)).json()) as {
    id: string
    title: string
  }[]
  const titles = Object.fromEntries(list.map(({ id, title }) => [id, title]))
  for (const id of [emptied, cut, fresh]) t.equal(titles[id], `Saved ${id}`)
  await fetch(`${server.url}/cases`, CREATE)
  const events = await connect(`${server.url}/events?after=0`)
  t.teardown(() => events.close())
  const seen: string[] = []
  for (let created = 0; created < 2; ) {
    const { event, data } = await events.next()
    const id = JSON.parse(data).payload.case_id
    if (event === 'case_created') created++
    seen.push(`${event} ${id}`)
  }
  const expected = [
    `case_updated ${cut}`,
    `case_updated ${emptied}`,
    `case_created ${fresh}`,
    `problem_found ${broken}`,
  ]
  t.strictSame(seen.slice(0, -1).sort(), expected.sort(), 'each edit once, and the broken file')
})

t.test('of a first start that was cut short nothing is told later', async (t) => {
  const { options, ids } = workspace(t, SOME)
  const serve = async () => (await openServer({ ...options, port: 0 })).close()
  await serve()
  await changeState(options.stateDir, "DELETE FROM meta WHERE name = 'workspace_problems'") // written last
  rmSync(join(options.root, 'memory', 'cases', ids[7]!), { recursive: true })
  await serve()
  await serve()
  t.strictSame(rowsOnDisk(options.stateDir, 'SELECT type FROM events'), [])
})
