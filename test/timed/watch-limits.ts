import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { stolenTime } from '../fixtures/cpu-time.ts'
import {
  connect,
  type EventSourceClient,
  numberOf,
  type ReceivedEvent,
} from '../fixtures/event-source.ts'
import { type Envelope, envelope, must } from '../fixtures/session-client.ts'
import { watchesOf } from '../fixtures/watches-of.ts'

const caseText = (title: string) =>
  `---\nid:\ntitle: ${title}\ncreated_at: 2026-01-01T00:00:00.000Z\nstate: OPEN\n---\n\nWhat happens.\n`
const proofText = '---\ntype: log\n---\n\n```text\nfine\n```\n'

function save(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

interface World {
  service: BuiltService
  root: string
  cases: string
  file(id: string, ...names: string[]): string
  /** The whole log, then what comes, but for pings. */
  events(after?: string): Promise<EventSourceClient>
}

/** The built service on cases of these titles. */
async function open(
  t: Test,
  titles: Record<string, string>,
  options: { through?: string[] } = {},
): Promise<World> {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: { memory: { cases: {} } }, state: {} })
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  const cases = join(root, 'memory', 'cases')
  const file = (id: string, ...names: string[]) => join(cases, id, ...names)
  for (const [id, title] of Object.entries(titles)) save(file(id, 'case.md'), caseText(title))
  const service = await startBuilt(t, { root, stateDir, ...options })
  return {
    service,
    root,
    cases,
    file,
    async events(after) {
      const query = after === undefined ? '' : `?after=${after}`
      const client = await connect(`${service.url}/events${query}`)
      t.teardown(() => client.close())
      return client
    },
  }
}

/** The service may write there meanwhile. */
const REMOVED = { recursive: true, maxRetries: 5, retryDelay: 20 }

const some = (count: number, title = 'A') =>
  Object.fromEntries(Array.from({ length: count }, () => [randomUUID(), title]))

/** Resolves when this holds, which is asked again as long as it takes; rejects after so many ms. */
async function soon(what: string, ms: number, holds: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  while (!(await holds())) {
    if (performance.now() - began > ms) throw new Error(`not within ${ms} ms: ${what}`)
    await delay(5)
  }
  return performance.now() - began
}

async function titles({ service }: World): Promise<Record<string, string>> {
  const list = (await must(service, 'GET', '/cases')) as { id: string; title: string }[]
  return Object.fromEntries(list.map(({ id, title }) => [id, title]))
}

const same = (a: Record<string, string>, b: Record<string, string>) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())

/** What has come of these types. */
const come = ({ received }: EventSourceClient, type: string) =>
  received.filter(({ event }) => event === type)

/** How often each case was told. */
const caseIds = (events: ReceivedEvent[]) => events.map((event) => envelope(event).payload.case_id)

const LIMITS = [
  { limit: 'max_inotify_watches', count: 60, remedy: /sysctl fs\.inotify\.max_user_watches/ },
  { limit: 'max_inotify_instances', count: 0, remedy: /fs\.inotify\.max_user_instances/ },
]

/** A command that runs another one in a user namespace of its own, where this limit holds. */
const limited = ({ limit, count }: { limit: string; count: number }) => [
  'unshare',
  '-Ur',
  'sh',
  '-c',
  `echo ${count} > /proc/sys/user/${limit}; exec "$@"`,
  'sh',
]

/** Why limits cannot be set here; false when they can. */
function whyNotLimited(): string | false {
  try {
    const [program, ...args] = limited(LIMITS[0]!) as [string, ...string[]]
    execFileSync(program, [...args, 'true'], { stdio: 'pipe' })
    return false
  } catch (error) {
    return `no user namespace: ${String((error as Error).message).split('\n')[0]}`
  }
}

