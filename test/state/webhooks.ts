import { statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Delivery } from '../../src/model/delivery.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import { openDatabase } from '../../src/state/database.ts'
import {
  addWebhook,
  createWebhookStore,
  queueEvent,
  removeWebhook,
  saveOutcomes,
} from '../../src/state/webhooks.ts'

const delivery = (event: number, more: Partial<Delivery> = {}): Delivery => ({
  id: `evt_${event}_00`,
  event,
  type: 'case_updated',
  envelope: `{"n":${event}}`,
  state: 'delivered',
  attempts: [],
  tries: 1,
  next_at: null,
  ...more,
})

const EVERY_STATE = ['queued', 'retrying', 'delivered', 'dead'] as const
const due = (event: number, next_at: string) => delivery(event, { state: 'retrying', next_at })
const eventsOf = (found: readonly Delivery[]) => found.map(({ event }) => event)

async function opened(t: Test) {
  const folder = t.testdir()
  const database = await openDatabase(folder, t.fail)
  t.teardown(() => database.close())
  const add = (id: string) =>
    database.write((run) => addWebhook(run, { webhook: { id } as Webhook, failing: null }))
  const save = (id: string, outcomes: Delivery[]) =>
    database.write((run) => {
      for (const { event, type, envelope } of outcomes) {
        queueEvent(run, id, { id: event, type, envelope })
      }
      const pairs = outcomes.map((after) => ({ before: delivery(after.event), after }))
      saveOutcomes(run, id, pairs, null)
    })
  return { folder, database, store: createWebhookStore(database), add, save }
}

t.test('only its owner may read it, and it has nothing of a webhook that is gone', async (t) => {
  const { folder, database, store, add, save } = await opened(t)
  add('gone')
  save('gone', [delivery(6)])
  database.write((run) => removeWebhook(run, 'gone'), undefined, true)
  save('gone', [delivery(7)]) // was under way
  await database.flushed()
  t.same(store.all(), [])
  t.equal(store.count('gone', EVERY_STATE), 0)
  t.equal(statSync(join(folder, 'casefile.db')).mode & 0o777, 0o600)
})

t.test('what is due comes by its time, and what a clock that ran ahead wrote', async (t) => {
  const { database, store, add, save } = await opened(t)
  const at = (minute: number) => `2026-11-20T10:${minute}:00.000Z`
  for (const id of ['a', 'b']) add(id)
  save('a', [due(1, at(30)), due(2, at(20)), due(3, at(20)), due(4, at(50))])
  save('b', [due(5, at(10))])
  await database.flushed()
  const eventsDue = (limit: number, latest = at(59)) =>
    eventsOf(store.due('a', { now: at(30), latest }, limit))
  t.same(eventsDue(9), [2, 3, 1])
  t.same(eventsDue(2), [2, 3])
  t.same(eventsDue(9, at(40)), [2, 3, 1, 4])
  t.equal(store.nextDue('a', at(30)), at(50))
  t.equal(store.nextDue('a', at(50)), null)
})

t.test(
  'of what has ended the newest 1000 stay of each kind, and all that is retried',
  async (t) => {
    const { database, store, add, save } = await opened(t)
    const range = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, n) => from + n)
    add('a')
    save('a', [due(1, '2026'), ...range(2, 1005).map((event) => delivery(event))])
    save(
      'a',
      range(2001, 3005).map((event) => delivery(event, { state: 'dead' })),
    )
    await database.flushed()
    const page = (
      states: Delivery['state'][] | null,
      before: number | null,
      limit: number | null,
    ) => eventsOf(store.deliveries('a', { states, before, limit }))
    t.same(page(null, null, null), [...range(2006, 3005).reverse(), ...range(6, 1005).reverse(), 1])
    t.same(page(['delivered'], null, 3), [1005, 1004, 1003])
    t.same(page(['delivered', 'retrying'], 7, 3), [6, 1])
    t.equal(store.count('a', EVERY_STATE), 2001)
    t.same(store.delivery('a', 'evt_7_00'), delivery(7))
    for (const id of ['evt_7_01', 'evt_5_00', 'ping_7', '']) t.equal(store.delivery('a', id), null)
    t.equal(store.count('a', ['dead', 'retrying']), 1001)
  },
)

t.test('no page and no retry reads more rows than it needs', async (t) => {
  const { database } = await opened(t)
  const asked: string[] = []
  const store = createWebhookStore({
    ...database,
    all(sql, ...values) {
      asked.push(
        ...database
          .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
          .map(({ detail }) => detail),
      )
      return database.all(sql, ...values)
    },
  })
  store.deliveries('a', { states: null, before: null, limit: 10 })
  store.deliveries('a', { states: ['dead'], before: 9, limit: 10 })
  store.due('a', { now: '2026', latest: '2027' }, 4)
  store.nextDue('a', '2026')
  store.queued('a', 10)
  t.ok(asked.length > 5)
  for (const detail of asked) t.notMatch(detail, /^SCAN deliveries|TEMP B-TREE/)
})
