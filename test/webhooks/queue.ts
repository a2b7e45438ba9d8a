import { join } from 'node:path'
import t from 'tap'
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
