import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Delivery } from '../../src/model/delivery.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import { type Book, createBook } from '../../src/webhooks/book.ts'
import { createMainLane } from '../../src/webhooks/main-lane.ts'
import { newDelivery } from '../../src/webhooks/message.ts'
import { createPace } from '../../src/webhooks/pace.ts'
import { createProgressWriter } from '../../src/webhooks/progress-writer.ts'
import { createRoom } from '../../src/webhooks/room.ts'
import type { Tries } from '../../src/webhooks/tries.ts'
import type { Progress } from '../../src/workspace/webhooks/delivery-journal.ts'
import { eventOf, fakeClock, gate, gates, never, tick, webhookBench } from '../fixtures/webhooks.ts'

const HOUR = 60 * 60 * 1000

/** Resolves when it is so; the test's own time-out is the limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate)
}

const registeredIn = (stateDir: string) =>
  readdirSync(join(stateDir, 'webhooks')).filter((name) => /^[0-9a-f-]+\.json$/.test(name))

t.test('a new event comes before retries that wait for their turn', async (t) => {
  let isDown = true
  const held = gates()
  const bench = await webhookBench(t, () => (isDown ? 500 : held.answer()))
  await bench.add()
  await bench.tell(60)
  await bench.webhooks.idle()
  isDown = false
  bench.got.length = 0
  await bench.clock.pass(6000, tick)
  await held.reach(5, bench.clock)
  const [fresh] = await bench.tell()
  for (let left = 61; left > 0; left--) {
    await held.reach(1, bench.clock)
    held.open(1)
  }
  await bench.webhooks.idle()
  t.equal(bench.got.map(eventOf).indexOf(fresh!), 5, 'the sixth request')
  t.equal(bench.got.length, 61)
  t.equal(bench.most(), 5)
})

t.test('retries that are due wait no longer because the clock was set back', async (t) => {
  let isDown = true
  const held = gates()
  const bench = await webhookBench(t, () => (isDown ? 500 : held.answer()))
  const { id } = await bench.add()
  await bench.tell(8)
  await bench.webhooks.idle()
  isDown = false
  bench.got.length = 0
  await bench.clock.pass(5000, tick)
  await held.reach(5, bench.clock)
  bench.clock.set(bench.clock.now() - 2000)
  held.open(5)
  await bench.webhooks.idle()
  t.equal(bench.webhooks.status(id).retrying, 3)
  await held.reach(3, bench.clock)
  held.open(3)
  await bench.webhooks.idle()
  t.equal(bench.webhooks.status(id).retrying, 0)
})

t.test('retries to receivers that fail keep a pace, all together', async (t) => {
  let isDown = true
  const bench = await webhookBench(t, () => (isDown ? { error: 'connection refused' } : 204))
  for (const url of ['http://a/', 'http://b/', 'http://c/']) await bench.add({ url })
  await bench.tell(100)
  await bench.webhooks.idle()
  bench.got.length = 0
  await bench.clock.pass(4999)
  t.equal(bench.got.length, 0)
  await bench.clock.pass(501)
  const tried = bench.got.length
  t.ok(tried >= 48 && tried <= 54, `${tried} in half a second`)
  isDown = false
  bench.got.length = 0
  await bench.clock.pass(100)
  t.equal(bench.got.length, 300 - tried, 'and none once they answer')
  await bench.clock.pass(HOUR)
  t.equal(bench.got.length, 300)
})

t.test(
  'with very many retries further events wait in the log, and come all the same',
  async (t) => {
    let isDown = true
    const bench = await webhookBench(t, () => (isDown ? { error: 'connection refused' } : 204))
    const { id } = await bench.add()
    const ids = await bench.tell(5100)
    await bench.webhooks.idle()
    t.match(bench.webhooks.status(id), { retrying: 5000, cursor: ids[4999] })
    await bench.restart()
    await bench.webhooks.idle()
    t.match(bench.webhooks.status(id), { retrying: 5000, cursor: ids[4999] })
    isDown = false
    bench.got.length = 0
    await bench.clock.pass(HOUR)
    t.strictSame(new Set(bench.got.map(eventOf)), new Set(ids))
    t.equal(bench.got.length, 5100)
    t.match(bench.webhooks.status(id), { retrying: 0, cursor: ids.at(-1) })
  },
)

t.test('a log that cannot be read for a moment is read again', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add()
  await bench.webhooks.change(id, { active: false })
  const ids = await bench.tell(3)
  bench.failReads(2)
  await bench.webhooks.change(id, { active: true })
  await bench.clock.pass(500)
  t.strictSame(bench.got, [])
  await bench.clock.pass(2000)
  t.strictSame(bench.got.map(eventOf), ids)
  t.match(bench.log, [/could not be read, and will be again: Error: EMFILE/])
  t.equal(bench.log.length, 1, 'and it is said once')
})

t.test('what goes wrong in here is tried again too', async (t) => {
  let isBroken = true
  const bench = await webhookBench(t, () => {
    if (isBroken) throw new TypeError('a mistake of ours')
    return 204
  })
  const { id } = await bench.add()
  const ids = await bench.tell(2)
  await bench.webhooks.idle()
  t.match(await bench.webhooks.deliveries(id), [
    { state: 'retrying', attempts: [{ status: null, error: /its log says why/ }] },
    { state: 'retrying' },
  ])
  t.match(bench.log.join('\n'), 'could not be sent: TypeError: a mistake of ours')
  isBroken = false
  bench.got.length = 0
  await bench.clock.pass(5000)
  t.strictSame(bench.got.map(eventOf), ids)
})

t.test('a redelivery that is asked for during the last try is made', async (t) => {
  let isLast = false
  const last = gate<number>()
  const bench = await webhookBench(t, () => (isLast ? last.opened : 500))
  const { id } = await bench.add()
  await bench.tell()
  await bench.webhooks.idle()
  while ((await bench.webhooks.deliveries(id))[0]?.tries !== 9) await bench.clock.pass(HOUR)
  isLast = true
  const passing = bench.clock.pass(30 * HOUR)
  await until(() => bench.got.length === 10)
  await bench.webhooks.redeliver(id, bench.got[0]!.id)
  isLast = false
  last.open(500)
  await passing
  await until(() => bench.got.length > 10)
  await bench.clock.pass(HOUR)
  t.equal(bench.got.length, 15, 'with the schedule from its beginning')
  t.match(await bench.webhooks.deliveries(id), [{ state: 'retrying', tries: 5 }])
})

t.test('a redelivery is made whose record is under way when the last try begins', async (t) => {
  let isHeld = false
  const held = gates()
  const bench = await webhookBench(t, () => (isHeld ? held.answer() : 500))
  const { id } = await bench.add()
  await bench.tell()
  await bench.webhooks.idle()
  while ((await bench.webhooks.deliveries(id))[0]?.tries !== 9) await bench.clock.pass(HOUR)
  const [last] = await bench.webhooks.deliveries(id)
  await bench.clock.pass(Date.parse(last!.next_at!) - bench.clock.now() - 1)
  isHeld = true
  const asked = bench.webhooks.redeliver(id, last!.id)
  await bench.clock.pass(1, async () => {}) // and the tenth try is due
  await asked
  await held.reach(1, bench.clock)
  isHeld = false
  held.open(1, 500)
  await until(() => (await bench.webhooks.deliveries(id))[0]?.state === 'retrying')
  await bench.webhooks.idle()
  await bench.clock.pass(HOUR)
  t.match(await bench.webhooks.deliveries(id), [{ state: 'retrying' }])
})

t.test('a redelivery that is asked for during a try survives a kill', async (t) => {
  let isHanging = false
  const bench = await webhookBench(t, (_, signal) => (isHanging ? never(signal) : 500))
  const { id } = await bench.add()
  await bench.tell()
  await bench.clock.pass(100 * HOUR)
  isHanging = true
  await bench.webhooks.redeliver(id, bench.got[0]!.id)
  await until(() => bench.got.length === 11)
  t.match(await bench.webhooks.redeliver(id, bench.got[0]!.id), { state: 'retrying', tries: 0 })
  isHanging = false
  await bench.restart() // cut while under way, which leaves what a kill leaves
  await until(() => bench.got.length === 12)
  await bench.webhooks.idle()
  t.match(await bench.webhooks.deliveries(id), [{ state: 'retrying', tries: 1 }])
})

t.test('receivers that fail take turns', async (t) => {
  let isDown = true
  const bench = await webhookBench(t, () => (isDown ? { error: 'connection refused' } : 204))
  const urls = ['http://a/', 'http://b/', 'http://c/', 'http://d/']
  for (const url of urls) await bench.add({ url })
  await bench.tell(50)
  await bench.webhooks.idle()
  bench.got.length = 0
  await bench.clock.pass(5400)
  const tried = urls.map((url) => bench.got.filter((post) => post.url === url).length)
  t.ok(Math.max(...tried) - Math.min(...tried) <= 2, tried.join(', '))
  isDown = false
})

t.test('pings wait for each other, and see what was changed meanwhile', async (t) => {
  const held = gates()
  const bench = await webhookBench(t, () => held.answer())
  const { id } = await bench.add({ url: 'http://old/' })
  const pings = Array.from({ length: 3 }, () => bench.webhooks.test(id))
  await until(() => held.count === 1)
  await bench.webhooks.change(id, { url: 'http://new/' })
  held.open(1)
  await until(() => held.count === 1)
  await bench.webhooks.remove(id)
  held.open(1)
  const came = await Promise.allSettled(pings)
  t.strictSame(
    bench.got.map(({ url, type }) => [url, type]),
    [
      ['http://old/', 'ping'],
      ['http://new/', 'ping'],
    ],
  )
  t.match(came, [{ status: 'fulfilled' }, {}, { reason: { code: 'not_found' } }])
})

t.test('an earlier choice of events counts for no event of a new log', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add({ events: ['case_updated'] })
  await bench.tell(40)
  await bench.webhooks.change(id, { active: false })
  await bench.tell(5)
  for (const events of [['proof_created'], ['proof_updated'], ['proof_created']]) {
    await bench.webhooks.change(id, { events })
  }
  t.equal(bench.webhooks.get(id).earlier_events.length, 1, 'which are no more than needed')
  await bench.close()
  rmSync(join(bench.stateDir, 'log'), { recursive: true })
  await bench.restart()
  await bench.restart()
  await bench.clock.pass(1)
  const wanted = await bench.tell(3, 'proof_created')
  await bench.tell(2)
  bench.got.length = 0
  await bench.webhooks.change(id, { active: true })
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), wanted)
})

t.test('a 410 that comes while the webhook is deleted does not bring it back', async (t) => {
  const answer = gate<number>()
  const bench = await webhookBench(t, () => answer.opened)
  const { id } = await bench.add()
  await bench.tell()
  await until(() => bench.got.length === 1)
  const removing = bench.webhooks.remove(id)
  answer.open(410)
  await removing
  await bench.restart()
  t.strictSame(bench.webhooks.list(null), [])
  t.strictSame(registeredIn(bench.stateDir), [])
})

t.test('one that was resumed is not disabled for what was before, killed or not', async (t) => {
  const bench = await webhookBench(t, () => 500)
  const { id } = await bench.add()
  await bench.tell()
  await bench.clock.pass(119 * HOUR)
  await bench.tell()
  await bench.clock.pass(3 * HOUR)
  t.match(bench.webhooks.get(id), { disabled: { reason: 'failing' } })
  await bench.webhooks.change(id, { active: true })
  const journal = join(bench.stateDir, 'webhooks', `${id}.deliveries.jsonl`)
  const asKilled = readFileSync(journal)
  await bench.close()
  writeFileSync(journal, asKilled)
  await bench.restart()
  await bench.tell(3)
  await bench.clock.pass(HOUR)
  t.match(bench.webhooks.get(id), { active: true, disabled: null })
})

t.test('a paused webhook of a deleted case goes, also when its end was cut short', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add({ case_id: 'one' })
  await bench.webhooks.change(id, { active: false })
  await bench.tell(3, 'case_updated', { case_id: 'one' })
  await bench.close()
  const file = join(bench.stateDir, 'webhooks', `${id}.json`)
  const ending = { ...JSON.parse(readFileSync(file, 'utf8')), ends_after: bench.eventLog.last }
  writeFileSync(file, JSON.stringify(ending))
  await bench.restart()
  await bench.webhooks.idle()
  t.strictSame(registeredIn(bench.stateDir), [])
  t.match(bench.webhooks.summary(), { paused: 0 })
})

t.test('one that is ending ends also in a log that begins anew', async (t) => {
  let isDown = true
  const bench = await webhookBench(t, () => (isDown ? 500 : 204))
  await bench.add({ case_id: 'one' })
  await bench.tell(300, 'case_updated', { case_id: 'two' })
  await bench.tell(1, 'case_updated', { case_id: 'one' })
  await bench.webhooks.idle()
  await bench.webhooks.endOfCase('one')
  await bench.close()
  rmSync(join(bench.stateDir, 'log'), { recursive: true })
  await bench.restart()
  isDown = false
  await bench.clock.pass(HOUR)
  t.equal(bench.got.length, 2)
  t.strictSame(registeredIn(bench.stateDir), [])
})

t.test('the state as a kill leaves it at any moment repeats one at most', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add()
  await bench.tell(20)
  await bench.webhooks.idle()
  await bench.close()
  const journal = join(bench.stateDir, 'webhooks', `${id}.deliveries.jsonl`)
  const [begun, ...lines] = readFileSync(journal, 'utf8').split('\n').slice(0, -1)
  for (const kept of [1, 7, 19, 20]) {
    const sent = lines.slice(0, kept).map((line) => JSON.parse(line).delivery?.event)
    writeFileSync(journal, [begun, ...lines.slice(0, kept), ''].join('\n'))
    bench.got.length = 0
    await bench.restart()
    await bench.webhooks.idle()
    await bench.close()
    const again = bench.got.map(eventOf)
    t.strictSame(
      [...sent, ...again],
      Array.from({ length: 20 }, (_, n) => n + 1),
    )
  }
})

t.test('room in the lists of retries: each has some, and who was held is woken', async (t) => {
  const books = Array.from({ length: 5 }, () => createBook([]))
  let wakes = 0
  const room = createRoom(
    () => books,
    () => wakes++,
  )
  const [big, few, some] = books as [Book, Book, Book]
  const fill = (book: Book, from: number, to: number) => {
    for (let event = from; event < to; event++) book.put(delivery(event))
  }
  fill(big, 0, 4999)
  t.ok(room.hasRoom(big))
  fill(big, 4999, 5000)
  t.notOk(room.hasRoom(big), 'no more than 5,000 of one')
  for (const book of books.slice(2)) fill(book, 0, 4999)
  fill(few, 0, 3)
  t.notOk(room.hasRoom(some), 'no more than 20,000 of all')
  t.ok(room.hasRoom(few), 'but one with few has room')
  room.freed()
  t.equal(wakes, 0)
  for (let event = 0; event < 100; event++) big.put({ ...delivery(event), state: 'delivered' })
  room.freed()
  room.freed()
  t.equal(wakes, 1)
  t.ok(room.hasRoom(some))
})

const ENOSPC = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

/** A writer on a journal that takes nothing while `isFull`. */
function writing(t: Test) {
  const clock = fakeClock(async () => {})
  const at: Progress = { cursor: 5, failing: null }
  const disk = { isFull: false, isClosed: false, lines: [] as { cursor: number; id?: string }[] }
  const log: string[] = []
  const writer = createProgressWriter({
    ...{ at, clock, book: createBook([]), log: (line: string) => void log.push(line) },
    isClosed: () => disk.isClosed,
    journal: {
      progress: { ...at },
      async append({ cursor }, delivery) {
        if (disk.isFull) throw ENOSPC
        disk.lines.push({ cursor, ...(delivery ? { id: delivery.id } : {}) })
      },
    },
  })
  t.teardown(() => clock.pass(0))
  return { clock, at, disk, log, writer }
}

