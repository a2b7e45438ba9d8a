import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { DATABASE_FILE } from '../../src/state/database.ts'
import { connect } from '../../src/state/sqlite.ts'
import { inLongLane } from '../fixtures/full.ts'
import { rowsOnDisk } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

// What was read of the cases is rows of casefile.db (docs/decisions.md, 19)

const SAMPLE = fileURLToPath(new URL('../../sample-workspace/memory', import.meta.url))
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const caseMd = (title: string, more = '') => `---\ntitle: ${title}\n---\n${more}`

/** The sample, and cases with problems of all kinds. */
function fill(app: Pick<TestService, 'memory'>): void {
  cpSync(SAMPLE, app.memory, { recursive: true, force: true })
  const cases = join(app.memory, 'cases')
  const whole = '6802b34d-37d5-420a-afaa-e69e7f45a6ed'
  const put = (n: number, files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      const path = join(cases, idOf(n), name)
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, text)
    }
  }
  const session = readFileSync(join(cases, whole, 'sessions/1.md'), 'utf8')
  put(1, { 'case.md': caseMd('Hand-made', 'No times.\n'), 'a note.md': 'x', 'notes.md': 'y' })
  put(2, { 'case.md': '---\ntitle: [broken\n---\n' })
  put(3, { 'case.md': '' })
  put(4, { 'case.md': caseMd('A copy').replace('title', `id: ${idOf(1)}\ntitle`) })
  put(5, { 'case.md': caseMd('Of nobody').replace('title', `id: ${idOf(77)}\ntitle`) })
  put(6, { 'sessions/1.md': session })
  put(7, {
    'case.md': caseMd('UnknownRecord'),
    'sessions/1.md': session.replace(/^state: .*$/m, 'state: executing'),
  })
  put(8, { 'case.md': caseMd('Broken session'), 'sessions/1.md': 'nothing' })
  put(9, { 'case.md': caseMd('Resolved?').replace('title', 'state: RESOLVED\ntitle') })
  put(10, { 'case.md': caseMd('Twins'), 'sessions/1.md': session, 'sessions/2.md': session })
  put(11, { 'case.md': caseMd('Parent').replace('title', `parent: ${idOf(1)}\ntitle`) })
  put(12, { 'case.md': caseMd('Proof'), [`proof/${idOf(500)}.md`]: 'what is this' })
  mkdirSync(join(cases, 'no-uuid'), { recursive: true })
  writeFileSync(join(cases, idOf(1), 'bytes.md'), Buffer.from([0xff, 0xfe, 0x80]))
}

const SUB = ['', '/sessions', '/proof', '/memory', '/gate', '/checklist']

async function answers(app: TestService): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  const get = async (path: string) => {
    const { status, text, json } = await app.request('GET', path)
    all[path] = `${status} ${text.replaceAll(app.url, '')}`
    return json
  }
  const cases = await get('/cases')
  for (const { id } of cases) {
    for (const each of SUB) await get(`/cases/${id}${each}`)
    const sessions = (await app.request('GET', `/cases/${id}/sessions`)).json
    for (const session of sessions) await get(`/cases/${id}/sessions/${session.id}`)
  }
  await get('/triage')
  await get('/cases?state=OPEN')
  all.health = (await app.request('GET', '/health')).json.problems
  return all
}

/** Carries out a statement on the database of a service that is closed. */
function sql<Row>(app: TestService, statement: string): Row[] {
  const connection = connect(join(app.stateDir, DATABASE_FILE))
  try {
    return connection.prepare(statement).all() as Row[]
  } finally {
    connection.close()
  }
}

/** The cases that the next start need not read. */
async function trustedIds(app: TestService): Promise<string[]> {
  await app.close()
  const rows = sql<{ id: string }>(app, 'SELECT id FROM cases WHERE print IS NOT NULL ORDER BY id')
  await app.restart()
  return rows.map(({ id }) => id)
}

/** As if another build of the program had stored the values. */
async function otherBuild(app: TestService): Promise<void> {
  await app.close()
  sql(app, "UPDATE meta SET value = 'another build' WHERE name = 'cases' RETURNING 1")
}

async function cold(app: TestService): Promise<Record<string, unknown>> {
  await otherBuild(app)
  await app.restart()
  return answers(app)
}

const bytesOf = (app: TestService) =>
  [DATABASE_FILE, `${DATABASE_FILE}-wal`]
    .map((name) => join(app.stateDir, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'latin1'))
    .join('')

/** What is other in the second. */
function changed(before: Record<string, unknown>, after: Record<string, unknown>) {
  const paths = Object.keys({ ...before, ...after })
  const isOther = (path: string) => JSON.stringify(before[path]) !== JSON.stringify(after[path])
  return Object.fromEntries(
    paths.filter(isOther).map((path) => [path, [before[path], after[path]]]),
  )
}

/** What was changed a moment ago tells nothing by its stamps. */
async function warm(app: TestService): Promise<void> {
  await app.restart()
  await delay(60)
  await app.restart()
  await app.restart()
}

