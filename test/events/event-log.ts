import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  createEventLog,
  type EventLog,
  type EventLogOptions,
  type LogEvent,
} from '../../src/events/event-log.ts'
import { type Database, openDatabase } from '../../src/state/database.ts'
import { built } from '../fixtures/built.ts'
import { inLongLane } from '../fixtures/full.ts'

const fixture = built('test/fixtures/log-process.ts')
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n)
const event = (text: string) => ({ type: 'case_updated', envelope: JSON.stringify({ text }) })
const ids = (events: LogEvent[]) => events.map(({ id }) => id)

interface OpenLog {
  log: EventLog
  database: Database
  said: string[]
}

async function open(
  t: Test,
  folder: string,
  options: Partial<EventLogOptions> = {},
): Promise<OpenLog> {
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  const database = await openDatabase(folder, say)
  t.teardown(() => database.close())
  return { log: createEventLog(database, { log: say, ...options }), database, said }
}

async function all(log: EventLog, after = 0): Promise<LogEvent[]> {
  const events: LogEvent[] = []
  for await (const each of log.read(after)) events.push(each)
  return events
}

t.test(
  'a new log gives ids from 1, publishes what is on the disk, and reads it back',
  async (t) => {
    const folder = t.testdir()
    const { log, database, said } = await open(t, folder)
    t.same([log.first, log.last], [0, 0])
    const heard: LogEvent[] = []
    const stop = log.subscribe((each) => void heard.push(each))
    t.same(ids(log.append([event('a'), event('b')])), [1, 2])
    log.append([event('c')])
    t.same([heard, await all(log)], [[], []], 'nobody hears of it before')
    await log.flushed()
    t.same(ids(heard), [1, 2, 3])
    t.same(await all(log), heard)
    t.same(ids(await all(log, 2)), [3])
    stop()
    log.append([event('d')])
    await log.flushed()
    t.equal(heard.length, 3)
    await database.close()

    const next = await open(t, folder)
    t.same([next.log.first, next.log.last], [1, 4])
    t.same(ids(next.log.append([event('e')])), [5])
    await next.log.flushed()
    t.same(ids(await all(next.log)), range(1, 5))
    t.same([...said, ...next.said], [])
  },
)

t.test('a name of an event means the same event in every later run', async (t) => {
  const folder = t.testdir()
  const names: string[] = []
  for (const n of [1, 2, 3]) {
    const { log, database } = await open(t, folder)
    log.append([event('x'), event('y')])
    await log.flushed()
    names.push(log.nameOf(2 * n - 1), log.nameOf(2 * n))
    t.match(
      names,
      range(1, 2 * n).map((id) => new RegExp(`^e[1-9]\\d*-${id}$`)),
    )
    t.same(names.map(log.find), range(1, 2 * n))
    t.equal(log.find(`${names[0]!.split('-')[0]}-${2 * n}`), n === 1 ? 2 : null)
    await database.close()
  }
})

t.test('a name of a lost log, or of one put back from a copy, is unknown', async (t) => {
  const folder = t.testdir({ state: {} })
  const state = join(folder, 'state')
  const appendTo = async (last: number) => {
    const { log, database } = await open(t, state)
    while (log.last < last) log.append([event('x')])
    await log.flushed()
    const names = [log.nameOf(2), log.nameOf(last)] as const
    await database.close()
    return names
  }
  const [second] = await appendTo(3)
  cpSync(state, join(folder, 'copy'), { recursive: true })
  const [, fifth] = await appendTo(5)
  rmSync(state, { recursive: true })
  cpSync(join(folder, 'copy'), state, { recursive: true })
  const back = await open(t, state)
  t.equal(back.log.find(fifth), null, 'before the copy has as many events')
  back.log.append(range(4, 7).map(() => event('z')))
  await back.log.flushed()
  t.equal(back.log.find(fifth), null, 'and after')
  t.equal(back.log.find(second), 2)
  await back.database.close()

  rmSync(state, { recursive: true })
  await appendTo(9)
  const { log } = await open(t, state)
  t.same([second, fifth, '2', '9'].map(log.find), [null, null, null, null])
})

t.test('names stay known while their events do', async (t) => {
  const folder = t.testdir()
  for (let run = 0; run < 12; run++) {
    const { log, database } = await open(t, folder, { keepEvents: 10 })
    log.append(range(1, 7).map(() => event('x')))
    await log.flushed()
    const there = range(log.first - 1, log.last).filter((id) => id > 0)
    t.same(there.map(log.nameOf).map(log.find), there)
    await log.flushed()
    const rows = database.all("SELECT name FROM meta WHERE name LIKE 'event_epoch_%'")
    t.ok(rows.length <= 4, `${rows.length} epochs`)
    await database.close()
  }
})

t.test('any text comes back exactly', async (t) => {
  const { log } = await open(t, t.testdir())
  const texts = ['', '\n\r\u2028', '"\\', '\ud83d\ude00', 'ä'.repeat(100_000)]
  const events = texts.map((text) => ({ type: text.slice(0, 9), envelope: text }))
  log.append(events)
  await log.flushed()
  t.same(
    (await all(log)).map(({ type, envelope }) => ({ type, envelope })),
    events,
  )
})