const delivery = (event: number): Delivery => ({
  ...{ id: `evt_${event}`, event, type: 'case_updated', envelope: '{}', state: 'retrying' },
  ...{ attempts: [], tries: 1, next_at: null },
})

t.test('a full disk: progress waits, and the cursor passes nothing unwritten', async (t) => {
  const { clock, at, disk, log, writer } = writing(t)
  disk.isFull = true
  const first = writer.write({ cursor: 6, delivery: delivery(6) })
  const second = writer.write({ delivery: delivery(3) })
  await clock.pass(10_000)
  t.match([at.cursor, disk.lines.length, log.length], [5, 0, 1], 'and it is said once')
  disk.isFull = false
  await clock.pass(1000)
  await Promise.all([first, second])
  t.strictSame(disk.lines, [
    { cursor: 6, id: 'evt_6' },
    { cursor: 6, id: 'evt_3' },
  ])
  t.equal(at.cursor, 6)
})

t.test('a full disk: whoever waits for an answer gets one', async (t) => {
  const { clock, disk, writer } = writing(t)
  disk.isFull = true
  await t.rejects(writer.writeNow({ failing: null }), ENOSPC)
  const patient = writer.write({ cursor: 6, delivery: delivery(6) })
  const behind = t.rejects(writer.writeNow({ delivery: delivery(1) }), ENOSPC)
  await clock.pass(0)
  await behind
  await t.rejects(writer.writeNow({ delivery: delivery(2) }), ENOSPC)
  disk.isFull = false
  await clock.pass(1000)
  await patient
  await writer.writeNow({ delivery: delivery(4) })
  t.strictSame(
    disk.lines.map(({ id }) => id),
    ['evt_6', 'evt_4'],
    'what was refused is not written later',
  )
})

