import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createGroupCommit } from '../../src/files/group-commit.ts'
import {
  type EventLog,
  type EventLogOptions,
  openEventLog,
} from '../../src/workspace/log/event-log.ts'
import { createLogFiles } from '../../src/workspace/log/log-files.ts'
import type { JsonValue, LogEvent, NewBatch } from '../../src/workspace/log/log-line.ts'
import { smallDisk } from '../fixtures/small-disk.ts'
import { typescriptFlags } from '../fixtures/typescript-flags.ts'

const fixture = fileURLToPath(new URL('../fixtures/log-process.ts', import.meta.url))

interface OpenLog extends EventLog {
  folder: string
  said: string[]
  /** What the checkpoint is made of, kept as the log's user keeps it. */
  known: Map<string, JsonValue>
}

async function open(folder: string, options: Partial<EventLogOptions> = {}): Promise<OpenLog> {
  const said: string[] = []
  const known = new Map<string, JsonValue>()
  const log = await openEventLog(folder, {
    checkpoint: () => known,
    log: (line) => said.push(line),
    ...options,
  })
  for (const [key, value] of log.marks) known.set(key, value)
  return Object.defineProperties(
    { folder, said, known },
    {
      ...Object.getOwnPropertyDescriptors(log),
      append: {
        value(batch: NewBatch) {
          const events = log.append(batch)
          for (const [key, value] of Object.entries(batch.marks)) {
            if (value === null) known.delete(key)
            else known.set(key, value)
          }
          return events
        },
      },
    },
  ) as OpenLog
}

/** Opened and closed with the test. */
async function opened(t: Test, folder: string, options?: Partial<EventLogOptions>) {
  const log = await open(folder, options)
  t.teardown(() => log.close())
  return log
}

const event = (text: string) => ({ type: 'case_updated', envelope: JSON.stringify({ text }) })
const batch = (text: string, marks: NewBatch['marks'] = {}): NewBatch => ({
  events: [event(text)],
  marks,
})

async function all(log: EventLog, after = 0): Promise<LogEvent[]> {
  const events: LogEvent[] = []
  for await (const each of log.read(after)) events.push(each)
  return events
}

const ids = (events: LogEvent[]) => events.map(({ id }) => id)
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)
const segmentsIn = (folder: string) =>
  readdirSync(folder).filter((name) => /^\d+-\d+\.jsonl$/.test(name))

t.test('a new log gives ids from 1, tells what is on the disk, and reads it back', async (t) => {
  const folder = join(t.testdir(), 'state', 'log')
  const log = await opened(t, folder)
  t.equal(log.isNew, true)
  t.same([log.first, log.last, await all(log)], [0, 0, []])
  const told: LogEvent[] = []
  const off = log.subscribe((each) => told.push(each))
  const first = log.append({ events: [event('a'), event('b')], marks: { x: 1 } })
  const second = log.append({ events: [], marks: { y: { deep: [1, null] } } })
  const third = log.append(batch('c'))
  t.same(ids(first), [1, 2], 'at once')
  t.same([second, ids(third), log.last], [[], [3], 3])
  t.same([told, log.first, await all(log)], [[], 0, []], 'nothing is told before it is on the disk')
  await log.flushed()
  const expected = ['a', 'b', 'c'].map((text, i) => ({ id: i + 1, ...event(text) }))
  t.same(told, expected)
  t.same(await all(log), expected)
  t.same(ids(await all(log, 2)), [3])
  t.same([await all(log, 3), await all(log, 99)], [[], []])
  t.equal(log.first, 1)
  off()
  log.append(batch('d'))
  await log.flushed()
  t.equal(told.length, 3, 'a listener that has left hears no more')
  t.equal(statSync(folder).mode & 0o777, 0o700)
  for (const name of readdirSync(folder)) t.equal(statSync(join(folder, name)).mode & 0o777, 0o600)

  t.test('and the next process goes on with it', async (t) => {
    await log.close()
    t.throws(() => log.append(batch('late')), { message: /closed/ })
    const next = await opened(t, folder)
    t.same([next.isNew, next.first, next.last], [false, 1, 4])
    t.same(
      [...next.marks],
      [
        ['x', 1],
        ['y', { deep: [1, null] }],
      ],
    )
    next.forgetMarks()
    t.equal(next.marks.size, 0)
    t.same(ids(next.append(batch('e'))), [5])
    await next.flushed()
    t.same(ids(await all(next)), [1, 2, 3, 4, 5])
    t.equal(statSync(join(folder, 'checkpoint.jsonl')).mode & 0o777, 0o600)
    t.same(next.said, [])
  })
})