t.test('the newest events can be read, also after a restart, and not many more', async (t) => {
  const folder = t.testdir()
  const { log, database } = await open(t, folder, { keepEvents: 1000 })
  for (let n = 0; n < 20; n++) {
    log.append(range(1, 100).map(() => event('x')))
    await log.flushed()
    const count = log.last - log.first + 1
    if (log.last > 1000 && count < 1000) t.fail(`only from ${log.first}`)
    if (count > 1300) t.fail(`${count} events`)
  }
  await database.close()
  const next = await open(t, folder)
  t.ok(next.log.first > 600)
  t.same(ids(await all(next.log)), range(next.log.first, 2000))
})

t.test('for a reader that stands still it does not grow without end', async (t) => {
  for (const [what, limit] of Object.entries({
    events: { maxEvents: 200 },
    characters: { maxLength: 2000 },
  })) {
    await t.test(what, async (t) => {
      const { log, said } = await open(t, t.testdir({}), { keepEvents: 10, ...limit })
      log.append([event('x')])
      await log.flushed()
      await log.read(0)[Symbol.asyncIterator]().next()
      for (let n = 1; n < 250; n++) {
        log.append([event('x')])
        await log.flushed()
      }
      t.ok(log.last - log.first < 250, `${log.first} to ${log.last}`)
      t.match(said[0], /as large as it may get: events 2 to/)
      t.same(ids(await all(log)), range(log.first, 250))
    })
  }
})

t.test(
  'a reader misses nothing and sees nothing twice while the log grows and is trimmed',
  async (t) => {
    const { log } = await open(t, t.testdir(), { keepEvents: 300 })
    log.append([event('x')])
    await log.flushed()
    const target = 1500
    /** Replays and follows, as an event stream does. */
    async function follow(slowness: number): Promise<boolean> {
      const live: number[] = []
      const off = log.subscribe(({ id }) => void live.push(id))
      let at = Math.max(0, log.first - 1)
      for await (const { id } of log.read(at)) {
        if (id !== at + 1) return false
        at = id
        if (slowness && id % slowness === 0) await setImmediate()
      }
      while (at < target) {
        const next = live.shift()
        if (next === undefined) await setImmediate()
        else if (next !== at + 1) return false
        else at = next
      }
      off()
      return true
    }
    const followers: Promise<boolean>[] = []
    while (log.last < target) {
      log.append(range(1, 1 + (log.last % 7)).map(() => event('x'.repeat(40))))
      if (log.last % 5 === 0) await log.flushed()
      if (log.last % 40 === 0) followers.push(follow([0, 1, 10][followers.length % 3]!))
    }
    await log.flushed()
    const outcomes = await Promise.all(followers)
    t.ok(outcomes.length > 10 && outcomes.every(Boolean), `${outcomes.length} followers`)
    log.append([event('x')])
    await log.flushed()
    await log.flushed() // the removal follows
    t.ok(log.first > 1000, `and none of them holds anything now: from ${log.first}`)
  },
)

t.test('a listener that fails keeps nobody from the event', async (t) => {
  const { log, said } = await open(t, t.testdir())
  const heard: number[] = []
  log.subscribe(() => {
    throw new Error('oops')
  })
  log.subscribe(({ id }) => void heard.push(id))
  log.append([event('a')])
  log.append([event('b')])
  await log.flushed()
  t.same(heard, [1, 2])
  t.match(said, [/listener.*oops/, /listener.*oops/])
})

t.test(
  'kill -9 at any moment loses nothing that was flushed and leaves no part of a batch',
  inLongLane,
  async (t) => {
    for (const keep of [100_000, 100]) {
      t.test(`keeping ${keep} events`, async (t) => {
        const folder = t.testdir()
        let killedAt = 0
        for (const lines of [1, 2, 7, 30, 80]) {
          const flushed = await runAndKill(t, folder, keep, lines)
          const { log, database } = await open(t, folder, { keepEvents: keep })
          const rows = database.all<{ name: string; value: string }>('SELECT * FROM meta')
          const facts = new Map(rows.map(({ name, value }) => [name, Number(value)]))
          const events = await all(log)
          const last = events.at(-1)?.id ?? 0
          t.ok(last >= flushed && flushed > killedAt, `${flushed} flushed, ${last} there`)
          t.same(ids(events), range(log.first, last))
          let newest = 0
          let expected = JSON.parse(events[0]!.envelope)
          for (const { envelope } of events) {
            const { n, i, of, text } = JSON.parse(envelope)
            const isNext = n === expected.n && i === expected.i && text.length === n % 200
            if (!isNext) t.fail('out of order', { n, i, of, expected })
            expected = i + 1 === of ? { n: n + 1, i: 0 } : { n, i: i + 1 }
            if (i + 1 === of) newest = n
          }
          t.equal(expected.i, 0, 'the last batch is whole')
          t.equal(facts.get('newest'), newest, 'and so is what was written beside it')
          for (let n = Math.max(1, newest - 6); n <= newest; n++) {
            t.equal(facts.get(`key ${n % 7}`), n)
          }
          killedAt = last
          await database.close()
        }
      })
    }
  },
)

/** Gives the last id that the process said was flushed. */
async function runAndKill(t: Test, folder: string, keep: number, lines: number): Promise<number> {
  const child = fork(fixture, [folder, String(keep)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let flushed = 0
  let seen = 0
  for await (const line of createInterface({ input: child.stdout! })) {
    flushed = Number(line)
    if (++seen === lines) child.kill('SIGKILL')
  }
  await closed
  return flushed
}
