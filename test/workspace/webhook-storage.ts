import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Delivery, DeliveryState } from '../../src/model/delivery.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import { sealOf } from '../../src/workspace/log/log-line.ts'
import {
  type DeliveryJournal,
  type JournalOptions,
  openDeliveryJournal,
} from '../../src/workspace/webhooks/delivery-journal.ts'
import { createWebhookFiles } from '../../src/workspace/webhooks/webhook-files.ts'
import { smallDisk } from '../fixtures/small-disk.ts'
import { typescriptFlags } from '../fixtures/typescript-flags.ts'

const fixture = fileURLToPath(new URL('../fixtures/journal-process.ts', import.meta.url))
const NOW = '2026-11-20T10:00:00.000Z'
const ASIDE = 'damaged-20261120T100000.000Z'
const ID = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'
const SECRET = 'whsec_Zm9vYmFyYmF6cXV4'

const modeOf = (path: string) => statSync(path).mode & 0o777
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

function webhook(id: string, rest: Partial<Webhook> = {}): Webhook {
  return {
    ...{ id, case_id: null, url: 'http://127.0.0.1:9999/hook', events: ['*'], secret: SECRET },
    ...{ previous_secret: null, earlier_events: [], active: true, disabled: null },
    ...{ starts_after: 7, ends_after: null },
    ...{ created_at: NOW, updated_at: NOW },
    ...rest,
  }
}

function filesIn(folder: string) {
  const said: string[] = []
  const files = createWebhookFiles(folder, { log: (line) => said.push(line), now: () => NOW })
  return { folder, said, ...files }
}

