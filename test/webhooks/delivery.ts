import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import t from 'tap'
import { afterAttempt, RETRY_WAITS_MS } from '../../src/model/delivery.ts'
import { DEFAULT_EVENTS } from '../../src/model/event-lookup.ts'
import { isLong } from '../fixtures/full.ts'
import { eventOf, gates, never, sleep, tick, webhookBench } from '../fixtures/webhooks.ts'

const HOUR = 60 * 60 * 1000
const MANY = isLong ? 500 : 40
t.test('events arrive once, in their order, one at a time', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add()
  const ids = await bench.publish(50)
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), ids)
  t.equal(bench.most(), 1)
  t.match(bench.got[0], { type: 'case_updated', url: 'http://127.0.0.1:9999/' })
  t.equal(JSON.parse(bench.got[7]!.body).payload.n, 7)
  t.match((await bench.webhooks.deliveries(id))[0], {
    event: ids.at(-1),
    state: 'delivered',
    attempts: [{ status: 204, error: null }],
  })
  await bench.restart()
  await bench.publish(1)
  await bench.webhooks.idle()
  t.equal(bench.got.length, 51, 'nothing comes again after a restart')
})

t.test('a receiver gets the types it asked for, of its case', async (t) => {
  const bench = await webhookBench(t)
  await bench.add({ url: 'http://a/' })
  await bench.add({ url: 'http://b/', events: ['case_created', 'proof_created'] })
  await bench.add({ url: 'http://c/', case_id: 'one', events: ['*', 'case_created'] })
  const types = [...DEFAULT_EVENTS, 'case_created', 'memory_updated']
  for (const type of types) await bench.publish(1, type, { case_id: 'one' })
  await bench.publish(1, 'proof_created', { case_id: 'two' })
  await bench.publish(1, 'problem_found', { case_id: null })
  await bench.webhooks.idle()
  const to = (url: string) => bench.got.filter((post) => post.url === url).map(({ type }) => type)
  t.strictSame(to('http://a/'), [...DEFAULT_EVENTS, 'proof_created'])
  t.strictSame(to('http://b/'), ['proof_created', 'case_created', 'proof_created'])
  t.strictSame(to('http://c/'), [...DEFAULT_EVENTS, 'case_created'])
  const [a, c] = ['http://a/', 'http://c/'].map((url) => bench.got.find((post) => post.url === url))
  t.equal(a?.id, c?.id, 'one event has one id')
  t.equal(a?.body, c?.body)
})

t.test('what fails is tried ten times, and then given up', async (t) => {
  const bench = await webhookBench(t, () => 500)
  const { id } = await bench.add()
  await bench.publish()
  await bench.clock.pass(80 * HOUR)
  const [first] = bench.got
  const waits = bench.got.slice(1).map(({ at }, n) => at - bench.got[n]!.at)
  t.strictSame(waits, RETRY_WAITS_MS)
  t.equal(bench.got.length, 10)
  for (const { id, body } of bench.got) t.strictSame([id, body], [first?.id, first?.body])
  t.equal(new Set(bench.got.map(({ headers }) => headers['webhook-timestamp'])).size, 10)
  const library = new Webhook('secret', { format: 'raw' })
  for (const { at, body, headers } of bench.got) {
    const verified = atTime(at, () => library.verify(body, headers))
    t.strictSame(verified, JSON.parse(body))
    t.equal(headers['X-Service-Event'], 'case_updated')
    t.equal(headers['X-Service-Signature'], first?.headers['X-Service-Signature'])
  }
  t.match(await bench.webhooks.deliveries(id), [{ state: 'dead', next_at: null, tries: 10 }])
  t.match(bench.log.join('\n'), `gave up on ${first?.id} after 10 attempts`)
  t.match(bench.webhooks.get(id), { active: true })
  await bench.clock.pass(300 * HOUR)
  t.equal(bench.got.length, 10)
})

/** For a library that asks the clock of the machine. */
function atTime<T>(ms: number, run: () => T): T {
  const { now } = Date
  Date.now = () => ms
  try {
    return run()
  } finally {
    Date.now = now
  }
}