t.test('what a first start reads is stored, and told to nobody', async (t) => {
  const app = await openTestService(t)
  fill(app)
  await delay(60)
  await app.close()
  rmSync(join(app.stateDir, DATABASE_FILE))
  await app.restart()
  t.equal(app.service.eventLog.last, 0, 'nothing is told')
  const first = await answers(app)
  const trusted = await trustedIds(app)
  t.ok(trusted.length >= 10, `${trusted.length} are not read again`)
  t.strictSame(changed(first, await answers(app)), {})
  t.equal(app.service.eventLog.last, 0, 'nothing is told')
})

t.test('a deleted case leaves no text, whether a service runs or not', async (t) => {
  const app = await openTestService(t)
  const secret = 'Bluebeard'
  for (const n of [1, 2]) {
    mkdirSync(app.file(idOf(n)), { recursive: true })
    writeFileSync(app.file(idOf(n), 'case.md'), caseMd(secret))
  }
  const { id } = await app.newCase({ title: 'Zanzibar', description: 'Quetzalcoatl' })
  await app.newCase({ title: 'Stays' })
  await warm(app)
  t.match(bytesOf(app), secret)
  rmSync(app.file(idOf(1)), { recursive: true })
  while (app.service.catalog.has(idOf(1))) await app.service.synchronizer.rescan()
  await app.request('DELETE', `/cases/${id}`)
  await app.close()
  rmSync(app.file(idOf(2)), { recursive: true })
  await app.restart()
  await app.close()
  const tables = ['cases', 'case_values', 'texts']
  for (const table of tables) {
    const left = sql<{ n: number }>(app, `SELECT n FROM ${table}`)
    t.equal(left.length, 1, table)
  }
  t.match(bytesOf(app), 'Stays')
  const stored = sql<Record<string, string>>(
    app,
    'SELECT * FROM cases JOIN case_values USING (n) JOIN texts USING (n)',
  )
  t.notMatch(JSON.stringify(stored), /Bluebeard|Zanzibar|Quetzalcoatl/)
})

t.test('a start that reads no unchanged case answers as one that reads all', async (t) => {
  const app = await openTestService(t)
  fill(app)
  await warm(app)
  const trusted = await trustedIds(app)
  t.ok(trusted.length >= 10, `${trusted.length} are not read`)
  const last = app.service.eventLog.last
  const first = await answers(app)
  const indexOf = () => readFileSync(join(app.memory, 'index.md'), 'utf8')
  // one that was written a moment before a restart is left alone for 2 s
  while (!indexOf().includes(`\n${app.service.catalog.ids().length} cases`)) await delay(50)
  const index = indexOf()
  await app.restart()
  t.strictSame(changed(first, await answers(app)), {})
  t.equal(app.service.eventLog.last, last, 'nothing is told')
  t.strictSame(changed(first, await cold(app)), {}, 'cold')
  t.equal(app.service.eventLog.last, last, 'nothing is told')
  await app.close()
  t.equal(indexOf(), index)
})

const away: [string, (app: TestService, id: string) => void][] = [
  [
    'an edit of the same size with the old time',
    (app, id) => {
      const path = app.file(id, 'case.md')
      const { atime, mtime } = statSync(path)
      writeFileSync(path, readFileSync(path, 'utf8').replace('Title a', 'Title b'))
      utimesSync(path, atime, mtime)
    },
  ],
  [
    'an edit by a rename',
    (app, id) => {
      writeFileSync(app.file(id, 'x'), caseMd('Renamed'))
      renameSync(app.file(id, 'x'), app.file(id, 'case.md'))
    },
  ],
  ['a new note', (app, id) => writeFileSync(app.file(id, 'new.md'), 'a note')],
  ['a note that grew', (app, id) => appendFileSync(app.file(id, 'notes.md'), 'more')],
  ['a note that is gone', (app, id) => rmSync(app.file(id, 'notes.md'))],
  [
    'a new session',
    (app, id) => {
      const from = join(SAMPLE, 'cases/6802b34d-37d5-420a-afaa-e69e7f45a6ed/sessions')
      cpSync(from, app.file(id, 'sessions'), { recursive: true })
    },
  ],
  ['a case that is gone', (app, id) => rmSync(app.file(id), { recursive: true })],
]

t.test('each change while no service ran is told once', inLongLane, async (t) => {
  for (const [name, change] of away) {
    await t.test(name, async (t) => {
      const files = { 'case.md': caseMd('Title a', 'Text.\n'), 'notes.md': 'a note' }
      const cases = { [idOf(1)]: files, [idOf(2)]: { ...files } }
      const app = await openTestService(t, { files: { memory: { cases } } })
      await warm(app)
      t.strictSame(await trustedIds(app), [idOf(1), idOf(2)])
      const before = app.service.eventLog.last
      await app.close()
      change(app, idOf(1))
      await app.restart()
      t.ok(app.service.eventLog.last > before, 'told')
      const after = app.service.eventLog.last
      const first = await answers(app)
      for (let n = 0; n < 2; n++) {
        await app.restart()
        t.equal(app.service.eventLog.last, after, 'once')
        t.strictSame(changed(first, await answers(app)), {})
      }
      t.strictSame(changed(first, await cold(app)), {})
      t.equal(app.service.eventLog.last, after, 'once')
    })
  }
})