t.test('registrations', async (t) => {
  t.test('come back as they were written, and only their owner may read them', async (t) => {
    const folder = join(t.testdir(), 'webhooks')
    const files = filesIn(folder)
    t.same(await files.all(), [], 'where nothing is')
    const full = webhook(OTHER, {
      ...{ case_id: 'a case', events: ['ping', 'é"\\\n'], secret: '\u2028 "\0', active: false },
      ...{ previous_secret: { secret: 'old', until: NOW }, ends_after: 12 },
      disabled: { reason: 'gone', at: NOW },
    })
    await files.write(webhook(ID))
    await files.write(full)
    t.same(await files.all(), [webhook(ID), full])
    await Promise.all(range(1, 20).map((n) => files.write(webhook(ID, { starts_after: n }))))
    t.same((await filesIn(folder).all())[0], webhook(ID, { starts_after: 20 }), 'the last counts')
    t.equal(modeOf(folder), 0o700)
    for (const name of readdirSync(folder)) t.equal(modeOf(join(folder, name)), 0o600, name)
    t.equal(files.journalPath(ID), join(folder, `${ID}.deliveries.jsonl`))
    t.same(files.said, [])
  })

  t.test('of an earlier version lack what was not there yet', async (t) => {
    const { previous_secret, disabled, ends_after, updated_at, ...old } = webhook(ID)
    const folder = t.testdir({ [`${ID}.json`]: JSON.stringify({ ...old, unknown: 1 }) })
    t.same(await filesIn(folder).all(), [webhook(ID)])
  })

  t.test('that are damaged are set aside, and the rest goes on', async (t) => {
    const good = JSON.stringify(webhook(ID))
    const cases: [string, string | Buffer, RegExp][] = [
      ['empty', '', /not JSON/],
      ['cut', good.slice(0, -20), /not JSON/],
      ['zeros', Buffer.alloc(300), /not JSON/],
      ['no UTF-8', Buffer.from(`${good}\xff`, 'latin1'), /not UTF-8/],
      ['alien', 'a diary', /not JSON/],
      ['null', 'null', /no object/],
      ['a list', '[]', /no object/],
      ['another id', good.replaceAll('1111', '3333'), /its id is not its name/],
      ['no secret', good.replace('"secret"', '"sacred"'), /\(secret\)/],
      ['no case', good.replace('"case_id"', '"case"'), /\(case_id\)/],
      [
        'wrong types',
        good.replace('true', '"true"').replace(':7', ':-7'),
        /\(active, starts_after\)/,
      ],
      ['a wrong time', good.replaceAll('2026-11', '2026-13'), /\(created_at, updated_at\)/],
    ]
    for (const [name, content, why] of cases) {
      t.test(name, async (t) => {
        const folder = t.testdir({
          [`${ID}.json`]: content,
          [`${OTHER}.json`]: JSON.stringify(webhook(OTHER)),
          [`${ID}.deliveries.jsonl`]: 'its journal',
        })
        const files = filesIn(folder)
        t.same(await files.all(), [webhook(OTHER)])
        t.match(files.said, [why])
        t.match(files.said.join().includes(SECRET), false)
        t.same(readFileSync(join(folder, `${ID}.json.${ASIDE}`)), Buffer.from(content))
        t.same(await files.all(), [webhook(OTHER)])
        t.equal(files.said.length, 1, 'said once')

        writeFileSync(join(folder, `${ID}.json`), good)
        t.same(await files.all(), [webhook(ID), webhook(OTHER)], 'mended')
        const journal = readFileSync(files.journalPath(ID), 'utf8')
        t.equal(journal, 'its journal', 'and it goes on where it was')
      })
    }
  })

  t.test('a link, folder or pipe in the place of one does no harm', async (t) => {
    const dir = t.testdir({ outside: JSON.stringify(webhook(ID)), webhooks: {} })
    const folder = join(dir, 'webhooks')
    const path = join(folder, `${ID}.json`)
    const cases: [string, () => void][] = [
      ['link', () => symlinkSync(join(dir, 'outside'), path)],
      ['loop', () => symlinkSync(path, path)],
      ['folder', () => mkdirSync(path)],
      ['pipe', () => execFileSync('mkfifo', [path])],
    ]
    for (const [name, put] of cases) {
      put()
      const files = filesIn(folder)
      t.same(await files.all(), [], name)
      t.match(files.said, [/cannot be read/], name)
      t.same(readdirSync(folder), [`${ID}.json.${ASIDE}`], name)
      rmSync(join(folder, `${ID}.json.${ASIDE}`), { recursive: true })
    }
  })

  t.test('of which any byte is wrong never show their secret', async (t) => {
    const folder = t.testdir()
    const good = Buffer.from(JSON.stringify(webhook(ID)))
    const said: string[] = []
    for (let at = 0; at < good.length; at++) {
      const bytes = Buffer.from(good)
      bytes[at]! ^= 0x21
      writeFileSync(join(folder, `${ID}.json`), bytes)
      const files = filesIn(folder)
      await files.all()
      said.push(...files.said)
    }
    t.ok(said.length > 100, `${said.length} were damaged`)
    const shown = said.filter(
      (line) => line.includes(SECRET.slice(6, 14)) || /hook"|9999/.test(line),
    )
    t.same(shown, [])
  })

  t.test('go, with all that belongs to them', async (t) => {
    const folder = t.testdir({
      [`${ID}.json.${ASIDE}`]: SECRET,
      [`${ID}.deliveries.jsonl`]: 'journal',
      [`${ID}.deliveries.jsonl.${ASIDE}`]: 'journal',
      'notes.txt': 'mine',
      'notes.json': 'mine',
      '.casefile-12-0123456789ab.tmp': 'half',
    })
    const files = filesIn(folder)
    await files.write(webhook(ID))
    await files.write(webhook(OTHER))
    writeFileSync(files.journalPath(OTHER), 'journal')
    await files.remove(ID)
    await files.remove('33333333-3333-4333-8333-333333333333')
    t.same(await files.all(), [webhook(OTHER)])
    const left = ['notes.txt', 'notes.json', `${OTHER}.json`, `${OTHER}.deliveries.jsonl`]
    t.same(readdirSync(folder).sort(), left.sort())
    t.same(files.said, [])
  })

  t.test('a journal whose registration is gone goes too', async (t) => {
    const folder = t.testdir({
      [`${ID}.deliveries.jsonl`]: 'journal',
      [`${ID}.deliveries.jsonl.${ASIDE}`]: 'journal',
      [`${OTHER}.deliveries.jsonl`]: {},
    })
    const files = filesIn(folder)
    t.same(await files.all(), [])
    t.same(readdirSync(folder), [`${OTHER}.deliveries.jsonl`])
    t.match(files.said, [/its webhook is no more/, /its webhook is no more/])
  })

  t.test('what is called in order is done in order', async (t) => {
    const files = filesIn(join(t.testdir(), 'webhooks'))
    await Promise.all([files.write(webhook(ID)), files.remove(ID), files.write(webhook(OTHER))])
    t.same(await files.all(), [webhook(OTHER)])
  })
})

/** Small, as every byte of some is tried below. */
function delivery(event: number, state: DeliveryState = 'delivered', tries = 1): Delivery {
  const isDone = state === 'delivered'
  const attempt = { at: NOW, ms: 12.5, status: 500, error: 'no', retry_after_ms: null }
  return {
    ...{ id: `evt_${event}`, event, type: 'ping', envelope: '{"é":"\\n"}', state, tries },
    ...{ attempts: isDone ? [] : [attempt], next_at: state === 'retrying' ? NOW : null },
  }
}