t.test('the waits are spread by a fifth', async (t) => {
  const failed = { at: '', ms: 1, status: 500, error: 'x', retry_after_ms: null }
  const one = { id: '', event: 1, type: '', envelope: '', attempts: [], next_at: null }
  for (const [tries, wait] of RETRY_WAITS_MS.entries()) {
    for (const random of [0, 0.3, 0.999]) {
      const { next_at } = afterAttempt({ ...one, state: 'retrying', tries }, failed, {
        now: 0,
        random,
      })
      const factor = Date.parse(next_at!) / wait
      t.ok(Math.abs(factor - (0.8 + 0.4 * random)) < 0.001, `${wait} × ${factor}`)
    }
  }
})

t.test('a failed delivery keeps its own schedule, and later ones go on', async (t) => {
  const failing = new Set<number>()
  const bench = await webhookBench(t, (post) => (failing.has(eventOf(post)) ? 503 : 200))
  await bench.add()
  const [a, b, c] = await bench.publish(3).then((ids) => ids as [number, number, number])
  await bench.webhooks.idle()
  const next = c + 1
  failing.add(next).add(next + 2)
  await bench.publish(4)
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), [a, b, c, next, next + 1, next + 2, next + 3])
  failing.clear()
  bench.got.length = 0
  await bench.clock.pass(4999)
  t.strictSame(bench.got, [])
  await bench.clock.pass(1)
  t.strictSame(bench.got.map(eventOf), [next, next + 2])
})

t.test('a clock that ran ahead and was set back holds nothing up', async (t) => {
  let isDown = true
  const bench = await webhookBench(t, () => (isDown ? 500 : 200))
  await bench.add()
  await bench.clock.pass(1000 * HOUR)
  await bench.publish()
  await bench.webhooks.idle()
  isDown = false
  bench.clock.set(bench.clock.now() - 1000 * HOUR)
  await bench.clock.pass(60_000)
  t.equal(bench.got.length, 2)
})

t.test('Retry-After is kept', async (t) => {
  const waits = [120_000, 1000, 30 * 24 * HOUR]
  const bench = await webhookBench(t, () => ({
    status: 429,
    error: 'answered 429',
    retry_after_ms: waits.shift() ?? null,
  }))
  await bench.add()
  await bench.publish()
  await bench.clock.pass(30 * HOUR)
  const gaps = bench.got.slice(1, 4).map(({ at }, n) => at - bench.got[n]!.at)
  t.strictSame(gaps, [120_000, 5 * 60_000, 24 * HOUR], 'but no shorter, and a day at most')
})

t.test('several overdue ones are sent at once, at most five', async (t) => {
  let isDown = true
  const held = gates()
  const bench = await webhookBench(t, () => {
    return isDown ? { error: 'connection refused' } : held.answer()
  })
  const { id } = await bench.add()
  const ids = await bench.publish(MANY)
  await bench.webhooks.idle()
  t.equal(bench.most(), 1, 'one at a time while they come for the first time')
  t.equal(bench.webhooks.status(id).retrying, MANY)
  await bench.close()
  await bench.clock.pass(24 * HOUR, tick)
  isDown = false
  bench.got.length = 0
  await bench.restart()
  const began = bench.clock.now()
  for (let left = MANY; left > 0; left -= 4) {
    await held.reach(4, bench.clock)
    await bench.clock.pass(100, tick)
    t.equal(held.count, 4, 'one request more is for new events')
    held.open(4)
  }
  await bench.webhooks.idle()
  t.ok(bench.clock.now() - began <= 60_000, `${bench.clock.now() - began} ms of 100 ms each`)
  t.equal(bench.most(), 4)
  t.strictSame(
    bench.got.map(eventOf).sort((a, b) => a - b),
    ids,
  )
  t.equal(bench.webhooks.status(id).retrying, 0)
})