for (const { remedy, ...limit } of LIMITS) {
  const name = `with a ${limit.limit} of ${limit.count} all is found nevertheless`
  t.test(name, { skip: whyNotLimited() }, async (t) => {
    const before = some(120)
    const world = await open(t, before, { through: limited(limit) })
    const { service, file } = world
    let health: Record<string, unknown> = {}
    await soon('watching: degraded', 5000, async () => {
      health = await must(service, 'GET', '/health')
      return health.watching === 'degraded'
    })
    t.match(health, { status: 'ok', cases: 120, remedy })
    const events = await world.events('now')
    const [gone, ...kept] = Object.keys(before) as [string, ...string[]]
    for (const id of kept) writeFileSync(file(id, 'case.md'), caseText('B'))
    rmSync(file(gone), { recursive: true })
    const made = randomUUID()
    save(file(made, 'case.md'), caseText('Made'))
    const wanted = { ...Object.fromEntries(kept.map((id) => [id, 'B'])), [made]: 'Made' }
    t.ok(await soon('the index is the disk', 5000, async () => same(await titles(world), wanted)))
    await soon('all is told', 15_000, async () => {
      await must(service, 'GET', '/version')
      return come(events, 'case_updated').length >= kept.length
    })
    appendFileSync(file(made, 'case.md'), 'The last change.\n')
    await events.next((event) => caseIds([event])[0] === made && event.event === 'case_updated')
    t.strictSame(caseIds(come(events, 'case_updated')).sort(), [...kept, made].sort())
    t.strictSame(caseIds(come(events, 'case_created')), [made])
    t.strictSame(caseIds(come(events, 'case_deleted')), [gone])
  })
}

t.test('what the kernel drops while the service stands still is found', async (t) => {
  const queued = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'))
  const before = some(120)
  const world = await open(t, before)
  const { service, file } = world
  await soon('watching: ok', 5000, async () => {
    return (await must(service, 'GET', '/health')).watching === 'ok'
  })
  const events = await world.events('now')
  process.kill(service.pid, 'SIGSTOP')
  const rounds = Math.ceil((queued * 1.5) / 120)
  for (let round = 0; round < rounds; round++) {
    const text = caseText(`R${round}`)
    await Promise.all(Object.keys(before).map((id) => writeFile(file(id, 'case.md'), text)))
  }
  for (const id of Object.keys(before)) writeFileSync(file(id, 'notes.md'), 'new\n')
  const fresh = some(30, 'fresh')
  for (const id of Object.keys(fresh)) save(file(id, 'case.md'), caseText('fresh'))
  process.kill(service.pid, 'SIGCONT')
  const last = `R${rounds - 1}`
  const wanted = { ...Object.fromEntries(Object.keys(before).map((id) => [id, last])), ...fresh }
  const ms = await soon('the index is the disk', 35_000, async () =>
    same(await titles(world), wanted),
  )
  t.comment(`current ${ms.toFixed()} ms after SIGCONT`)
  const published = await soon('all is told', 35_000, async () => {
    await must(service, 'GET', '/version')
    return come(events, 'memory_updated').length >= 120 && come(events, 'case_created').length >= 30
  })
  t.comment(`told ${published.toFixed()} ms later`)
  t.strictSame(caseIds(come(events, 'case_updated')).sort(), Object.keys(before).sort())
  t.strictSame(caseIds(come(events, 'memory_updated')).sort(), Object.keys(before).sort())
  t.strictSame(caseIds(come(events, 'case_created')).sort(), Object.keys(fresh).sort())
  t.equal(events.received.filter(({ event }) => event !== 'ping').length, 270)

  for (const id of Object.keys(fresh)) writeFileSync(file(id, 'case.md'), caseText('heard'))
  await soon('the folders that came meanwhile are watched', 5000, async () => {
    await must(service, 'GET', '/version')
    return come(events, 'case_updated').length >= 120 + 30
  })
})

/** 500 cases with two proofs each, made as fast as another process can; gives their ids when it has ended. */
async function madeElsewhere({ root, cases }: World): Promise<string[]> {
  const ids = Array.from({ length: 500 }, () => randomUUID())
  writeFileSync(
    join(root, 'make.cjs'),
    `const { mkdirSync, writeFileSync } = require('node:fs')
const { randomUUID } = require('node:crypto')
for (const id of ${JSON.stringify(ids)}) {
  mkdirSync('${cases}/' + id + '/proof', { recursive: true })
  writeFileSync('${cases}/' + id + '/case.md', ${JSON.stringify(caseText('Fresh'))})
  for (let k = 0; k < 2; k++)
    writeFileSync('${cases}/' + id + '/proof/' + randomUUID() + '.md', ${JSON.stringify(proofText)})
}
`,
  )
  const source = spawn(process.execPath, [join(root, 'make.cjs')], { stdio: 'inherit' })
  await once(source, 'close')
  return ids
}

