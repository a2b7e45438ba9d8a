import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { APPLICATION_ID, MIGRATIONS } from '../../src/state/schema.ts'
import { connect, type SqliteConnection } from '../../src/state/sqlite.ts'
import { inLongLane } from '../fixtures/full.ts'
import { eventOf, gate, webhookBench } from '../fixtures/webhooks.ts'

/** Another connection to the database of a bench. */
function alter({ stateDir }: { stateDir: string }, work: (connection: SqliteConnection) => void) {
  const connection = connect(join(stateDir, 'casefile.db'))
  work(connection)
  connection.close()
}

t.test('an event and its deliveries are one transaction', async (t) => {
  const bench = await webhookBench(t)
  await bench.add()
  await bench.add({ events: ['proof_created'] })
  alter(bench, (connection) =>
    connection.exec(`
      CREATE TABLE absent (id INTEGER PRIMARY KEY);
      CREATE TABLE fault (id REFERENCES absent (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER at_commit AFTER INSERT ON deliveries BEGIN INSERT INTO fault VALUES (1); END`),
  )
  await t.rejects(bench.publish(3), /FOREIGN KEY constraint failed/, 'the commit fails')
  t.strictSame(bench.rows('SELECT id FROM events'), [])
  t.strictSame(bench.rows('SELECT event_id FROM deliveries'), [])
  t.strictSame(bench.got, [])
  alter(bench, (connection) => connection.exec('DROP TRIGGER at_commit'))
  await bench.eventLog.flushed()
  t.same(bench.rows('SELECT id FROM events'), [{ id: 1 }, { id: 2 }, { id: 3 }])
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), [1, 2, 3])
})

t.test(
  'a kill between an event and its delivery loses nothing, nor does a trimmed log',
  async (t) => {
    const answer = gate<number>()
    const bench = await webhookBench(t, () => answer.opened, { keepEvents: 500 })
    const { id } = await bench.add()
    await bench.webhooks.change(id, { active: false })
    const ids = await bench.publish(3)
    await bench.publish(1100, 'memory_updated')
    await bench.eventLog.flushed()
    await bench.kill()
    t.ok(bench.eventLog.first > ids.at(-1)!, 'the log waits for no receiver')
    await bench.webhooks.change(id, { active: true })
    ids.push(...(await bench.publish(2)))
    t.equal(bench.got.length, 1, 'the first is under way')
    const killing = bench.kill()
    answer.open(204)
    await killing
    await bench.webhooks.idle()
    t.strictSame(bench.got.map(eventOf), [ids[0], ...ids])
  },
)

t.test('what waits for a webhook that was disabled has an end', inLongLane, async (t) => {
  let status = 410
  const bench = await webhookBench(t, () => status)
  const { id } = await bench.add()
  await bench.publish()
  await bench.webhooks.idle()
  const ids = await bench.publish(11_999)
  status = 204
  bench.got.length = 0
  await bench.webhooks.change(id, { active: true })
  await bench.webhooks.idle()
  t.strictSame(bench.got.map(eventOf), ids.slice(-10_000))
  t.match(bench.log.join('\n'), `webhook ${id}: 10000 events wait already`)
})

t.test('a database of before has its events queued, and keeps what had failed', async (t) => {
  const bench = await webhookBench(t, ({ url }) => (url === 'http://down/' ? 500 : 204))
  await bench.close()
  const webhook = (id: string, more: object = {}) => ({
    id,
    case_id: null,
    url: `http://${id}/`,
    events: ['*'],
    earlier_events: [],
    secret: 'secret',
    previous_secret: null,
    active: true,
    disabled: null,
    ends_after: null,
    ...more,
  })
  const events = [
    ['case_updated', 'one'],
    ['proof_created', 'two'],
    ['case_created', 'one'],
    ['case_deleted', 'one'],
    ['case_updated', 'two'],
  ] as const
  const earlier_events = [
    { events: ['case_created'], up_to: 1 },
    { events: ['proof_created'], up_to: 4 },
  ]
  const ofOne = { case_id: 'one', events: ['*', 'case_deleted'], ends_after: 4 }
  const registered: [webhook: { id: string }, cursor: number, gets: number[]][] = [
    [webhook('all'), 0, [1, 2, 5]],
    [webhook('done'), 5, []],
    [webhook('paused', { active: false }), 2, [5]],
    [webhook('named', { events: ['case_created', 'proof_created'] }), 0, [2, 3]],
    [webhook('changed', { earlier_events }), 0, [2, 5]],
    [webhook('of-two', { case_id: 'two' }), 0, [2, 5]],
    [webhook('of-one', ofOne), 0, [1, 4]],
    [webhook('down', { events: ['case_deleted'] }), 4, []],
  ]
  rmSync(join(bench.stateDir, 'casefile.db'))
  alter(bench, (connection) => {
    const step = MIGRATIONS.findIndex((sql) => sql.includes('DROP COLUMN cursor'))
    for (const sql of MIGRATIONS.slice(0, step)) connection.exec(sql)
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${step}`)
    const insert = (table: string, ...values: (string | number | null)[]) =>
      connection.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?')})`).run(...values)
    for (const [n, [type, case_id]] of events.entries()) {
      insert('events', n + 1, type, JSON.stringify({ event_type: type, payload: { case_id } }))
    }
    for (const [each, cursor] of registered) {
      insert('webhooks', each.id, JSON.stringify(each), cursor, null)
    }
    const due = '2026-11-01T10:00:00.000Z'
    insert('deliveries', 'down', 1, 'evt_1_00', 'case_deleted', '{}', 'dead', '[]', 10, null)
    insert('deliveries', 'down', 2, 'evt_2_00', 'case_deleted', '{}', 'retrying', '[]', 2, due)
  })
  await bench.restart()
  await bench.webhooks.idle()
  await bench.webhooks.change('paused', { active: true })
  await bench.webhooks.idle()
  for (const [{ id }, , gets] of registered.slice(0, -1)) {
    const sent = bench.got.filter(({ url }) => url === `http://${id}/`)
    t.strictSame(sent.map(eventOf), gets, id)
  }
  t.match(await bench.webhooks.deliveries('down'), [
    { id: 'evt_2_00', state: 'retrying', tries: 3 },
    { id: 'evt_1_00', state: 'dead' },
  ])
  t.throws(() => bench.webhooks.get('of-one'), { code: 'not_found' }, 'it had all of its case')
})