t.test(
  'the events of one case: in order to who answers, and all to who fails at random',
  async (t) => {
    const random = fc.sample(fc.nat(99), { numRuns: 10 * MANY, seed: 8 })
    const arrived = new Set<number>()
    const bench = await webhookBench(t, (post) => {
      if (post.url === 'http://whole/') return 200
      if (random.pop()! < 30) return 503
      arrived.add(eventOf(post))
      return 200
    })
    await bench.add({ url: 'http://whole/' })
    await bench.add({ url: 'http://flaky/' })
    const ids = await bench.publish(MANY)
    await bench.webhooks.idle()
    const whole = bench.got.filter(({ url }) => url === 'http://whole/')
    t.strictSame(whole.map(eventOf), ids)
    t.strictSame(
      whole.map(({ body }) => JSON.parse(body).payload.n),
      Array.from({ length: MANY }, (_, n) => n),
    )
    t.ok(arrived.size < 0.9 * MANY, 'some have failed')
    await bench.clock.pass(24 * HOUR)
    t.strictSame(
      [...arrived].sort((a, b) => a - b),
      ids,
    )
    t.equal(bench.got.filter(({ url }) => url === 'http://whole/').length, MANY)
  },
)

t.test('410 disables, and says so', async (t) => {
  let status = 410
  const bench = await webhookBench(t, ({ url }) => (url === 'http://gone/' ? status : 200))
  const { id } = await bench.add({ url: 'http://gone/' })
  await bench.add({ url: 'http://other/', events: ['webhook_disabled'] })
  const [event] = await bench.publish()
  await bench.webhooks.idle()
  await bench.publish(3)
  await bench.clock.pass(200 * HOUR)
  t.strictSame(
    bench.got.map(({ url, type }) => [url, type]),
    [
      ['http://gone/', 'case_updated'],
      ['http://other/', 'webhook_disabled'],
    ],
  )
  t.strictSame(JSON.parse(bench.got[1]!.body).payload, {
    webhook_id: id,
    case_id: null,
    reason: 'gone',
  })
  t.match(bench.webhooks.get(id), { active: false, disabled: { reason: 'gone' } })
  t.match(bench.log.join('\n'), `webhook ${id} is disabled: its receiver answered 410 Gone`)
  await t.rejects(bench.webhooks.redeliver(id, bench.got[0]!.id), { code: 'wrong_state' })

  await bench.restart()
  await bench.publish()
  t.match(bench.webhooks.get(id), { active: false, disabled: { reason: 'gone' } })
  status = 200
  bench.got.length = 0
  const resumed = await bench.webhooks.change(id, { active: true })
  t.match(resumed, { active: true, disabled: null })
  await bench.webhooks.idle()
  t.equal(bench.got.filter((post) => eventOf(post) === event).length, 1, 'what was refused too')
  t.equal(bench.got.length, 5, 'and what came meanwhile')
})

t.test('nothing but failures for 120 hours disables', async (t) => {
  let isUp = false
  const bench = await webhookBench(t, ({ url }) => (isUp || url === 'http://other/' ? 200 : 500))
  const { id } = await bench.add()
  await bench.add({ url: 'http://other/', events: ['webhook_disabled'] })
  await bench.publish(2)
  await sleep(bench, 119 * HOUR)
  await bench.publish(9)
  await bench.clock.pass(0)
  t.match(bench.webhooks.get(id), { active: true })
  isUp = true
  await bench.publish()
  await bench.clock.pass(0)
  isUp = false
  t.equal(bench.webhooks.status(id).failing_since, null)
  await bench.publish()
  await sleep(bench, 119 * HOUR)
  t.match(bench.webhooks.get(id), { active: true }, 'a success begins it anew')
  await bench.publish(9)
  await bench.clock.pass(0)
  t.match(bench.webhooks.get(id), { active: true })
  await sleep(bench, 2 * HOUR)
  t.match(bench.webhooks.get(id), { active: false, disabled: { reason: 'failing' } })
  t.strictSame(bench.webhooks.summary(), { active: 1, paused: 0, disabled: 1, failing: 0 })
  const [reported, ...others] = bench.got.filter(({ url }) => url === 'http://other/')
  t.strictSame(others, [])
  t.match(JSON.parse(reported!.body), {
    event_type: 'webhook_disabled',
    payload: { webhook_id: id, reason: 'failing' },
  })
  t.match(bench.log.join('\n'), `webhook ${id} is disabled: `)
  const sent = bench.got.length
  await bench.publish(3)
  await bench.clock.pass(200 * HOUR)
  t.equal(bench.got.length, sent)
})