t.test(
  'a full disk, and then a stop: the failed delivery is sent again at the next start',
  async (t) => {
    const { clock, at, disk, writer } = writing(t)
    disk.isFull = true
    const stuck = t.rejects(writer.write({ cursor: 6, delivery: delivery(6) }), ENOSPC)
    await clock.pass(0)
    disk.isClosed = true
    await clock.pass(1000)
    await stuck
    disk.isFull = false // a line without the delivery may be short enough
    await writer.writeNow({}).catch(() => {})
    t.equal(at.cursor, 5)
    t.ok(disk.lines.every(({ cursor }) => cursor === 5))
  },
)

/** Of the event with this id. */
function deliveryOf(id: number): Delivery {
  return newDelivery({ id, type: 'case_updated', envelope: `{"payload":{"n":${id}}}` })
}

t.test('however many wait for a retry, none is forgotten', async (t) => {
  const waiting = Array.from({ length: 1500 }, (_, n) => deliveryOf(n + 1))
  const book = createBook(waiting)
  t.equal(book.of('retrying').size, 1500)
  for (const each of waiting) book.put({ ...each, state: 'delivered' })
  t.equal(book.of('retrying').size, 0)
  t.strictSame([book.all().length, book.all()[0]!.event], [1000, 1500], 'the newest of the rest')
})