interface OpenJournal extends DeliveryJournal {
  path: string
  said: string[]
  /** What the snapshot is made of, kept as a receiver keeps it. */
  now: { cursor: number; deliveries: Map<string, Delivery> }
  /** Appends the delivery of an event; it counts when that is acknowledged. */
  take(cursor: number, delivery: Delivery | null): Promise<void>
}

async function open(path: string, options: Partial<JournalOptions> = {}): Promise<OpenJournal> {
  const said: string[] = []
  const now: OpenJournal['now'] = { cursor: 0, deliveries: new Map() }
  const journal = await openDeliveryJournal(path, {
    startsAfter: 0,
    snapshot: () => ({
      progress: { cursor: now.cursor, failing: null },
      deliveries: now.deliveries.values(),
    }),
    log: (line) => said.push(line),
    now: () => NOW,
    ...options,
  })
  now.cursor = journal.progress.cursor
  for (const each of journal.deliveries) now.deliveries.set(each.id, each)
  async function take(cursor: number, delivery: Delivery | null): Promise<void> {
    await journal.append({ cursor, failing: null }, delivery)
    now.cursor = cursor
    if (delivery) now.deliveries.set(delivery.id, delivery)
  }
  return Object.defineProperties(
    { path, said, now, take },
    Object.getOwnPropertyDescriptors(journal),
  ) as OpenJournal
}

/** Opened and closed with the test. */
async function opened(t: Test, path: string, options?: Partial<JournalOptions>) {
  const journal = await open(path, options)
  t.teardown(() => journal.close())
  return journal
}

/** What a process that is killed now leaves to the next. */
async function afterKill(t: Test, path: string): Promise<OpenJournal> {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-killed-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const copy = join(folder, basename(path))
  cpSync(path, copy)
  const journal = await open(copy)
  await journal.close()
  return journal
}

const shown = ({ progress, deliveries }: DeliveryJournal) => ({ ...progress, deliveries })

t.test('a journal', async (t) => {
  t.test('that is new begins where it is told, and makes no file', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await open(path, { startsAfter: 40 })
    t.same(shown(journal), { cursor: 40, failing: null, deliveries: [] })
    t.equal(journal.syncedCursor, 40)
    await journal.sync()
    await journal.close()
    t.notOk(existsSync(path))
    t.same(journal.said, [])
  })

  t.test('comes back as it was appended, the last line of each delivery', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await opened(t, path)
    const failing = { since: NOW, count: 2 }
    await journal.append({ cursor: 5, failing: null }, delivery(5, 'retrying'))
    await journal.append({ cursor: 6, failing }, delivery(3, 'dead', 9))
    await journal.append({ cursor: 9, failing }, null)
    const full: Delivery = {
      ...{
        ...delivery(5, 'delivered', 2),
        envelope: JSON.stringify({ text: 'é漢😀\u2028\0"\\\n' }),
      },
      attempts: [
        { at: NOW, ms: 15_000, status: null, error: 'no answer\n', retry_after_ms: null },
        { at: NOW, ms: 0.25, status: 200, error: null, retry_after_ms: 60_000 },
      ],
    }
    await journal.append({ cursor: 9, failing }, full)
    const expected = { cursor: 9, failing, deliveries: [delivery(3, 'dead', 9), full] }
    const killed = await afterKill(t, path)
    t.same(shown(killed), expected)
    t.same(killed.said, [])
    t.equal(modeOf(path), 0o600)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    t.same(
      lines.map((line) => Object.keys(JSON.parse(line)).join()),
      Array(4).fill('crc,cursor,failing,delivery'),
    )

    await journal.close()
    const next = await opened(t, path)
    t.same(shown(next), expected)
    await next.append({ cursor: 10, failing: null }, delivery(10))
    await next.close()
    t.same(shown(await opened(t, path)), {
      ...{ cursor: 10, failing: null },
      deliveries: [...expected.deliveries, delivery(10)],
    })
  })

  t.test('says how much of it a power cut would leave', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await opened(t, path, { startsAfter: 2 })
    await journal.take(3, delivery(3))
    t.equal(journal.syncedCursor, 2)
    const syncing = journal.sync()
    const later = journal.take(4, delivery(4))
    await syncing
    t.equal(journal.syncedCursor, 3)
    await later
    t.equal(journal.syncedCursor, 3)
    await journal.compact()
    t.equal(journal.syncedCursor, 4)
    await journal.take(5, delivery(5))
    const next = await opened(t, path)
    t.equal(next.syncedCursor, 5, 'what was only written is synced when it is opened')
  })

  t.test('that is closed takes nothing', async (t) => {
    const journal = await open(join(t.testdir(), 'j.jsonl'))
    const last = journal.take(1, delivery(1))
    await Promise.all([journal.close(), journal.close()])
    await last
    t.equal(journal.syncedCursor, 1)
    const late = { message: /j\.jsonl is closed/ }
    await t.rejects(journal.take(2, delivery(2)), late)
    await t.rejects(journal.sync(), late)
    await t.rejects(journal.compact(), late)
  })

  t.test('many lines at once are in order, and few writes', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await opened(t, path)
    const written: number[] = []
    await Promise.all(
      range(1, 500).map((n) => journal.take(n, delivery(n)).then(() => written.push(n))),
    )
    t.same(written, range(1, 500))
    const { progress, deliveries } = await afterKill(t, path)
    t.same([progress.cursor, deliveries], [500, range(1, 500).map((n) => delivery(n))])
  })

  t.test('whose place is taken by a pipe or a folder refuses, and blocks nobody', async (t) => {
    for (const kind of ['pipe', 'folder', 'link']) {
      const path = join(t.testdir(), `${kind}.jsonl`)
      const journal = await opened(t, path)
      if (kind === 'pipe') execFileSync('mkfifo', [path])
      if (kind === 'folder') mkdirSync(path)
      if (kind === 'link') symlinkSync('elsewhere', path)
      await t.rejects(journal.take(1, delivery(1)), kind)
      rmSync(path, { recursive: true })
      await journal.take(1, delivery(1))
      t.same((await afterKill(t, path)).deliveries, [delivery(1)], `${kind} gone`)
    }
  })

  t.test('whose file shrank before its first line is not given a hole', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await open(path)
    await journal.take(1, delivery(1))
    await journal.close()
    const next = await opened(t, path)
    unlinkSync(path)
    await t.rejects(next.take(2, delivery(2)), { code: 'changed_meanwhile' })
  })
})