/** Every one of them, once. */
function allTold(t: Test, events: EventSourceClient, ids: string[]): void {
  t.strictSame(caseIds(come(events, 'case_created')).sort(), ids.sort())
  const proofs = come(events, 'proof_created').map((each) => envelope(each).payload.proof_id)
  t.equal(proofs.length, 1000)
  t.equal(new Set(proofs).size, 1000)
}

t.test('cases in fresh nested folders, made by another process, are all known', async (t) => {
  const world = await open(t, some(1))
  const { service, file } = world
  await soon('watching: ok', 5000, async () => {
    return (await must(service, 'GET', '/health')).watching === 'ok'
  })
  const events = await world.events('now')
  const stolen = stolenTime(t)
  const ids = await madeElsewhere(world)
  const ms = await soon('all are told', 35_000, async () => {
    await must(service, 'GET', '/version')
    return come(events, 'proof_created').length >= 1000
  })
  t.comment(`told ${ms.toFixed()} ms after the last was made`)
  t.ok(ms < 2000 + stolen(), 'by what the kernel tells, not by a sweep')
  allTold(t, events, ids)
  t.equal((await must(service, 'GET', '/health')).cases, 501)

  for (const id of ids) {
    writeFileSync(file(id, 'case.md'), caseText('Edited'))
    const [name] = readdirSync(file(id, 'proof'))
    writeFileSync(file(id, 'proof', name!), proofText.replace('fine', 'better'))
  }
  await soon('all their folders are watched', 5000, async () => {
    await must(service, 'GET', '/version')
    const counts = ['case_updated', 'proof_updated'].map((type) => come(events, type).length)
    return counts.every((count) => count >= 500)
  })
})

t.test('what nothing watches is found by the sweep', { skip: whyNotLimited() }, async (t) => {
  const [first, second] = [randomUUID(), randomUUID()]
  const world = await open(t, { [first]: 'A1', [second]: 'A1' }, { through: limited(LIMITS[1]!) })
  const { service, file } = world
  t.equal((await must(service, 'GET', '/health')).watching, 'degraded')
  t.equal(watchesOf(service.pid), 0)
  const events = await world.events('now')
  // of the same size, with its old time
  const edits: [id: string, save: (path: string, text: string) => void][] = [
    [first, writeFileSync],
    [second, saveByRename],
  ]
  for (const [id, save] of edits) {
    const { atime, mtime } = statSync(file(id, 'case.md'))
    save(file(id, 'case.md'), caseText('B2'))
    utimesSync(file(id, 'case.md'), atime, mtime)
  }
  const ids = await madeElsewhere(world)
  const ms = await soon('all are told', 35_000, async () => {
    await must(service, 'GET', '/version')
    const counts = ['proof_created', 'case_updated'].map((type) => come(events, type).length)
    return counts[0]! >= 1000 && counts[1]! >= edits.length
  })
  t.comment(`told ${ms.toFixed()} ms after the last was made`)
  allTold(t, events, ids)
  t.strictSame(caseIds(come(events, 'case_updated')).sort(), [first, second].sort())
  t.match(await titles(world), { [first]: 'B2', [second]: 'B2' })
})

function saveByRename(path: string, text: string): void {
  writeFileSync(`${path}~`, text)
  renameSync(`${path}~`, path)
}