t.test('an event is sent once, also where a damaged journal set the cursor back', async (t) => {
  const events = [1, 2, 3].map(deliveryOf).map(({ event, type, envelope }) => {
    return { id: event, type, envelope }
  })
  const at: Progress = { cursor: 0, failing: null }
  const wanted: Partial<Webhook> = { events: ['*'], earlier_events: [], case_id: null }
  const sent: number[] = []
  await new Promise<void>((resolve) => {
    const tries: Partial<Tries> = {
      async first({ event }) {
        sent.push(event)
        at.cursor = event
      },
    }
    const lane = createMainLane({
      ...{ at, tries: tries as Tries, book: createBook([deliveryOf(1), deliveryOf(3)]) },
      webhook: () => wanted as Webhook,
      isOn: () => true,
      eventLog: {
        async *read(after) {
          yield* events.filter(({ id }) => id > after)
        },
      },
      room: { hasRoom: () => true, freed: () => {} },
      onRest: resolve,
      clock: fakeClock(async () => {}),
      log: t.fail,
    })
    lane.wake()
  })
  t.strictSame([sent, at.cursor], [[2], 3])
})

t.test('a clock that is set back by an hour keeps nobody from his turn', async (t) => {
  const clock = fakeClock(async () => {})
  const pace = createPace(clock)
  const called: number[] = []
  for (const n of [1, 2, 3]) {
    pace.ask(() => called.push(n))
    await clock.pass(10)
    t.equal(called.at(-1), n)
    clock.set(clock.now() - HOUR)
  }
})