/** Events 1 to 9, of which 2, 4 and 6 failed; 4 was sent again since. As a kill leaves it. */
async function nine(path: string): Promise<{ retried: number[] }> {
  const journal = await open(path)
  for (const n of range(1, 9)) {
    await journal.take(n, delivery(n, [2, 4, 6].includes(n) ? 'retrying' : 'delivered'))
  }
  await journal.take(9, delivery(2, 'retrying', 2))
  await journal.take(9, delivery(4, 'delivered', 2))
  await journal.close()
  return { retried: [2, 6] }
}

/** As `nine`, then made smaller: most of what was delivered is forgotten. */
async function nineCompacted(path: string): Promise<{ retried: number[] }> {
  await nine(path)
  const journal = await open(path)
  for (const n of [1, 3, 5, 7, 8]) journal.now.deliveries.delete(delivery(n).id)
  await journal.compact()
  await journal.take(10, delivery(10))
  await journal.take(11, delivery(11, 'retrying'))
  await journal.close()
  return { retried: [2, 6, 11] }
}

const MADE = { nine, nineCompacted }

/** Those failed deliveries that neither are known nor come again. */
function lost({ progress, deliveries }: DeliveryJournal, retried: number[]): number[] {
  const waits = ({ event, state }: Delivery) => state === 'retrying' && retried.includes(event)
  const known = deliveries.filter(waits).map(({ event }) => event)
  return retried.filter((event) => !known.includes(event) && event <= progress.cursor)
}

/** Every one; where the lines are alike, so that it does not take for ever, some of each. */
const bytesOf = (name: string, count: number) =>
  range(0, count - 1).filter((at) => name !== 'nine' || at % 4 === 0 || at === count - 1)

/** Several at once, as each waits for the disk. */
async function forEach<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(range(1, 16).map(worker))
}