t.test('any text comes back exactly', async (t) => {
  const folder = t.testdir()
  const texts = ['a\nb\r\n', '\0\x1b', '\u2028\u2029', 'é漢😀', '"\\', '', 'x'.repeat(700_000), '{']
  const log = await open(folder)
  log.append({
    events: texts.map((envelope) => ({ type: envelope.slice(0, 9), envelope })),
    marks: {},
  })
  const key = 'a "key"\n\\ \u2028'
  log.append({ events: [], marks: { [key]: texts } })
  await log.flushed()
  t.same(
    (await all(log)).map(({ envelope }) => envelope),
    texts,
  )
  copyFileSync(join(folder, segmentsIn(folder)[0]!), join(folder, 'copy'))
  await log.close()
  const next = await opened(t, folder)
  t.same(
    (await all(next)).map(({ envelope }) => envelope),
    texts,
  )
  t.same(next.marks.get(key), texts)
  const lines = readFileSync(join(folder, 'copy'), 'utf8').trimEnd().split('\n')
  t.same(
    lines.map((line) => JSON.parse(line).first),
    [1],
    'each line is JSON: grep and jq read it',
  )
})

t.test('the baseline of a new log is there whole or not at all', async (t) => {
  const folder = t.testdir()
  const log = await opened(t, folder)
  for (const n of range(1, 100)) log.append({ events: [], marks: { [n]: n } })
  await log.flushed()
  log.append(batch('later', { 1: null, 2: 'two' }))
  await log.flushed()
  const text = readFileSync(join(folder, segmentsIn(folder)[0]!), 'utf8')
  t.same(
    text.split('\n').map((line) => line.includes('"baseline":true')),
    [true, false, false],
  )
  // As after a kill: no checkpoint.
  const next = await opened(t, folder)
  t.equal(next.isNew, false)
  t.same([next.marks.size, next.marks.get('2')], [99, 'two'])
})

t.test(
  'a start that had to read much saves a checkpoint, so that the next one need not',
  async (t) => {
    const folder = t.testdir({})
    const killed = await opened(t, folder)
    killed.append(batch('much', { large: 'x'.repeat(1024 * 1024) }))
    await killed.flushed()
    const path = join(folder, 'checkpoint.jsonl')
    const next = await opened(t, folder)
    next.forgetMarks()
    while (!existsSync(path)) await delay(10)
    const last = await opened(t, folder)
    t.equal(String(last.marks.get('large')).length, 1024 * 1024)
  },
)

t.test('a torn end is cut off, wherever it was torn', async (t) => {
  const folder = t.testdir({ made: {}, torn: {} })
  const log = await open(join(folder, 'made'))
  log.append(batch('first', { a: 1 }))
  await log.flushed()
  log.append(batch('second', { a: 2 }))
  await log.flushed()
  const [name = ''] = segmentsIn(log.folder)
  const whole = readFileSync(join(log.folder, name))
  await log.close()
  const lastLine = whole.indexOf('\n') + 1
  const torn = join(folder, 'torn')
  for (let size = lastLine + 1; size < whole.length; size++) {
    rmSync(torn, { recursive: true })
    mkdirSync(torn)
    writeFileSync(join(torn, name), whole.subarray(0, size))
    const next = await open(torn)
    const [added] = next.append(batch('third', { b: 3 }))
    await next.flushed()
    const after = await open(torn)
    const read = (await all(after)).map(({ envelope }) => JSON.parse(envelope).text)
    const good =
      JSON.stringify(read) === '["first","third"]' &&
      JSON.stringify([...after.marks]) === '[["a",1],["b",3]]' &&
      /within an entry/.test(next.said.join()) &&
      after.said.length === 0 &&
      added!.id >= 2
    if (!good) t.fail(`cut at ${size}`, { read, said: [next.said, after.said], added })
    await next.close()
    await after.close()
  }
  t.pass(`${whole.length - lastLine - 1} cuts`)

  t.test('zeros that a power cut left are a torn end too', async (t) => {
    rmSync(torn, { recursive: true })
    mkdirSync(torn)
    writeFileSync(join(torn, name), Buffer.concat([whole, Buffer.alloc(5000)]))
    const next = await opened(t, torn)
    t.same(ids(await all(next)), [1, 2])
    t.match(next.said, [/within an entry/])
  })
})