t.test('what changes no content is not told', async (t) => {
  const dated = caseMd('A').replace('title', 'created_at: 2026-11-20T09:54:00.000Z\ntitle')
  const files = { 'case.md': dated, 'notes.md': 'a note' }
  const app = await openTestService(t, { files: { memory: { cases: { [idOf(1)]: files } } } })
  await warm(app)
  const last = app.service.eventLog.last
  const first = await answers(app)
  await app.close()
  chmodSync(app.file(idOf(1), 'case.md'), 0o640)
  cpSync(app.file(idOf(1)), join(app.root, 'copy'), { recursive: true, preserveTimestamps: true })
  await app.restart()
  t.strictSame(changed(first, await answers(app)), {}, 'chmod')
  await app.close()
  rmSync(app.file(idOf(1)), { recursive: true })
  cpSync(join(app.root, 'copy'), app.file(idOf(1)), { recursive: true, preserveTimestamps: true })
  await app.restart()
  t.equal((await app.request('GET', `/cases/${idOf(1)}`)).json.title, 'A', 'made again')
  t.equal(app.service.eventLog.last, last)
})

t.test('last good values of broken files survive starts, also of another build', async (t) => {
  const id = '6802b34d-37d5-420a-afaa-e69e7f45a6ed'
  const app = await openTestService(t)
  cpSync(join(SAMPLE, 'cases', id), app.file(id), { recursive: true })
  await warm(app)
  const path = `/cases/${id}`
  const { title } = (await app.request('GET', path)).json
  const [session] = (await app.request('GET', `${path}/sessions`)).json
  writeFileSync(app.file(id, 'case.md'), '---\ntitle: [\n---\n')
  writeFileSync(app.file(id, 'sessions', '1.md'), '---\nid: [\n---\n')
  const good = async (why: string) => {
    await app.restart()
    t.equal((await app.request('GET', path)).json.title, title, why)
    const { json } = await app.request('GET', `${path}/sessions`)
    const same = json.find((each: { id: string }) => each.id === session.id)
    t.equal(same?.state, session.state, why)
  }
  await good('a start')
  await good('another')
  await otherBuild(app)
  await good('of another build')
})

t.test('a killed service has stored and told what was done a moment before', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Before' })
  await warm(app)
  await app.request('PUT', `/cases/${id}`, { title: 'Good' })
  const { id: gone } = await app.newCase({ title: 'Gone' })
  await app.request('DELETE', `/cases/${gone}`)
  const isStored = () =>
    rowsOnDisk<{ text: string }>(app.stateDir, 'SELECT text FROM texts').some(({ text }) =>
      text.includes('title: Good'),
    )
  while (!isStored()) await delay(20)
  const { last } = app.service.eventLog
  const snapshot = join(app.root, 'snapshot')
  mkdirSync(snapshot)
  const names = [DATABASE_FILE, `${DATABASE_FILE}-wal`]
  for (const name of names) cpSync(join(app.stateDir, name), join(snapshot, name))
  await app.close()
  for (const name of names) renameSync(join(snapshot, name), join(app.stateDir, name))
  writeFileSync(app.file(id, 'case.md'), '---\ntitle: [\n---\n')
  await app.restart()
  t.equal((await app.request('GET', `/cases/${id}`)).json.title, 'Good')
  const { last: after } = app.service.eventLog
  t.equal(after, last + 1, 'the problem alone is told')
  await app.restart()
  t.equal(app.service.eventLog.last, after)
})

t.test('more cases than stay in memory are read, changed and listed as any other', async (t) => {
  const count = 320
  const cases = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [idOf(n), { 'case.md': caseMd(`Title ${n}`) }]),
  )
  const app = await openTestService(t, { files: { memory: { cases } } })
  const titles = async () => {
    const { json } = await app.request('GET', '/cases')
    return json.map(({ title }: { title: string }) => title).sort()
  }
  const wanted = Array.from({ length: count }, (_, n) => `Title ${n}`)
  t.strictSame(await titles(), wanted.toSorted())
  for (let n = 0; n < count; n++) {
    t.equal((await app.request('GET', `/cases/${idOf(n)}`)).json.title, `Title ${n}`)
  }
  for (const n of [0, 5, count - 1]) {
    wanted[n] = `Changed ${n}`
    await app.request('PUT', `/cases/${idOf(n)}`, { title: wanted[n] })
    t.strictSame(await titles(), wanted.toSorted())
  }
  writeFileSync(app.file(idOf(7), 'case.md'), caseMd('By hand'))
  wanted[7] = 'By hand'
  t.strictSame(await titles(), wanted.toSorted())
  await app.request('DELETE', `/cases/${idOf(3)}`)
  wanted.splice(3, 1)
  t.strictSame(await titles(), wanted.toSorted())
  await app.restart()
  t.strictSame(await titles(), wanted.toSorted())
})