t.test('a torn end is cut, wherever it was torn', async (t) => {
  for (const [name, make] of Object.entries(MADE)) {
    const folder = t.testdir()
    await make(join(folder, 'made'))
    const whole = readFileSync(join(folder, 'made'))
    /** What is found, by how many lines are whole. */
    const states: string[] = []
    await forEach(bytesOf(name, whole.length + 1), async (size) => {
      const path = join(folder, `${size}.jsonl`)
      const left = whole.subarray(0, size)
      const good = left.subarray(0, left.lastIndexOf('\n') + 1)
      const lines = good.toString().split('\n').length - 1
      writeFileSync(path, left)
      const next = await open(path)
      const { said, progress } = next
      const state = JSON.stringify(shown(next))
      states[lines] ??= state
      const isSaid = /^[^,]*ended within an entry[^,]*$/.test(said.join()) || good.length === size
      if (state !== states[lines] || !isSaid || !readFileSync(path).equals(good)) {
        t.fail(`${name} cut at ${size}`, { said, state })
      }
      if (size % 5 === 0) await next.take(progress.cursor + 1, null)
      await next.close()
      if (size % 5) return
      const after = await open(path)
      if (after.progress.cursor !== progress.cursor + 1 || after.said.length) {
        t.fail(`${name} cut at ${size}, then appended to`, { said: after.said })
      }
      await after.close()
    })
    t.match(readdirSync(folder).join().includes('damaged'), false, 'nothing was set aside')
    const lines = whole.toString().split('\n').length
    t.same([states.length, new Set(states).size], [lines, lines], 'each line counts')
  }
})

t.test('whatever byte is wrong, no failed delivery is lost', async (t) => {
  for (const [name, make] of Object.entries(MADE)) {
    const folder = t.testdir()
    const { retried } = await make(join(folder, 'made'))
    const whole = readFileSync(join(folder, 'made'))
    await forEach(bytesOf(name, whole.length), async (at) => {
      const path = join(folder, `${at}.jsonl`)
      const bytes = Buffer.from(whole)
      bytes[at]! ^= 1 << (at % 8)
      writeFileSync(path, bytes)
      const next = await open(path)
      const isLast = at === whole.length - 1
      const expected = isLast ? /ended within an entry/ : /is damaged/
      if (lost(next, retried).length || next.said.length > 1 || !expected.test(next.said.join())) {
        t.fail(`${name} at ${at}`, { said: next.said, found: shown(next) })
      }
      await next.close()
      if (at % 5) return
      const after = await open(path)
      if (JSON.stringify(shown(after)) !== JSON.stringify(shown(next)) || after.said.length) {
        t.fail(`${name} at ${at}, opened again`, { said: after.said })
      }
      await after.close()
    })
    t.pass(`${name}: ${whole.length} bytes`)
  }

  t.test('nor when it is damaged again and again', async (t) => {
    const dir = t.testdir()
    const made: Record<string, Buffer> = {}
    for (const [name, make] of Object.entries(MADE)) {
      await make(join(dir, name))
      made[name] = readFileSync(join(dir, name))
    }
    const path = join(dir, 'j.jsonl')
    const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255)))
    const property = fc.asyncProperty(
      fc.constantFrom(...(Object.keys(MADE) as (keyof typeof MADE)[])),
      fc.array(damage, { maxLength: 4 }),
      async (name, rounds) => {
        const retried = name === 'nine' ? [2, 6] : [2, 6, 11]
        writeFileSync(path, made[name]!)
        let before = 99
        for (const round of rounds) {
          const bytes = readFileSync(path)
          for (const [part, value] of round) bytes[Math.floor(part * bytes.length)] = value
          writeFileSync(path, bytes)
          const next = await open(path)
          await next.close()
          rmSync(`${path}.${ASIDE}`, { force: true })
          if (next.progress.cursor > before || lost(next, retried).length) return false
          before = next.progress.cursor
        }
        return true
      },
    )
    await fc.assert(property, { numRuns: 150 })
    t.pass('150 files')
  })
})

const NO_SENSE = '"cursor":-1,"failing":null,"delivery":null}'
const SENSELESS = `${sealOf(crc32(NO_SENSE))}${NO_SENSE}`

