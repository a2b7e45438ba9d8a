import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { type Asking, createAsking } from '../fixtures/faults/asking.ts'
import { differencesFrom, differencesInEvents, leftAfterStart } from '../fixtures/faults/checker.ts'
import { hooked } from '../fixtures/faults/hooked.ts'
import { inject, whyNoInjection } from '../fixtures/faults/injection.ts'
import { newLedger } from '../fixtures/faults/ledger.ts'
import { OPERATIONS } from '../fixtures/faults/operations.ts'
import { isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import type { Envelope } from '../fixtures/session-client.ts'

/*
 * The built program, killed by strace at the Nth system call of one kind. In full 220 kills or more
 * (CASEFILE_TEST_FULL=1), else some, by a seed that is printed and that CASEFILE_TEST_SEED repeats.
 */

const seed = Number(process.env.CASEFILE_TEST_SEED)
const chance = randomFrom(seed)
const LIMIT = { timeout: 3_600_000, skip: whyNoInjection() }
t.setTimeout(LIMIT.timeout)
t.comment(`CASEFILE_TEST_SEED=${seed}`)

/** With how many calls of each one change has at most, about. */
const CALLS: readonly [call: string, most: number][] = [
  ['renameat2', 2],
  ['rename', 2],
  ['link', 2],
  ['unlink', 3],
  ['mkdir', 2],
  ['symlink', 1],
  ['fsync', 4],
  ['fdatasync', 3],
  ['pwrite64', 6],
  ['openat', 12],
]
const MOVES = ['BLOCKED', 'OPEN', 'WATCHLIST', 'INVESTIGATING']
const EACH = isFull ? 6 : 1
const KILLS = isFull ? Number.POSITIVE_INFINITY : 8

async function folders(t: import('tap').Test) {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {} })
  mkdirSync(join(dir, 'root', 'memory', 'cases'), { recursive: true })
  return { root: join(dir, 'root'), stateDir: join(dir, 'state') }
}

/** Some changes of each kind, so that every call that a change makes is among them. */
async function changes(asking: Asking, id: string, n: number): Promise<void> {
  await asking.move(id, MOVES[n % MOVES.length]!)
  await asking.change(id)
  await asking.note(id)
  const run = await OPERATIONS[n % OPERATIONS.length]!.prepare(asking)
  if (run) await run()
}

t.test(
  'a kill at the Nth system call loses no change, no event and no delivery',
  LIMIT,
  async (t) => {
    const service: BuiltService = await startBuilt(t, {
      ...(await folders(t)),
      args: ['--no-mount'],
    })
    const ledger = newLedger()
    const asking = createAsking(service, ledger)
    const receiver = await hooked(t)
    await asking.hook(receiver.url)
    const id = (await asking.create())!
    const points = CALLS.flatMap(([call, most]) =>
      Array.from({ length: most * EACH }, (_, n) => ({ call, at: 1 + (n % most) })),
    )
    const order = points
      .map((point) => ({ point, by: isFull ? 0 : chance() }))
      .sort((a, b) => a.by - b.by)
      .slice(0, KILLS)
    let kills = 0
    for (const [n, { point }] of order.entries()) {
      const injection = await inject(service.pid, { ...point, what: 'signal=KILL' })
      await changes(asking, id, n)
      const isKilled = await injection.end()
      if (isKilled) kills++
      await service.stop('SIGKILL')
      await service.restart()
      const where = `${point.call} ${point.at}`
      const found = [
        ...(await differencesFrom(ledger, service)),
        ...(await leftAfterStart(service)),
      ]
      for (const each of found) t.fail(`${each} (${where})`)
    }
    t.ok(kills >= (isFull ? 150 : 3), `${kills} kills at a system call`)
    const events: Envelope[] = []
    const found = await differencesInEvents(ledger, service, {
      all: events,
      history: 'all, also by hand',
    })
    for (const each of found) t.fail(each)
    t.strictSame(await receiver.missing(events, 30_000), [], 'each event has arrived')
    const bodies = [...receiver.arrived.values()]
    t.ok(
      bodies.every((all) => new Set(all).size === 1),
      'a repeat has the same id and the same bytes',
    )
    const repeats = bodies.reduce((sum, all) => sum + all.length - 1, 0)
    t.ok(repeats <= 10 * order.length, `${repeats} repeats`)
  },
)

t.test('an error of the Nth system call is a refusal, and nothing else', LIMIT, async (t) => {
  const service: BuiltService = await startBuilt(t, { ...(await folders(t)), args: ['--no-mount'] })
  const ledger = newLedger()
  const asking = createAsking(service, ledger)
  const id = (await asking.create())!
  const all = ['renameat2', 'rename', 'link', 'unlink', 'fsync', 'fdatasync', 'pwrite64', 'openat']
  const wanted = isFull ? all : all.filter(() => chance() < 0.4)
  let failed = 0
  for (const call of wanted) {
    const first = isFull ? 1 : 1 + Math.floor(3 * chance())
    for (let at = first; at < first + (isFull ? 200 : 1); at++) {
      const injection = await inject(service.pid, { call, at, what: 'error=EIO' })
      await changes(asking, id, at % 8)
      const isFailed = await injection.end()
      for (const each of await differencesFrom(ledger, service)) t.fail(`${each} (${call} ${at})`)
      if (!isFailed) break
      failed++
    }
  }
  t.pass(`${failed} calls failed`)
  await service.restart()
  const found = [
    ...(await differencesFrom(ledger, service)),
    ...(await leftAfterStart(service)),
    ...(await differencesInEvents(ledger, service, { history: 'all, also by hand' })),
  ]
  for (const each of found) t.fail(each)
})