/** Copies a folder in which a log is at work: a temporary file may get its name under way, and then it begins anew. */
function copyLive(from: string, to: string): void {
  for (;;) {
    try {
      cpSync(from, to, { recursive: true })
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
      rmSync(to, { recursive: true, force: true })
    }
  }
}

/** The folder of a log with a batch for each number up to `count`, as a kill or a proper end leaves it. */
async function left(
  t: Test,
  count: number,
  options: Partial<EventLogOptions> & { closed?: boolean } = {},
): Promise<string> {
  const folder = t.testdir()
  const log = await open(join(folder, 'live'), options)
  for (const n of range(1, count)) {
    log.append(batch(`text ${n}`, { newest: n, [`key ${n % 3}`]: n }))
    await log.flushed()
  }
  if (options.closed) await log.close()
  copyLive(join(folder, 'live'), join(folder, 'log'))
  await log.close()
  return join(folder, 'log')
}

t.test('damage in the middle costs only the lines that are damaged', async (t) => {
  const spoil = (folder: string, line: number, change: (text: string) => string) => {
    const path = join(folder, segmentsIn(folder)[0]!)
    const lines = readFileSync(path, 'latin1').split('\n')
    lines[line] = change(lines[line]!)
    writeFileSync(path, lines.join('\n'), 'latin1')
  }
  const cases = [
    ['a bit', (text: string) => text.replace('text', 'tex4'), [1, 2, 4, 5]],
    ['a checksum', (text: string) => text.replace(/"crc":"./, '"crc":"g'), [1, 2, 4, 5]],
    ['a number', (text: string) => text.replace('"first":3', '"first":4'), [1, 2, 4, 5]],
    ['a line in two', (text: string) => `${text.slice(0, 50)}\n${text.slice(50)}`, [1, 2, 4, 5]],
    ['a line twice', (text: string) => `${text}\n${text}`, [1, 2, 3, 4, 5]],
    ['an empty line', (text: string) => `${text}\n`, [1, 2, 3, 4, 5]],
    ['garbage', () => '\0\xff{}', [1, 2, 4, 5]],
  ] as const
  for (const [name, change, good] of cases) {
    t.test(name, async (t) => {
      const folder = await left(t, 5)
      spoil(folder, 2, change)
      const spoiled = readFileSync(join(folder, segmentsIn(folder)[0]!))
      const next = await opened(t, folder, { now: () => '2026-11-20T09:54:00.000Z' })
      t.same(ids(await all(next)), good)
      t.same([next.last, next.marks.get('newest')], [5, 5])
      t.match(next.said, [/is damaged: . entries in it are good and stay/])
      const aside = readdirSync(folder).filter((each) => each.includes('damaged'))
      t.match(aside, [/^\d+-\d+\.jsonl\.damaged-20261120T095400\.000Z$/])
      t.same(readFileSync(join(folder, aside[0]!)), spoiled, 'the file as it was is kept')
      t.same(ids(next.append(batch('on'))), [6])
      await next.flushed()
      const after = await opened(t, folder)
      t.same(ids(await all(after)), [...good, 6])
      t.same(after.said, [], 'and the damage is dealt with once')
    })
  }

  t.test('an id whose entry is lost is never given again, whatever happens', async (t) => {
    const folder = await left(t, 5)
    spoil(folder, 4, (text) => text.replace('text', 'tex4'))
    for (const start of [1, 2, 3]) {
      const next = await opened(t, folder)
      t.same([next.last, ids(await all(next))], [5, [1, 2, 3, 4]], `start ${start}`)
    }
    const next = await opened(t, folder)
    t.same(ids(next.append(batch('on'))), [6])
    await next.flushed()
    t.same(ids(await all(next)), [1, 2, 3, 4, 6])
    t.same(ids(await all(await opened(t, folder), 4)), [6])
  })

  t.test('nor when every line is lost', async (t) => {
    const folder = await left(t, 5)
    const path = join(folder, segmentsIn(folder)[0]!)
    writeFileSync(path, readFileSync(path, 'latin1').replaceAll('text', 'tex4'))
    for (const start of [1, 2]) {
      const next = await opened(t, folder)
      t.same([next.last, next.first, next.isNew], [5, 0, true], `start ${start}`)
      t.match(next.said, [/(is damaged|beginning)/])
    }
  })

  t.test('in a file that was left long ago', async (t) => {
    const folder = await left(t, 30, { segmentBytes: 1000 })
    spoil(folder, 1, () => 'x')
    const next = await opened(t, folder)
    t.same(ids(await all(next)), [1, ...range(3, 30)])
    t.match(next.said, [/is damaged/])
    t.equal(next.marks.get('newest'), 30)
  })

  t.test('done while the log is open', async (t) => {
    const folder = await left(t, 5)
    const next = await opened(t, folder)
    spoil(folder, 2, (text) => text.replace('text', 'tex4'))
    t.same(ids(await all(next)), [1, 2, 4, 5])
    t.same(ids(await all(next)), [1, 2, 4, 5])
    t.match(next.said, [/are passed over/], 'said once')
  })
})

t.test('what is no file of the log does no harm', async (t) => {
  const log = await left(t, 3)
  const outside = join(log, '..', 'outside')
  writeFileSync(outside, 'mine')
  writeFileSync(join(log, 'notes.txt'), 'mine')
  mkdirSync(join(log, '000000000007-000000000007.jsonl'))
  symlinkSync(outside, join(log, '000000000009-000000000009.jsonl'))
  const next = await opened(t, log)
  t.same(ids(await all(next)), [1, 2, 3])
  t.equal(next.last, 8, 'an id in a name may have been given')
  t.match(next.said, [/cannot be read/, /cannot be read/])
  next.append(batch('on'))
  await next.flushed()
  t.equal(readFileSync(outside, 'utf8'), 'mine')
  t.equal(readFileSync(join(log, 'notes.txt'), 'utf8'), 'mine')
})

t.test('the marks are right whatever became of the checkpoint', async (t) => {
  const options = { segmentBytes: 1000 }
  const marks = { newest: 40, 'key 0': 39, 'key 1': 40, 'key 2': 38 }
  const cases: [string, (folder: string) => void][] = [
    ['as it is', () => {}],
    ['missing', (folder) => unlinkSync(join(folder, 'checkpoint.jsonl'))],
    ['empty', (folder) => writeFileSync(join(folder, 'checkpoint.jsonl'), '')],
    [
      'cut',
      (folder) => {
        const path = join(folder, 'checkpoint.jsonl')
        writeFileSync(path, readFileSync(path).subarray(0, -3))
      },
    ],
    [
      'changed',
      (folder) => {
        const path = join(folder, 'checkpoint.jsonl')
        writeFileSync(path, readFileSync(path, 'utf8').replace('"newest",', '"newest",1'))
      },
    ],
  ]
  for (const [name, spoil] of cases) {
    for (const end of ['killed', 'closed']) {
      t.test(`${name}, after the service was ${end}`, async (t) => {
        const folder = await left(t, 40, { ...options, closed: end === 'closed' })
        spoil(folder)
        const next = await opened(t, folder, options)
        t.same(Object.fromEntries(next.marks), marks)
        t.same([next.isNew, next.last, ids(await all(next))], [false, 40, range(1, 40)])
        t.same(next.said.length, name === 'missing' || name === 'as it is' ? 0 : 1)
      })
    }
  }

  t.test('older than several segments', async (t) => {
    const folder = await left(t, 20, { ...options, closed: true })
    const kept = readFileSync(join(folder, 'checkpoint.jsonl'))
    const on = await open(folder, options)
    for (const n of range(21, 40))
      on.append(batch(`text ${n}`, { newest: n, [`key ${n % 3}`]: n, gone: 1 }))
    on.append({ events: [], marks: { gone: null } })
    await on.close()
    writeFileSync(join(folder, 'checkpoint.jsonl'), kept)
    const next = await opened(t, folder, options)
    t.same(Object.fromEntries(next.marks), marks)
  })

  t.test('missing, and the first segments trimmed: the files count as known', async (t) => {
    const folder = await left(t, 40, { ...options, keepEvents: 10, closed: true })
    unlinkSync(join(folder, 'checkpoint.jsonl'))
    const next = await opened(t, folder, options)
    t.same([next.isNew, next.last, next.marks.size === 0], [true, 40, false], 'ids go on')
    t.match(next.said, [/beginning of the event log is lost/])
    next.append(batch('on', { new: 1 }))
    await next.flushed()
    const after = await opened(t, folder, options)
    t.same([after.isNew, [...after.marks]], [false, [['new', 1]]], 'and a new baseline counts')
  })

  t.test('not written by a service that only looked', async (t) => {
    const folder = await left(t, 5)
    const looked = await open(folder)
    looked.known.clear()
    await looked.close()
    t.equal((await opened(t, folder)).marks.get('newest'), 5)
  })
})

t.test(
  'the newest 10,000 events can be read, also after a restart, and not many more',
  async (t) => {
    const folder = t.testdir()
    const log = await open(folder)
    let most = 0
    for (let n = 0; n < 60; n++) {
      for (let i = 0; i < 100; i++) {
        log.append({ events: Array.from({ length: 10 }, () => event('x')), marks: {} })
      }
      await log.flushed()
      if (log.last > 10_000 && log.last - log.first + 1 < 10_000) t.fail(`only from ${log.first}`)
      most = Math.max(most, log.last - log.first + 1)
    }
    t.ok(most <= 20_000, `at most ${most}`)
    await log.close()
    const next = await opened(t, folder)
    t.ok(next.first > 1)
    t.same(ids(await all(next)), range(next.first, 60_000))
    t.same(next.said, [])
  },
)

t.test('events that a receiver waits for stay until it has them', async (t) => {
  const folder = t.testdir()
  const options = { segmentBytes: 1000, keepEvents: 10 }
  const log = await open(folder, options)
  const appendTo = async (to: number) => {
    while (log.last < to) {
      log.append(batch('x'))
      await log.flushed()
    }
  }
  log.keepFrom(20)
  await appendTo(100)
  await log.close()
  const next = await opened(t, folder, options)
  t.ok(next.first <= 21 && next.first > 1, `from ${next.first}`)
  const before = next.first
  next.keepFrom(60)
  await next.close()
  const after = await opened(t, folder, options)
  t.ok(after.first > before && after.first <= 61, `from ${after.first}`)
  after.keepFrom(null)
  await after.close()
  t.ok(after.first > 61 && after.first <= 91, `from ${after.first}`)
})

t.test(
  'a file of the log goes when nothing of it is needed, and not one event sooner',
  async (t) => {
    const needs = { segmentBytes: 1, log: () => {}, onRotated() {} }
    /** Three files of one batch with two events each. */
    async function files(t: Test) {
      const files = createLogFiles(t.testdir(), [], needs)
      t.teardown(files.close)
      for (const n of [1, 2, 3]) {
        const events = [event('x'), event('y')]
        const place = { batch: n, first: 2 * n - 1, count: 2, baseline: false }
        await files.write([{ ...place, events, marks: {} }])
      }
      return files
    }
    const nothing = { keepEvents: 0, checkpointed: 9, neededAfter: () => 9 }
    const cases: [name: string, limits: Partial<typeof nothing>, left: number][] = [
      ['what is not needed goes, but for the last file', {}, 1],
      ['an event that is needed', { neededAfter: () => 1 }, 3],
      ['the events behind it are', { neededAfter: () => 2 }, 2],
      ['a batch that no checkpoint holds', { checkpointed: 0 }, 3],
      ['the first is held', { checkpointed: 1 }, 2],
      ['the newest events', { keepEvents: 5 }, 3],
      ['fewer of them', { keepEvents: 4 }, 2],
    ]
    for (const [name, limits, left] of cases) {
      await t.test(name, async (t) => {
        const log = await files(t)
        await log.trim({ ...nothing, ...limits })
        t.equal(log.segments.length, left)
        t.equal(log.trimmedTo, 2 * (3 - left))
      })
    }
  },
)

t.test(
  'a reader misses nothing and sees nothing twice while the log grows and is trimmed',
  async (t) => {
    const log = await opened(t, t.testdir(), { segmentBytes: 20_000, keepEvents: 300 })
    log.append(batch('x'))
    await log.flushed()
    const target = 5000
    /** Replays and follows, as an event stream does. */
    async function follow(slowness: number): Promise<boolean> {
      const live: number[] = []
      const off = log.subscribe(({ id }) => live.push(id))
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
      log.append({
        events: range(1, 1 + (log.last % 7)).map(() => event('x'.repeat(40))),
        marks: {},
      })
      if (log.last % 5 === 0) await log.flushed()
      if (log.last % 40 === 0) followers.push(follow([0, 1, 10][followers.length % 3]!))
    }
    await log.flushed()
    const outcomes = await Promise.all(followers)
    t.ok(outcomes.length > 50 && outcomes.every(Boolean), `${outcomes.length} followers`)
    await log.close()
    t.ok(log.first > 3000, 'and none of them holds anything now')
  },
)

t.test('a listener that fails keeps nobody from the event', async (t) => {
  const log = await opened(t, t.testdir())
  const told: number[] = []
  log.subscribe(() => {
    throw new Error('oops')
  })
  log.subscribe(({ id }) => told.push(id))
  log.append(batch('a'))
  log.append(batch('b'))
  await log.flushed()
  t.same(told, [1, 2])
  t.match(log.said, [/listener.*oops/, /listener.*oops/])
})

t.test(
  'kill -9 at any moment loses nothing that was flushed and leaves no part of a batch',
  async (t) => {
    for (const keep of [100_000, 100]) {
      t.test(`keeping ${keep} events`, async (t) => {
        const folder = t.testdir()
        let killedAt = 0
        for (const lines of [1, 2, 7, 30, 80]) {
          const flushed = await runAndKill(t, folder, keep, lines)
          const log = await open(folder, { keepEvents: keep })
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
          t.equal(log.marks.get('newest'), newest, 'and so are the marks')
          for (let n = Math.max(1, newest - 6); n <= newest; n++) {
            t.equal(log.marks.get(`key ${n % 7}`), n)
          }
          killedAt = last
          await log.close()
        }
      })
    }
  },
)

/** Gives the last id that the process said was flushed. */
async function runAndKill(t: Test, folder: string, keep: number, lines: number): Promise<number> {
  const child = fork(fixture, [folder, String(keep)], {
    execArgv: typescriptFlags,
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

t.test('a full disk: refused, kept, and told once there is room', async (t) => {
  const disk = smallDisk(t)
  if (!disk) return
  const { folder, fill, free } = disk
  const dir = dirname(folder)
  const log = await open(join(folder, 'log'), { segmentBytes: 30_000 })
  const told: number[] = []
  log.subscribe(({ id }) => told.push(id))
  for (let round = 1; round <= 3; round++) {
    log.append(batch('fits', { round }))
    await log.flushed()
    fill()
    const before = log.last
    t.same(told, range(1, before))
    const failed = []
    for (let i = 0; i < 3; i++) {
      log.append({ events: range(1, 5).map(() => event('x'.repeat(2000))), marks: { round, i } })
      failed.push(log.flushed())
    }
    for (const outcome of await Promise.allSettled(failed)) {
      t.match(outcome, { status: 'rejected', reason: { code: 'storage_full' } })
    }
    t.match(log.failure, { code: 'storage_full' })
    await t.rejects(log.flushed(), { code: 'storage_full' })
    t.same(told, range(1, before), 'nothing is told that is not on the disk')
    t.same(ids(await all(log)), range(1, before))
    copyLive(join(folder, 'log'), join(dir, `killed ${round}`))
    const afterKill = await opened(t, join(dir, `killed ${round}`))
    t.same(ids(await all(afterKill)), range(1, before), 'and after a kill that would be there')
    free()
    log.append(batch('more'))
    await log.flushed()
    t.equal(log.failure, null)
    t.same(told, range(1, before + 16), 'in order, and once')
    t.same(ids(await all(log)), range(1, before + 16))
  }
  const said = log.said.filter((line) => !line.includes('checkpoint'))
  t.match(
    said,
    Array(3)
      .fill([/cannot be written.*full/, /written again/])
      .flat(),
  )
  await log.close()
  const next = await open(join(folder, 'log'))
  t.same([ids(await all(next)), next.marks.get('round'), next.said], [told, 3, []])

  t.test('close says what it could not write', async (t) => {
    fill()
    next.append({ events: range(1, 5).map(() => event('x'.repeat(9000))), marks: {} })
    await next.close()
    t.match(next.said, [/cannot be written/, /without 1 entries/])
  })
})

t.test('group commit', async (t) => {
  t.test('writes one after the other, with all that came meanwhile', async (t) => {
    const writes: number[][] = []
    let atOnce = 0
    const commit = createGroupCommit<number>({
      async write(items) {
        t.equal(++atOnce, 1)
        writes.push([...items])
        await setImmediate()
        atOnce--
        return Math.min(items.length, 3)
      },
      onWritten() {},
      onFailure() {},
    })
    for (const n of range(1, 5)) commit.add(n)
    const flushed = commit.flushed()
    t.same(writes, [], 'nothing is done at once')
    await setImmediate()
    commit.add(6)
    await flushed
    t.same(writes, [
      [1, 2, 3, 4, 5],
      [4, 5, 6],
    ])
    await commit.flushed()
  })

  t.test('keeps order and count through any failures', async (t) => {
    const written: number[] = []
    const failures: (string | null)[] = []
    let tries = 0
    const commit = createGroupCommit<number>({
      async write(items) {
        await setImmediate()
        if (++tries % 3) throw Object.assign(new Error(`try ${tries}`), { code: 'EIO' })
        return Math.ceil(items.length / 2)
      },
      onWritten: (items) => written.push(...items),
      onFailure: (failure) => failures.push(failure && (failure.error as Error).message),
      retryMs: 60_000,
    })
    t.teardown(commit.stop)
    let rejected = 0
    for (const n of range(1, 200)) {
      commit.add(n)
      if (n % 4) continue
      try {
        await commit.flushed()
        t.same(written, range(1, n))
      } catch (error) {
        t.match(error, { code: 'EIO' })
        t.not(commit.failure, null)
        rejected++
      }
    }
    while (commit.waiting) await commit.flushed().catch(() => {})
    t.same(written, range(1, 200))
    t.ok(rejected > 10, `${rejected} rejections`)
    t.same([commit.failure, failures.at(-1)], [null, null])
  })

  t.test('tries again by itself', async (t) => {
    let tries = 0
    const done = new Promise<number[]>((resolve) => {
      const commit = createGroupCommit<number>({
        async write(items) {
          if (++tries < 3) throw new Error('not yet')
          return items.length
        },
        onWritten: resolve,
        onFailure() {},
        retryMs: 1,
      })
      commit.add(1)
    })
    const alive = setInterval(() => {}, 1000) // the retry alone keeps no process from ending
    t.same(await done, [1])
    clearInterval(alive)
  })
})