t.test('the cursor goes back to before the damage, and what is known stays', async (t) => {
  const spoiled = async (t: Test, change: (lines: string[]) => void) => {
    const path = join(t.testdir(), 'j.jsonl')
    await nine(path)
    const lines = readFileSync(path, 'utf8').split('\n')
    change(lines)
    writeFileSync(path, lines.join('\n'))
    return { path, spoiled: readFileSync(path) }
  }
  const cases: [string, (lines: string[]) => void, number, number[]][] = [
    ['a bit', (l) => (l[5] = l[5]!.replace('"no"', '"yo"')), 5, [6]],
    ['a checksum', (l) => (l[5] = l[5]!.replace('"crc":"', '"crc":"0')), 5, [6]],
    ['two lines', (l) => l.splice(2, 4, l[2]!.slice(9), ...l.slice(3, 5), 'x'), 2, [3, 6]],
    ['a line in two', (l) => l.splice(5, 1, l[5]!.slice(0, 99), l[5]!.slice(99)), 5, [6]],
    ['an empty line', (l) => l.splice(5, 0, ''), 5, []],
    ['zeros', (l) => (l[5] = '\0'.repeat(400)), 5, [6]],
    ['zeros at the end', (l) => (l[11] = '\0'.repeat(4096)), 9, []],
    ['something else at the end', (l) => (l[11] = 'a diary'), 9, []],
    ['something else at the beginning', (l) => l.unshift('a diary'), 0, []],
    ['a line that was sealed and makes no sense', (l) => (l[5] = SENSELESS), 5, [6]],
    ['all lines', (l) => l.fill('a diary'), 0, range(1, 9)],
  ]
  for (const [name, change, cursor, gone] of cases) {
    t.test(name, async (t) => {
      const { path, spoiled: bytes } = await spoiled(t, change)
      const next = await opened(t, path)
      t.equal(next.progress.cursor, cursor)
      t.same(
        next.deliveries.map(({ event }) => event),
        range(1, 9).filter((n) => !gone.includes(n)),
      )
      t.match(next.said, [
        /j\.jsonl of the webhooks is damaged: . deliveries in it are good and stay/,
      ])
      t.same(readFileSync(`${path}.${ASIDE}`), bytes, 'the file as it was is kept')
      t.equal(modeOf(path), 0o600)
      await next.take(cursor + 1, delivery(cursor + 1, 'dead'))
      const killed = await afterKill(t, path)
      t.same([killed.progress.cursor, killed.said], [cursor + 1, []], 'it is dealt with once')
    })
  }

  t.test('what is no readable file begins anew', async (t) => {
    const dir = t.testdir({ outside: 'mine' })
    const path = join(dir, 'j.jsonl')
    const cases: [string, () => void][] = [
      ['link', () => symlinkSync(join(dir, 'outside'), path)],
      ['dangling link', () => symlinkSync(join(dir, 'nowhere'), path)],
      ['folder', () => mkdirSync(path)],
      ['pipe', () => execFileSync('mkfifo', [path])],
    ]
    for (const [name, put] of cases) {
      put()
      const next = await open(path, { startsAfter: 33 })
      t.same(shown(next), { cursor: 33, failing: null, deliveries: [] }, name)
      t.match(next.said, [/cannot be read .*: now j\.jsonl\.damaged-/], name)
      await next.take(34, delivery(34))
      await next.close()
      t.same((await afterKill(t, path)).deliveries, [delivery(34)], name)
      unlinkSync(path)
      rmSync(`${path}.${ASIDE}`, { recursive: true })
    }
    t.equal(readFileSync(join(dir, 'outside'), 'utf8'), 'mine')
    t.notOk(existsSync(join(dir, 'nowhere')))
  })

  t.test('an empty file is a new one', async (t) => {
    const next = await opened(t, join(t.testdir({ 'j.jsonl': '' }), 'j.jsonl'), { startsAfter: 4 })
    t.same([next.progress.cursor, next.syncedCursor, next.said], [4, 4, []])
  })
})

