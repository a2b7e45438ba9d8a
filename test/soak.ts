import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { leftovers, runBuilt, startBuilt } from './fixtures/built-service.ts'
import { isFull } from './fixtures/full.ts'
import { randomFrom } from './fixtures/random.ts'
import { must } from './fixtures/session-client.ts'
import { createAsk } from './fixtures/soak/client.ts'
import { collect } from './fixtures/soak/collector.ts'
import { makeRepository, pickOperation, remove } from './fixtures/soak/operations.ts'
import {
  type Figures,
  figuresOf,
  growthPerHour,
  withFigures,
} from './fixtures/soak/process-figures.ts'
import { refusingReceiver } from './fixtures/soak/receiver.ts'
import { emptySlot, look, newLedger, type Scene, turns, work } from './fixtures/soak/scene.ts'

/*
 * Hours of mixed work for the built program: requests of all kinds, saves by hand, sessions, streams that come and
 * go, webhooks, commits. One service lives from beginning to end, and its figures are taken whenever everything
 * was deleted and nobody asks; another one beside it is killed all the time. CASEFILE_SOAK_SECONDS says for how
 * long, CASEFILE_SOAK_LOG in which file the figures are noted as they come.
 */
const {
  CASEFILE_SOAK_SECONDS = isFull ? '3600' : '10',
  CASEFILE_SOAK_LOG,
  CASEFILE_TEST_SEED,
} = process.env
const SECONDS = Number(CASEFILE_SOAK_SECONDS)
const isLong = SECONDS >= 600
const ROUND_MS = isLong ? 60_000 : (SECONDS * 1000) / 2
const CLIENTS = 3
/** After each operation: an hour of work as fast as it goes would be one of another kind. */
const PAUSE_MS = isLong ? 100 : 20
/** Before the hour that is judged: caches fill, and V8 notes of more and more functions how they are called. */
const WARM_UP_MS = isLong ? 2_400_000 : 0
const limit = () => ({ timeout: (WARM_UP_MS + SECONDS * 1000) * 1.5 + 120_000 })
/** After work: timers have run out, and garbage and compiled code that nobody uses any more were let go. */
const SETTLING_MS = isLong ? 30_000 : 1000
const MIB = 1024 * 1024
/** Resources of what still goes on. */
const BUSY = ['TCPSocketWrap', 'SimpleShutdownWrap', 'ProcessWrap']

function note(what: object): void {
  if (CASEFILE_SOAK_LOG)
    appendFileSync(
      CASEFILE_SOAK_LOG,
      `${JSON.stringify({ at: new Date().toISOString(), ...what })}\n`,
    )
}

function newScene(t: Test, name: string, url: () => string, receiver: string): Scene {
  const root = join(t.testdirName, name)
  let count = 0
  return {
    ask: createAsk(url),
    url,
    root,
    receiver,
    ledger: newLedger(),
    streams: new Set(),
    random: randomFrom(Number(CASEFILE_TEST_SEED)),
    unique: (word) => `${word} ${++count}`,
    up: async () => {},
    inTurn: turns(),
  }
}

t.jobs = 2

const folders = { living: {}, killed: {}, state: { living: {}, killed: {} } }

t.test('what a service holds after hours of work is what it held before', limit(), async (t) => {
  t.teardown(() => {}) // tap removes the testdir before all handlers, but for one that was there first
  const state = join(t.testdir(folders), 'state')
  const file = join(state, 'figures')
  const receiver = await refusingReceiver(t, randomFrom(2))
  const scene = newScene(t, 'living', () => service.url, receiver.url)
  makeRepository(scene.root)
  const service = await startBuilt(t, {
    root: scene.root,
    stateDir: join(state, 'living'),
    env: withFigures(file),
  })
  await must(service, 'POST', '/webhooks', { url: receiver.url, secret: 's' })
  await must(service, 'GET', '/search?q=title') // a session searches too, and the list of words stays in memory
  const slots = Array.from({ length: CLIENTS }, emptySlot)

  async function round(): Promise<void> {
    const end = performance.now() + ROUND_MS
    const next = (slot: (typeof slots)[number]) => () =>
      performance.now() < end ? pickOperation(scene, slot) : null
    await Promise.all(slots.map((slot) => work(paced(scene), slot, next(slot))))
  }

  /** The figures when all that was made is deleted and nobody is connected; what ends by itself gets its time. */
  async function quiet(expected: Figures | null): Promise<Figures> {
    for (const slot of slots) if (slot.id !== null) await remove(scene, slot)
    for (const events of scene.streams) events.close()
    scene.streams.clear()
    await delay(SETTLING_MS)
    const until = performance.now() + 30_000
    for (;;) {
      receiver.cutIdle()
      const found = await figuresOf(service.pid, file)
      const isCalm = !BUSY.some((name) => name in found.resources)
      const isBack = expected === null || holdsNoMore(found, expected)
      if (isCalm && isBack) return found
      if (performance.now() > until) return found
      await delay(250)
    }
  }

  const warmAt = performance.now() + WARM_UP_MS
  const end = warmAt + SECONDS * 1000
  await round()
  const first = await quiet(null)
  note({ first })
  const points: ({ at: number } & Figures)[] = []
  while (performance.now() < end) {
    await round()
    const found = await quiet(first)
    points.push({ at: performance.now(), ...found })
    note({ round: points.length, ...found, operations: Object.fromEntries(scene.ledger.done) })
  }
  const last = points.at(-1)!
  t.ok(
    Math.abs(last.descriptors - first.descriptors) <= 5,
    `descriptors: ${first.descriptors}, ${last.descriptors}`,
  )
  t.ok(last.watches <= first.watches, `watched folders: ${first.watches}, ${last.watches}`)
  t.strictSame(moreThan(first, last), {}, 'timers, sockets, watchers, processes')
  t.comment(Object.fromEntries(scene.ledger.done))
  if (!isLong) return
  const warm = points.filter(({ at }) => at > warmAt)
  const growth = growthPerHour(
    warm.map(({ at, heapUsed, compiled, external }) => ({
      at,
      value: heapUsed - compiled + external,
    })),
  )
  t.ok(growth < MIB, `what is alive grows by ${(growth / MIB).toFixed(2)} MiB per hour`)
  // of the whole process what it falls back to, as garbage comes and goes by 100 MiB
  const half = Math.floor(warm.length / 2)
  const [before, after] = [warm.slice(0, half), warm.slice(half)].map((part) =>
    Math.min(...part.map(({ rss }) => rss / MIB)),
  ) as [number, number]
  t.ok(
    after < before + 8,
    `the least that it has: ${before.toFixed(0)} MiB, ${after.toFixed(0)} MiB`,
  )
})