t.test('events that wait keep the choice that stood when they happened', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add({ events: ['proof_created'] })
  await bench.webhooks.change(id, { active: false })
  const first = await bench.publish(2, 'proof_created')
  await bench.publish(2)
  await bench.webhooks.change(id, { events: ['case_updated'] })
  await bench.publish(1, 'proof_created')
  const second = await bench.publish(2)
  await bench.webhooks.change(id, { events: ['*'] })
  await bench.restart()
  const third = [...(await bench.publish(1, 'proof_created')), ...(await bench.publish(1))]
  await bench.webhooks.change(id, { active: true })
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), [...first, ...second, ...third])
})

t.test('a new secret signs at once, the old one a day longer', async (t) => {
  const bench = await webhookBench(t)
  const { id } = await bench.add({ secret: 'old' })
  await bench.webhooks.change(id, { secret: 'new' })
  await bench.restart()
  const count = isLong ? 100 : 3
  /** How many requests one who knows this secret alone takes, by either signature. */
  const taken = async () => {
    bench.got.length = 0
    await bench.publish(count)
    await bench.webhooks.idle()
    const counts = { old: 0, new: 0, oldHex: 0, newHex: 0 }
    for (const { at, body, headers } of bench.got) {
      for (const secret of ['old', 'new'] as const) {
        const library = new Webhook(secret, { format: 'raw' })
        if (atTime(at, () => doesPass(() => library.verify(body, headers)))) counts[secret]++
        const hex = createHmac('sha256', secret).update(body).digest('hex')
        if (headers['X-Service-Signature'] === `sha256=${hex}`) counts[`${secret}Hex`]++
      }
    }
    return counts
  }
  const both = { old: count, new: count, oldHex: 0, newHex: count }
  t.strictSame(await taken(), both)
  await bench.clock.pass(24 * HOUR - 1)
  t.strictSame(await taken(), both)
  await bench.clock.pass(1)
  t.strictSame(await taken(), { ...both, old: 0 })
})

function doesPass(verify: () => unknown): boolean {
  try {
    verify()
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}

t.test('the webhook of a deleted case stays until it has all that was told of it', async (t) => {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let answers = 0
  const bench = await webhookBench(t, async () => {
    await held
    return answers++ === 0 ? 500 : 200
  })
  const events = ['case_updated', 'case_deleted']
  await bench.add({ case_id: 'one', url: 'http://slow/', events })
  await bench.publish(2, 'case_updated', { case_id: 'one' })
  await bench.publish(1, 'case_deleted', { case_id: 'one' })
  await bench.webhooks.endOfCase('one')
  t.equal(bench.got.length, 1, 'the first is under way')
  letGo()
  await bench.webhooks.idle()
  t.strictSame(
    bench.got.map(({ type }) => type),
    ['case_updated', 'case_updated', 'case_deleted'],
  )
  await bench.clock.pass(HOUR)
  t.equal(bench.got[3]?.id, bench.got[0]!.id, 'also what failed at first')
  t.equal(bench.got.length, 4)
})

t.test('what was under way when the service stopped comes again, with the same id', async (t) => {
  let isHanging = true
  const bench = await webhookBench(t, (_, signal) => (isHanging ? never(signal) : 200))
  await bench.add()
  const ids = await bench.publish(3)
  while (bench.got.length === 0) await new Promise(setImmediate)
  const closing = bench.webhooks.close()
  await closing
  isHanging = false
  await bench.restart()
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), [ids[0], ...ids])
  t.equal(bench.got[0]?.id, bench.got[1]?.id)
})