t.test(
  'a root that is moved away and comes back, or another in its place, is followed',
  async (t) => {
    const before = some(40)
    const world = await open(t, before)
    const { service, root, file } = world
    const memory = join(root, 'memory')
    const [first] = Object.keys(before) as [string]
    const events = await world.events('now')
    const become = (what: string, wanted: Record<string, string>) =>
      soon(what, 35_000, async () => same(await titles(world), wanted))
    const isWatched = () =>
      soon('watching: ok', 10_000, async () => {
        return (await must(service, 'GET', '/health')).watching === 'ok'
      })
    const isGone = () =>
      soon('watching: degraded', 5000, async () => {
        const health = await must(service, 'GET', '/health')
        return health.watching === 'degraded' && /put it back/.test(health.remedy)
      })

    renameSync(memory, `${memory}-away`)
    await isGone()
    await become('nothing is there', {})
    const other = some(3, 'Other')
    for (const [id, title] of Object.entries(other)) save(file(id, 'case.md'), caseText(title))
    await become('another root', other)
    await isWatched()
    const [one] = Object.keys(other) as [string]
    writeFileSync(file(one, 'case.md'), caseText('Edited'))
    await become('an edit in another root', { ...other, [one]: 'Edited' })
    rmSync(memory, REMOVED)
    renameSync(`${memory}-away`, memory)
    await become('the first root again', before)
    await isWatched()

    rmSync(memory, REMOVED)
    await isGone()
    await become('nothing is there again', {})
    for (const [id, title] of Object.entries(before)) save(file(id, 'case.md'), caseText(title))
    await become('the same cases, made anew', before)
    await isWatched()

    renameSync(file(first), join(root, 'taken'))
    const rest = Object.fromEntries(Object.entries(before).filter(([id]) => id !== first))
    await become('a case that was moved away', rest)
    renameSync(join(root, 'taken'), file(first))
    await become('a case that was moved in', before)
    writeFileSync(file(first, 'case.md'), caseText('Last'))
    await events.next((event) => event.event === 'case_updated' && caseIds([event])[0] === first)
    t.equal((await titles(world))[first], 'Last')
    const published = (type: string) => caseIds(come(events, type)).length
    t.equal(published('case_deleted'), 40 + 3 + 40 + 1)
    t.equal(published('case_created'), 3 + 40 + 40 + 1)
    t.equal(published('case_updated'), 2)
  },
)