function holdsNoMore(found: Figures, before: Figures): boolean {
  return (
    Object.keys(moreThan(before, found)).length === 0 &&
    found.watches <= before.watches &&
    found.descriptors <= before.descriptors + 5
  )
}

/** The kinds of resources that there are more of, with how many there are. */
function moreThan(before: Figures, found: Figures): Record<string, number> {
  const more = Object.entries(found.resources).filter(
    ([name, count]) => count > (before.resources[name] ?? 0),
  )
  return Object.fromEntries(more)
}

function paced(scene: Scene): Scene {
  return { ...scene, up: () => scene.up().then(() => delay(PAUSE_MS * 2 * scene.random())) }
}

t.test(
  'what was acknowledged outlives every kill, and each change has its event',
  limit(),
  async (t) => {
    t.teardown(() => {}) // as above
    const state = join(t.testdir(folders), 'state')
    const random = randomFrom(3)
    const receiver = await refusingReceiver(t, randomFrom(4))
    const scene = newScene(t, 'killed', () => service.url, receiver.url)
    makeRepository(scene.root)
    mkdirSync(join(scene.root, 'memory', 'cases'), { recursive: true })
    const service = await startBuilt(t, { root: scene.root, stateDir: join(state, 'killed') })
    await must(service, 'POST', '/webhooks', {
      url: receiver.url,
      events: ['proof_created'],
      secret: 's',
    })
    let isUp = Promise.resolve()
    scene.up = () => isUp
    const collector = collect(() => service.url, scene.up)
    const slots = Array.from({ length: CLIENTS }, emptySlot)
    const end = performance.now() + SECONDS * 1000
    let kills = 0

    async function killNowAndThen(): Promise<void> {
      while (performance.now() < end) {
        await delay(500 + random() * 5000)
        isUp = service.stop('SIGKILL').then(() => service.restart())
        await isUp
        kills++
        note({ kills, startMs: service.startMs, broken: scene.ledger.broken })
      }
    }
    const killing = killNowAndThen()
    const next = (slot: (typeof slots)[number]) => () =>
      performance.now() < end ? pickOperation(scene, slot) : null
    await Promise.all(slots.map((slot) => work(paced(scene), slot, next(slot))))
    await killing

    const { ledger } = scene
    for (const slot of slots) if (slot.id !== null) await look(scene, slot)
    const { json: cases } = await scene.ask('GET', '/cases')
    const known = slots.map(({ id }) => id)
    for (const { id, title } of cases) {
      t.ok(known.includes(id) || ledger.unsure.has(title), `${title} was made by somebody`)
    }
    for (const events of scene.streams) events.close()
    const { json: health } = await scene.ask('GET', '/health')
    t.strictSame(health.problems, [])
    const made = await scene.ask('POST', '/cases', { title: 'The last one' })
    while (collector.count('case_created', made.json.id) === 0) await delay(20)
    t.strictSame(
      collector.odd,
      [],
      'the events came in their order, with nothing lost and nothing twice',
    )
    const once = (type: string, ids: string[]) =>
      ids.filter((id) => collector.count(type, id) !== 1)
    t.strictSame(once('case_created', ledger.cases), [])
    t.strictSame(once('proof_created', ledger.proofs), [])
    const late = () => ledger.proofs.filter((id) => !receiver.arrived.has(id))
    for (let tries = 0; tries < 120 && late().length > 0; tries++) await delay(250)
    t.strictSame(late(), [], 'and each was delivered')
    const twoIds = [...receiver.arrived.values()].filter((ids) => ids.size > 1)
    t.equal(twoIds.length, 0, 'under one id')
    collector.close()
    t.equal((await service.stop()).code, 0)
    t.strictSame(await leftovers(t.testdirName), [], 'no temporary file is left')
    const checked = await runBuilt([
      'doctor',
      '--check',
      '--root',
      scene.root,
      '--state-dir',
      join(state, 'killed'),
    ])
    t.equal(checked.code, 0, checked.stdout + checked.stderr)
    t.comment(
      `${kills} kills, ${ledger.broken} requests broke off`,
      Object.fromEntries(ledger.done),
    )
  },
)
