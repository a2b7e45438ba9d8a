import t from 'tap'
import { createRetryPace } from '../../src/webhooks/retry-pace.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import {
  eventOf,
  fakeClock,
  gate,
  gates,
  sleep,
  tick,
  untilTried,
  webhookBench,
} from '../fixtures/webhooks.ts'

const HOUR = 60 * 60 * 1000
const URLS = ['http://a/', 'http://b/', 'http://c/']

/** Resolves when it is so; the test's own time-out is the limit. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate)
}

t.test('a new event does not wait for retries', async (t) => {
  let isDown = true
  const held = gates()
  const bench = await webhookBench(t, () => (isDown ? 500 : held.answer()))
  await bench.add()
  await bench.publish(60)
  await bench.webhooks.idle()
  isDown = false
  bench.got.length = 0
  await bench.clock.pass(6000, tick)
  await held.reach(4, bench.clock)
  const [fresh] = await bench.publish()
  await held.reach(5, bench.clock)
  for (let left = 61; left > 0; left--) {
    await held.reach(1, bench.clock)
    held.open(1)
  }
  await bench.webhooks.idle()
  t.equal(bench.got.map(eventOf).indexOf(fresh!), 4, 'the fifth request')
  t.equal(bench.got.length, 61)
  t.equal(bench.most(), 5)
})

t.test('retries to receivers that fail keep a pace, all together', async (t) => {
  let isDown = true
  const bench = await webhookBench(t, () => (isDown ? { error: 'connection refused' } : 204))
  for (const url of URLS) await bench.add({ url })
  await bench.publish(15)
  await bench.webhooks.idle()
  bench.got.length = 0
  await bench.clock.pass(4999)
  t.equal(bench.got.length, 0)
  await bench.clock.pass(201)
  const first = bench.got.length
  t.ok(first >= 18 && first <= 24, `${first} in a fifth of a second`)
  const counts = URLS.map((url) => bench.got.filter((post) => post.url === url).length)
  t.ok(Math.max(...counts) - Math.min(...counts) <= 2, `they take turns: ${counts}`)
  isDown = false
  bench.got.length = 0
  await bench.clock.pass(100)
  t.equal(bench.got.length, 45 - first, 'and none once they answer')
  await bench.clock.pass(HOUR)
  t.equal(bench.got.length, 45)
})

t.test('a queue that cannot be read for a moment is read again', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add()
  await bench.webhooks.change(id, { active: false })
  const ids = await bench.publish(3)
  bench.failReads(2)
  await bench.webhooks.change(id, { active: true })
  await bench.clock.pass(500)
  t.strictSame(bench.got, [])
  await bench.clock.pass(2000)
  t.strictSame(bench.got.map(eventOf), ids)
  t.match(bench.log, [/could not be read; trying again: Error: EMFILE/])
  t.equal(bench.log.length, 1, 'and it is said once')
})

t.test('what goes wrong in here is tried again too', async (t) => {
  let isBroken = true
  const bench = await webhookBench(t, () => {
    if (isBroken) throw new TypeError('a mistake of ours')
    return 204
  })
  const { id } = await bench.add()
  const ids = await bench.publish(2)
  await bench.webhooks.idle()
  t.match(await bench.webhooks.deliveries(id), [
    { state: 'retrying', attempts: [{ status: null, error: /see its log/ }] },
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
  await bench.publish()
  await bench.webhooks.idle()
  const { next_at } = await untilTried(bench, id, 9)
  isLast = true
  bench.clock.set(Date.parse(next_at!) - 1)
  const passing = bench.clock.pass(60_000)
  await until(() => bench.got.length === 10)
  await bench.webhooks.redeliver(id, bench.got[0]!.id)
  isLast = false
  last.open(500)
  await passing
  await until(() => bench.got.length > 10)
  await bench.clock.pass(HOUR)
  t.equal(bench.got.length, 14, 'with the schedule from its beginning')
  t.match(await bench.webhooks.deliveries(id), [{ state: 'retrying', tries: 4 }])
  const { failing_since } = bench.webhooks.status(id)
  await bench.webhooks.change(id, { active: true })
  t.match(bench.webhooks.status(id), { failing_since }, 'it was active, and still fails')
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

t.test('one that was resumed is not disabled for what was before, killed or not', async (t) => {
  const bench = await webhookBench(t, () => 500)
  const { id } = await bench.add()
  await bench.publish()
  await bench.webhooks.idle()
  await sleep(bench, 120 * HOUR)
  await bench.publish(9)
  await bench.clock.pass(0)
  t.match(bench.webhooks.get(id), { disabled: { reason: 'failing' } })
  await bench.webhooks.change(id, { active: true })
  await bench.kill()
  await bench.publish(3)
  await bench.clock.pass(HOUR)
  t.match(bench.webhooks.get(id), { active: true, disabled: null })
})

t.test('a kill at any moment repeats ten at most, and loses nothing', async (t) => {
  for (const moment of isLong ? [1, 7, 10, 11, 19, 20, 24] : [1, 10, 19]) {
    const atMoment = gate<number>()
    const bench = await webhookBench(t, () => (bench.got.length === moment ? atMoment.opened : 204))
    await bench.add()
    const ids = await bench.publish(25)
    await until(() => bench.got.length === moment)
    const killing = bench.kill()
    atMoment.open(204)
    await killing
    await bench.webhooks.idle()
    const came = bench.got.map(eventOf)
    const again = came.slice(moment)
    t.ok(moment - again[0]! < 10, `${moment}: from ${again[0]} on again`)
    t.strictSame([...ids.slice(0, again[0]! - 1), ...again], ids)
    t.strictSame(came.slice(0, moment), ids.slice(0, moment))
  }
})

t.test('a full disk: no more is sent than may come again, and nothing is lost', async (t) => {
  const first = gate<number>()
  const bench = await webhookBench(t, (post) => {
    if (eventOf(post) === 3) return 500
    return bench.got.length === 1 ? first.opened : 204
  })
  const { id } = await bench.add()
  const ids = await bench.publish(30)
  await until(() => bench.got.length === 1)
  bench.fill(true)
  first.open(204)
  for (let n = 0; n < 200; n++) await tick()
  t.equal(bench.got.length, 10, 'it stops when ten are not on the disk')
  t.same(bench.rows('SELECT DISTINCT state FROM deliveries'), [{ state: 'queued' }])
  bench.fill(false)
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), ids)
  t.match(bench.webhooks.status(id), { retrying: 1 })
  t.match(bench.rows("SELECT event_id FROM deliveries WHERE state <> 'delivered'"), [
    { event_id: 3 },
  ])
})

t.test('a full disk: whoever waits for an answer gets one, and nothing is changed', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add({ url: 'http://a/' })
  await bench.publish()
  await bench.webhooks.idle()
  const [sent] = await bench.webhooks.deliveries(id)
  const works: (() => Promise<unknown>)[] = [
    () => bench.webhooks.add({ case_id: null, url: 'http://b/', events: ['*'], secret: null }),
    () => bench.webhooks.change(id, { url: 'http://b/' }),
    () => bench.webhooks.redeliver(id, sent!.id),
    () => bench.webhooks.remove(id),
  ]
  for (const work of works) {
    bench.fill(true)
    await t.rejects(work(), { code: 'storage_full' }, 'when it is found out')
    await t.rejects(work(), { code: 'storage_full' }, 'and when it is known')
    bench.fill(false)
    await bench.webhooks.idle()
  }
  await bench.restart()
  t.match(bench.webhooks.list(null), [{ id, url: 'http://a/', active: true }])
  t.equal(bench.webhooks.list(null).length, 1)
})

t.test('however many wait for a retry, none is forgotten', inLongLane, async (t) => {
  let isDown = true
  const bench = await webhookBench(t, () => (isDown ? { error: 'connection refused' } : 204))
  const { id } = await bench.add()
  const ids = await bench.publish(1020)
  await bench.webhooks.idle()
  const retrying = await bench.webhooks.deliveries(id)
  t.strictSame(
    retrying.map(({ event }) => event),
    [...ids].reverse(),
  )
  isDown = false
  await bench.clock.pass(HOUR)
  const ended = await bench.webhooks.deliveries(id)
  t.strictSame(
    ended.map(({ event, state }) => `${event} ${state}`),
    ids
      .slice(-1000)
      .reverse()
      .map((event) => `${event} delivered`),
    'of the rest the newest',
  )
})

t.test('a clock that is set back by an hour holds up no retry', async (t) => {
  const clock = fakeClock(async () => {})
  const reserveRetry = createRetryPace(clock)
  for (const _ of [1, 2, 3]) {
    t.equal(reserveRetry(), 0)
    t.equal(reserveRetry(), 10)
    t.equal(reserveRetry(), 20)
    clock.set(clock.now() - HOUR)
  }
})