t.test('compaction', async (t) => {
  t.test('leaves the snapshot, and what was appended meanwhile behind it', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await opened(t, path)
    for (const n of range(1, 50)) await journal.take(n, delivery(n))
    for (const n of range(1, 45)) journal.now.deliveries.delete(delivery(n).id)
    const inode = statSync(path).ino
    const written: Promise<void>[] = [journal.take(51, delivery(51))]
    const compacted = journal.compact()
    for (const n of range(52, 60)) written.push(journal.take(n, delivery(n)))
    await compacted
    t.not(statSync(path).ino, inode)
    await Promise.all(written)
    const { progress, deliveries, said } = await afterKill(t, path)
    t.same([progress.cursor, said], [60, []])
    t.same(
      deliveries,
      range(46, 60).map((n) => delivery(n)),
    )
    t.equal(modeOf(path), 0o600)
  })

  t.test('comes by itself, and at no moment is anything missing', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await opened(t, path, { compactBytes: 4000 })
    let compactions = 0
    let [inode, largest] = [0, 0]
    for (let n = 1; n <= 600; n += 6) {
      const events = range(n, n + 5)
      await Promise.all(
        events.map((n) => journal.take(n, delivery(n, n % 50 ? 'delivered' : 'retrying'))),
      )
      for (const { id, event } of journal.now.deliveries.values()) {
        if (event % 50 && event < n - 5) journal.now.deliveries.delete(id)
      }
      const { ino, size } = statSync(path)
      if (ino !== inode) compactions++
      ;[inode, largest] = [ino, Math.max(largest, size)]
      const { progress, deliveries, said } = await afterKill(t, path)
      const known = new Set(deliveries.map(({ event }) => event))
      const wanted = [...range(1, n).filter((n) => n % 50 === 0), ...events]
      if (progress.cursor !== n + 5 || said.length || wanted.some((n) => !known.has(n))) {
        t.fail(`at ${n}`, { progress, said, known: [...known] })
      }
    }
    t.ok(compactions > 10, `${compactions} times`)
    t.ok(largest < 30_000, `never more than ${largest} bytes`)
    t.same(journal.said, [])
  })

  t.test('that fails leaves the file as it is, is said once, and tried again', async (t) => {
    const folder = t.testdir()
    const path = join(folder, 'j.jsonl')
    const asked: number[] = []
    const state = { fails: true }
    const journal = await opened(t, path, {
      compactBytes: 2000,
      snapshot() {
        asked.push(statSync(path).size)
        if (state.fails) throw new Error('not now')
        return { progress: { cursor: 40, failing: null }, deliveries: [] }
      },
    })
    for (const n of range(1, 40)) await journal.take(n, delivery(n))
    await journal.sync()
    t.equal((await afterKill(t, path)).deliveries.length, 40)
    t.ok(asked.length >= 3 && asked.length < 10, `${asked}`)
    t.match(journal.said, [/could not be made smaller: Error: not now/])
    await t.rejects(journal.compact(), { message: 'not now' })
    state.fails = false
    await journal.compact()
    await journal.take(41, delivery(41))
    t.same((await afterKill(t, path)).deliveries, [delivery(41)])
  })

  t.test('of which only the sync of the folder fails goes on in the new file', async (t) => {
    const path = join(t.testdir(), 'j.jsonl')
    const journal = await opened(t, path)
    for (const n of range(1, 5)) await journal.take(n, delivery(n))
    await journal.sync()
    journal.now.deliveries.clear()
    const restore = await failing('sync', path, (isFolder) => isFolder)
    await t.rejects(journal.compact(), { code: 'storage_failed' })
    restore()
    await journal.take(6, delivery(6))
    const { progress, deliveries, said } = await afterKill(t, path)
    t.same([progress.cursor, deliveries, said], [6, [delivery(6)], []])
  })
})

/** Lets a method of all open files fail as a bad disk does; gives the way back. */
async function failing(
  method: 'sync' | 'datasync',
  path: string,
  when: (isFolder: boolean) => boolean = () => true,
): Promise<() => void> {
  const handle = await openFile(path)
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  const original = prototype[method]
  const failure = () => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
  prototype[method] = async function (...args: unknown[]) {
    const isFolder = (await this.stat()).isDirectory()
    if (when(isFolder)) throw failure()
    return original.apply(this, args)
  }
  const { fsync } = fs
  const failingSync = (fd: number, done: fs.NoParamCallback) => {
    if (method === 'sync' && when(fs.fstatSync(fd).isDirectory())) done(failure())
    else fsync(fd, done)
  }
  fs.fsync = Object.assign(failingSync, { __promisify__: fsync.__promisify__ })
  syncBuiltinESMExports()
  return () => {
    prototype[method] = original
    fs.fsync = fsync
    syncBuiltinESMExports()
  }
}

t.test('a sync that failed is made good by a new file, not by a second sync', async (t) => {
  const path = join(t.testdir(), 'j.jsonl')
  const journal = await opened(t, path)
  await journal.take(1, delivery(1))
  await journal.sync()
  await journal.take(2, delivery(2))
  const restore = await failing('datasync', path)
  await t.rejects(journal.sync(), { code: 'storage_failed' })
  t.equal(journal.syncedCursor, 1)
  restore()
  await journal.take(3, delivery(3))
  const inode = statSync(path).ino
  await journal.sync()
  t.equal(journal.syncedCursor, 3)
  t.not(statSync(path).ino, inode)
  t.same((await afterKill(t, path)).deliveries.length, 3)

  t.test('and close says when it fails', async (t) => {
    const restore = await failing('datasync', path)
    await journal.take(4, delivery(4))
    await journal.close()
    restore()
    t.match(journal.said, [/not safe from a power cut/])
  })

  t.test('opening too', async (t) => {
    const restore = await failing('datasync', path)
    const next = await opened(t, path)
    restore()
    t.match(next.said, [/not safe from a power cut/])
    t.same([next.progress.cursor, next.syncedCursor], [4, 0])
    await next.sync()
    t.equal(next.syncedCursor, 4)
  })
})