t.test('nothing outside is read or watched through a link', async (t) => {
  const before = some(3)
  const world = await open(t, before)
  const { service, root, cases, file } = world
  const [first, second] = Object.keys(before) as [string, string]
  const outside = join(root, 'outside')
  const inside = join(outside, randomUUID())
  save(join(inside, 'case.md'), caseText('Outside'))
  save(join(outside, 'proof', `${randomUUID()}.md`), proofText)
  const linked = randomUUID()
  const events = await world.events('now')
  symlinkSync('.', join(cases, 'loop'))
  symlinkSync(inside, file(linked))
  symlinkSync(join(outside, 'proof'), file(first, 'proof'))
  symlinkSync(join(inside, 'case.md'), file(second, 'notes.md'))
  await soon('the problems are told', 5000, async () => {
    await must(service, 'GET', '/health')
    return come(events, 'problem_found').length === 4
  })
  const count = events.received.length
  writeFileSync(join(inside, 'case.md'), caseText('Outside and edited'))
  save(join(outside, 'proof', `${randomUUID()}.md`), proofText)
  writeFileSync(file(second, 'case.md'), caseText('Marker'))
  await events.next((event) => event.event === 'case_updated')
  t.strictSame(caseIds(events.received.slice(count)), [second])
  t.strictSame(await titles(world), { ...before, [second]: 'Marker' })
  t.strictSame(await must(service, 'GET', `/cases/${first}/proof`), [])
  const problems = (await must(service, 'GET', '/health')).problems as Record<string, string>[]
  t.strictSame(
    problems.map(({ code, file }) => `${code} ${file}`).sort(),
    [`bad_name cases/${linked}`, 'bad_name cases/loop'].sort(),
  )
  t.match((await must(service, 'GET', `/cases/${first}`)).problems, [
    { code: 'symbolic_link', file: 'proof' },
  ])
  t.equal((await service.request('GET', `/cases/${second}/memory/notes.md`)).status, 409)
  t.equal(watchesOf(service.pid), 3 + 3, 'the folders of the cases and the three above them')
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  t.test(`edits while the service is down are told once, after ${signal}`, async (t) => {
    const before = some(6)
    const world = await open(t, before)
    const { service, file } = world
    const [edited, moved, noted, proved, gone, calm] = Object.keys(before) as [string, ...string[]]
    const at = (path: string, minute: number) => {
      const time = Date.parse(`2026-03-01T12:${minute}:00.000Z`) / 1000
      utimesSync(path, time, time)
    }
    const stamp = (minute: number) => `2026-03-01T12:${minute}:00.000Z`
    const first = await world.events('0')
    await must(service, 'PUT', `/cases/${calm}`, { title: 'By request' })
    await first.next(({ event }) => event === 'case_updated')
    const last = come(first, 'case_updated')[0]!.id!
    await service.stop(signal)

    writeFileSync(file(edited, 'case.md'), caseText('Edited'))
    at(file(edited, 'case.md'), 10)
    writeFileSync(file(moved!, 'case.md'), caseText('A').replace('OPEN', 'BLOCKED'))
    at(file(moved!, 'case.md'), 11)
    save(file(noted!, 'notes.md'), 'a note\n')
    at(file(noted!, 'notes.md'), 12)
    const proof = randomUUID()
    save(file(proved!, 'proof', `${proof}.md`), proofText)
    at(file(proved!, 'proof', `${proof}.md`), 13)
    rmSync(file(gone!), { recursive: true })
    const made = randomUUID()
    save(file(made, 'case.md'), caseText('Made'))
    at(file(made, 'case.md'), 14)
    await service.restart()

    const events = await world.events(last)
    await must(service, 'PUT', `/cases/${calm}`, { title: 'Marker' })
    await events.next((event) => caseIds([event])[0] === calm)
    const published = events.received.filter(({ event }) => event !== 'ping')
    const marker = published.pop()!
    t.strictSame(
      published
        .map((event) => [event.event, caseIds([event])[0], envelope(event).timestamp])
        .sort(),
      [
        ['case_created', made, stamp(14)],
        ['case_deleted', gone, published.map(envelope).find(isDeleted)?.timestamp],
        ['case_state_changed', moved, stamp(11)],
        ['case_updated', edited, stamp(10)],
        ['memory_updated', noted, stamp(12)],
        ['proof_created', proved, stamp(13)],
      ].sort(),
    )
    t.strictSame(
      [...published, marker].map(({ id }) => numberOf(id)),
      published
        .map((_, index) => numberOf(last) + 1 + index)
        .concat(numberOf(last) + published.length + 1),
      'the ids go on where they were',
    )

    await service.restart()
    const again = await world.events(marker.id)
    await must(service, 'PUT', `/cases/${calm}`, { title: 'Marker again' })
    await again.next()
    t.strictSame(caseIds(again.received), [calm], 'and only once')
    const whole = await world.events('0')
    await whole.next(({ id }) => id === again.received[0]!.id)
    t.strictSame(
      whole.received.map(({ id }) => numberOf(id)),
      Array.from({ length: numberOf(again.received[0]!.id) }, (_, index) => index + 1),
      'the whole log, with nothing missing and nothing twice',
    )
    t.strictSame(
      whole.received.slice(numberOf(last)).map(({ data }) => data),
      [...published, marker, again.received[0]!].map(({ data }) => data),
      'byte for byte',
    )
  })
}

const isDeleted = ({ event_type }: Envelope) => event_type === 'case_deleted'

t.test('without a state folder the files as they are are the beginning, silently', async (t) => {
  const before = some(5)
  const world = await open(t, before)
  const { service, file } = world
  const [first] = Object.keys(before) as [string]
  await must(service, 'PUT', `/cases/${first}`, { title: 'B' })
  await service.stop()
  rmSync(service.stateDir, { recursive: true })
  mkdirSync(service.stateDir)
  writeFileSync(file(first, 'case.md'), caseText('C'))
  await service.restart()
  const events = await world.events()
  await must(service, 'PUT', `/cases/${first}`, { title: 'D' })
  await events.next()
  t.match(events.received, [{ event: 'case_updated', id: '1' }])
  t.equal(events.received.length, 1)
})