t.test('kill -9 at any moment loses nothing that was acknowledged', async (t) => {
  const path = join(t.testdir(), 'j.jsonl')
  let killedAt = 0
  for (const lines of [1, 4, 30, 100, 333, 50]) {
    const acknowledged = await runAndKill(t, path, lines)
    const { progress, deliveries, said } = await afterKill(t, path)
    const { cursor } = progress
    t.ok(cursor >= acknowledged && acknowledged > killedAt, `${acknowledged} of ${cursor}`)
    const expected = range(1, cursor).filter((n) => n % 5 === 0 || n > cursor - 15)
    const known = new Map(deliveries.map((each) => [each.event, each]))
    t.same(
      expected.filter((n) => {
        const envelope = JSON.stringify({ event: n, text: 'x'.repeat(n % 200) })
        return known.get(n)?.envelope !== envelope
      }),
      [],
    )
    t.ok(
      said.every((line) => /ended within an entry/.test(line)),
      said.join(),
    )
    killedAt = cursor
  }
})

/** Gives the last cursor that the process said was acknowledged. */
async function runAndKill(t: Test, path: string, lines: number): Promise<number> {
  const child = fork(fixture, [path], {
    execArgv: typescriptFlags,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let acknowledged = 0
  let seen = 0
  for await (const line of createInterface({ input: child.stdout! })) {
    acknowledged = Number(line)
    if (++seen === lines) child.kill('SIGKILL')
  }
  await closed
  return acknowledged
}

t.test(
  'a full disk: refused, nothing of it counts, and it goes on once there is room',
  async (t) => {
    const disk = smallDisk(t)
    if (!disk) return
    const { folder, filler, fill, free } = disk
    const path = join(folder, 'j.jsonl')
    const journal = await open(path, { compactBytes: 20_000 })
    const large = (n: number): Delivery => ({ ...delivery(n), envelope: 'x'.repeat(3000) })
    for (let round = 1; round <= 3; round++) {
      const { cursor } = journal.now
      await journal.take(cursor + 1, delivery(cursor + 1, 'retrying'))
      fill()
      const size = statSync(path).size
      const failed = range(2, 4).map((n) => journal.take(cursor + n, large(cursor + n)))
      for (const outcome of await Promise.allSettled(failed)) {
        t.match(outcome, { status: 'rejected', reason: { code: 'storage_full' } })
      }
      await t.rejects(journal.compact(), { code: 'storage_full' })
      t.equal(statSync(path).size, size, 'what was half-written is gone')
      const killed = await afterKill(t, path)
      t.same([killed.progress.cursor, killed.said], [cursor + 1, []])
      await journal.sync()
      t.equal(journal.syncedCursor, cursor + 1)
      free()
      for (const n of range(2, 4)) await journal.take(cursor + n, large(cursor + n))
      const after = await afterKill(t, path)
      t.same([after.progress.cursor, after.said], [cursor + 4, []])
      t.same(after.deliveries, [...journal.now.deliveries.values()])
    }
    t.same(journal.said, [])

    t.test('a registration too is whole or not there', async (t) => {
      const files = filesIn(join(folder, 'webhooks'))
      await files.write(webhook(ID))
      fill()
      const huge = webhook(ID, { url: `http://localhost/${'x'.repeat(30_000)}` })
      await t.rejects(files.write(huge), { code: 'storage_full' })
      t.same(await filesIn(join(folder, 'webhooks')).all(), [webhook(ID)])
      free()
    })

    t.test('compaction fails and is said once, then comes', async (t) => {
      for (const { id } of [...journal.now.deliveries.values()].slice(0, -2)) {
        journal.now.deliveries.delete(id)
      }
      const before = statSync(path).ino
      // Room for lines, but for no second file.
      writeFileSync(filler, Buffer.alloc(0))
      fill()
      const kept = { ...delivery(1), envelope: 'x'.repeat(60_000) }
      journal.now.deliveries.set('kept', { ...kept, id: 'kept' })
      const room = statSync(filler).size - 50_000
      execFileSync('truncate', ['-s', String(room), filler])
      for (let n = 0; n < 8; n++) await journal.take(journal.now.cursor + 1, large(500 + n))
      await journal.sync()
      t.equal(statSync(path).ino, before)
      t.match(journal.said, [/could not be made smaller.*full/])
      free()
      for (let n = 0; n < 9; n++) await journal.take(journal.now.cursor + 1, large(600 + n))
      await journal.sync()
      t.not(statSync(path).ino, before)
      t.equal(journal.said.length, 1)
      const { progress, deliveries } = await afterKill(t, path)
      t.equal(progress.cursor, journal.now.cursor)
      t.equal(deliveries.length, journal.now.deliveries.size)
      await journal.close()
    })
  },
)
