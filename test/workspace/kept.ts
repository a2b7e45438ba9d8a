import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { CaseEntry } from '../../src/workspace/case-entry.ts'
import type { Catalog } from '../../src/workspace/catalog.ts'
import { createKeeper } from '../../src/workspace/kept/keeper.ts'
import { type KeptCases, openKeptCases } from '../../src/workspace/kept/kept-cases.ts'
import { type KeptFile, openKeptFile } from '../../src/workspace/kept/kept-file.ts'
import { readKeptCases } from '../../src/workspace/kept/kept-reader.ts'
import { createKeptTexts, openKeptTexts } from '../../src/workspace/kept/kept-texts.ts'
import { CASE, SESSION } from '../fixtures/records.ts'
import { smallDisk } from '../fixtures/small-disk.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const SAMPLE = fileURLToPath(new URL('../../sample-workspace/memory', import.meta.url))
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const caseMd = (title: string, more = '') => `---\ntitle: ${title}\n---\n${more}`
const log = (line: string) => {
  throw new Error(line)
}

// A file of records

function recordsIn(path: string, title = 'title'): { heads: string[]; file: KeptFile } {
  const heads: string[] = []
  const file = openKeptFile(path, title, (_, head) => heads.push(head.toString()))
  return { heads, file }
}

/** Five records of some bytes, and where each ends. */
function written(path: string): { bytes: Buffer; ends: number[] } {
  const { file } = recordsIn(path)
  const ends = [1, 2, 3, 4, 5].map((n) => {
    const at = file.append([`"${n}"`, `"${'x'.repeat(n)}"`].map((part) => Buffer.from(part)))
    return at + file.sizeOf(at)
  })
  file.close()
  return { bytes: readFileSync(path), ends }
}

t.test('a file cut at any byte has the records that are whole, and takes more', async (t) => {
  const path = join(t.testdir({}), 'file')
  const { bytes, ends } = written(path)
  for (let length = 0; length < bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length))
    const whole = ends.filter((end) => end <= length).map((_, index) => `"${index + 1}"`)
    const { heads, file } = recordsIn(path)
    if (heads.join() !== whole.join()) t.equal(heads.join(), whole.join(), `cut at ${length}`)
    file.append([Buffer.from('"more"')])
    file.close()
    const again = recordsIn(path)
    again.file.close()
    if (again.heads.join() !== [...whole, '"more"'].join()) t.fail(`cut at ${length}, and on`)
  }
})

t.test('one wrong byte costs one record, or all where it is in the title', async (t) => {
  const path = join(t.testdir({}), 'file')
  const { bytes, ends } = written(path)
  for (let at = 0; at < bytes.length; at++) {
    const wrong = Buffer.from(bytes)
    wrong[at] = wrong[at]! ^ (1 << (at % 8))
    writeFileSync(path, wrong)
    const { heads, file } = recordsIn(path)
    file.close()
    const hit = ends.findIndex((end) => at < end)
    const left = [1, 2, 3, 4, 5].filter((n) => n !== hit + 1).map((n) => `"${n}"`)
    const expected = at < 'title\n'.length ? '' : left.join()
    if (heads.join() !== expected) t.equal(heads.join(), expected, `at ${at}`)
  }
})

t.test('garbage behind and between records is passed over', async (t) => {
  const path = join(t.testdir({}), 'file')
  const { bytes, ends } = written(path)
  const garbage: Buffer[] = [Buffer.alloc(100), Buffer.from('Cfk1'), Buffer.alloc(9000, 'Cfk1')]
  garbage.push(bytes.subarray(ends[0], ends[1]! - 1))
  for (const each of garbage) {
    writeFileSync(path, Buffer.concat([bytes, each]))
    const behind = recordsIn(path)
    behind.file.close()
    t.strictSame(behind.heads, ['"1"', '"2"', '"3"', '"4"', '"5"'])
    t.equal(statSync(path).size, bytes.length, 'cut off')
    writeFileSync(path, Buffer.concat([bytes.subarray(0, ends[2]), each, bytes.subarray(ends[2]!)]))
    const between = recordsIn(path)
    t.strictSame(between.heads, ['"1"', '"2"', '"3"', '"4"', '"5"'])
    between.file.close()
  }
})

t.test('another title begins anew', async (t) => {
  const path = join(t.testdir({}), 'file')
  written(path)
  const { heads, file } = recordsIn(path, 'other')
  t.strictSame(heads, [])
  file.close()
  t.equal(readFileSync(path, 'utf8'), 'other\n')
})

t.test('what waits to be written is read from memory, also where the disk is full', async (t) => {
  const disk = smallDisk(t)
  if (!disk) return
  const { file } = recordsIn(join(disk.folder, 'file'))
  disk.fill()
  const places = [1, 2, 3].map((n) =>
    file.append([Buffer.from(`"${n}"`), Buffer.from(`"${'y'.repeat(n * 5000)}"`)]),
  )
  for (const [index, at] of places.entries()) {
    t.equal(file.read(at, 0).toString(), `"${index + 1}"`)
    t.equal(file.readSure(at)?.[1]?.length, (index + 1) * 5000 + 2)
  }
  t.throws(() => file.flush(), { code: 'ENOSPC' })
  disk.free()
  file.flush()
  file.close()
  const again = recordsIn(join(disk.folder, 'file'))
  again.file.close()
  t.strictSame(again.heads, ['"1"', '"2"', '"3"'])
})

// The cases

function entryOf(id: string, title = 'A case', numbers: number[] = []): CaseEntry {
  const stamp = { size: 1, mtimeMs: 2, ctimeMs: 3, birthtimeMs: 1, ino: 4, dev: 5, mode: 0o600 }
  const record = { stamp, mtimeMs: 2, hash: 'h', ending: '', readable: true, problems: [] }
  const ended = { ...SESSION, state: 'failed' as const }
  return {
    id,
    file: { ...record, value: { ...CASE, id, title } },
    sessions: new Map(
      numbers.map((number) => [number, { ...record, value: { ...ended, number } }]),
    ),
    proofs: new Map(),
    notes: new Map(),
    folders: new Map([['.', stamp]]),
    vanished: false,
    strayLatest: false,
    latest: numbers.length === 0 ? '' : `${Math.max(...numbers)}.md`,
    deleted: {},
    problems: [],
  }
}

function keepingOf(id: string, title = 'A case', text: string = title) {
  const entry = entryOf(id, title)
  const digest = { json: JSON.stringify(entry.file.value), row: { id } as never }
  return { entry, digest, texts: { 'case.md': text }, told: JSON.stringify([title]), mayRest: true }
}

t.test('whoever holds a kept case reads it after it was kept anew and all was moved', async (t) => {
  const folder = t.testdir({})
  const kept = openKeptCases(folder, 'title', log, 20_000)
  const first = kept.keep(keepingOf(idOf(1)))!
  const others = [2, 3, 4].map((n) => kept.keep(keepingOf(idOf(n), `Case ${n}`))!)
  let largest = 0
  for (let n = 0; n < 300; n++) {
    kept.keep(keepingOf(idOf(1), `Title ${n}`, `${n} ${'z'.repeat(500)}`))
    kept.flush()
    largest = Math.max(largest, statSync(join(folder, 'cases')).size)
    if (JSON.parse(kept.json(first)).title !== `Title ${n}`) t.fail(`${n} is not read`)
  }
  t.ok(largest < 60_000, `outdated records go: ${largest}`)
  for (const [index, other] of others.entries()) {
    t.equal(kept.entry(other).file.value.title, `Case ${index + 2}`)
    t.equal(kept.told(other), JSON.stringify([`Case ${index + 2}`]))
    t.equal(kept.text(idOf(index + 2), 'case.md'), `Case ${index + 2}`)
  }
  kept.close()
  const again = openKeptCases(folder, 'title', log)
  t.equal(again.found.size, 4)
  t.equal(again.entry(again.found.get(idOf(1))!).file.value.title, 'Title 299')
  t.match(again.text(idOf(1), 'case.md'), /^299 /)
  again.close()
  t.strictSame(readdirSync(folder), ['cases', 'texts'])
})

t.test('what is outdated is known after a start', async (t) => {
  const folder = t.testdir({})
  for (let start = 0; start < 12; start++) {
    const kept = openKeptCases(folder, 'title', log, 20_000)
    for (let n = 0; n < 20; n++) kept.keep(keepingOf(idOf(1), `Title ${n}`, 'the same'))
    kept.close()
  }
  t.ok(statSync(join(folder, 'cases')).size < 60_000)
})

t.test('last good texts outlive a loss of the records, a tear, and another build', async (t) => {
  const folder = t.testdir({})
  const path = (name: string) => join(folder, name)
  const kept = openKeptCases(folder, 'title', log)
  for (const n of [1, 2, 3]) kept.keep(keepingOf(idOf(n), `Case ${n}`))
  kept.close()
  const [cases, texts] = [readFileSync(path('cases')), readFileSync(path('texts'))]
  const good = (title = 'title') => {
    const reader = readKeptCases(folder, title)!
    const opened = openKeptCases(folder, title, log)
    const found = [1, 2, 3].map((n) => opened.text(idOf(n), 'case.md'))
    t.strictSame(
      found,
      [1, 2, 3].map((n) => reader.text(idOf(n), 'case.md')),
      'read alone',
    )
    opened.close()
    return found
  }
  const all = ['Case 1', 'Case 2', 'Case 3']
  t.strictSame(good(), all)
  for (const at of [cases.indexOf('\n') + 40, cases.length >> 1, cases.length - 4]) {
    const wrong = Buffer.from(cases)
    wrong[at] = wrong[at]! ^ 1
    writeFileSync(path('cases'), wrong)
    t.strictSame(good(), all, `a wrong byte at ${at}`)
  }
  rmSync(path('cases'))
  t.strictSame(good(), all, 'no records')
  writeFileSync(path('cases'), cases)
  t.strictSame(good('other build'), all)

  writeFileSync(path('texts'), Buffer.concat([texts, texts.subarray(-50)]))
  const torn = openKeptTexts(path('texts'))
  torn.keep(idOf(3), ['case.md'], { 'case.md': 'newer' }, () => undefined)
  torn.close()
  t.strictSame(good('one more'), ['Case 1', 'Case 2', 'newer'], 'behind a tear')

  writeFileSync(path('cases'), cases)
  const moved = createKeptTexts(path('texts'))
  for (const n of [3, 2, 1]) {
    moved.keep(idOf(n), ['case.md'], { 'case.md': `moved ${n}` }, () => undefined)
  }
  moved.close()
  t.strictSame(good(), ['moved 1', 'moved 2', 'moved 3'], 'killed between two renames')
})

t.test('texts that no record tells of are not lost as outdated', async (t) => {
  const folder = t.testdir({})
  const kept = openKeptCases(folder, 'title', log)
  for (let n = 1; n < 9; n++) kept.keep(keepingOf(idOf(n), `Case ${n}`, `${n}${'w'.repeat(4000)}`))
  kept.close()
  const other = openKeptCases(folder, 'other build', log, 1000)
  for (let n = 0; n < 40; n++) other.keep(keepingOf(idOf(1), `Title ${n}`))
  for (let n = 2; n < 9; n++) t.match(other.text(idOf(n), 'case.md'), new RegExp(`^${n}w`))
  other.close()
})

t.test('of what is removed no copy is left', async (t) => {
  const folder = t.testdir({})
  const copies = (word: string) =>
    readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(word))
  const kept = openKeptCases(folder, 'title', log)
  kept.keep(keepingOf(idOf(1), 'Secret'))
  kept.keep(keepingOf(idOf(2), 'Other'))
  kept.remove(idOf(1))
  t.equal(kept.text(idOf(1), 'case.md'), null)
  kept.flush()
  const snapshot = ['cases', 'texts'].map((name) => readFileSync(join(folder, name)))
  kept.close()
  t.strictSame(copies('Secret'), [])
  t.strictSame(copies('Other'), ['cases', 'texts'])

  writeFileSync(join(folder, 'cases'), snapshot[0]!) // as a kill leaves it
  writeFileSync(join(folder, 'texts'), snapshot[1]!)
  const again = openKeptCases(folder, 'title', log)
  t.strictSame([...again.found.keys()], [idOf(2)])
  t.equal(again.text(idOf(1), 'case.md'), null)
  again.close()
  t.strictSame(copies('Secret'), [], 'nor after a kill and another stop')
})

t.test('a full disk is said once, and keeps what was kept', async (t) => {
  const disk = smallDisk(t)
  if (!disk) return
  const said: string[] = []
  const folder = join(disk.folder, 'kept')
  const kept = openKeptCases(folder, 'title', (line) => said.push(line), 1000)
  const first = kept.keep(keepingOf(idOf(1), 'Kept'))!
  kept.flush()
  disk.fill()
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let n = 0; n < 60; n++) kept.keep(keepingOf(idOf(2), `Title ${n}`, 'v'.repeat(1000)))
  t.equal(open(), before, 'no file is left open')
  t.equal(kept.entry(first).file.value.title, 'Kept')
  kept.flush()
  t.equal(said.length, 1)
  t.equal(kept.text(idOf(1), 'case.md'), 'Kept')
  disk.free()
  kept.keep(keepingOf(idOf(3), 'After'))
  kept.close()
  const again = openKeptCases(folder, 'title', log)
  t.strictSame([...again.found.keys()].sort(), [idOf(1), idOf(2), idOf(3)], said.join('\n'))
  again.close()
})

// The service

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
    'case.md': caseMd('Foreign'),
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

async function cold(app: TestService): Promise<Record<string, unknown>> {
  await app.close()
  rmSync(join(app.stateDir, 'kept'), { recursive: true })
  await app.restart()
  return answers(app)
}

/** What is other in the second. */
function changed(before: Record<string, unknown>, after: Record<string, unknown>) {
  const paths = Object.keys({ ...before, ...after })
  const isOther = (path: string) => JSON.stringify(before[path]) !== JSON.stringify(after[path])
  return Object.fromEntries(
    paths.filter(isOther).map((path) => [path, [before[path], after[path]]]),
  )
}

const keptIds = ({ service }: TestService) =>
  service.catalog.ids().filter((id) => service.catalog.kept(id))

/** What was changed a moment ago tells nothing by its stamps. */
async function warm(app: TestService): Promise<void> {
  await app.restart()
  await delay(60)
  await app.restart()
  await app.restart()
}

t.test('what a first start reads rests at once, and so does what was told before', async (t) => {
  const app = await openTestService(t)
  fill(app)
  await delay(60)
  await app.close()
  rmSync(join(app.stateDir, 'kept'), { recursive: true })
  rmSync(join(app.stateDir, 'log'), { recursive: true })
  await app.restart()
  t.ok(keptIds(app).length >= 10, `${keptIds(app).length} rest`)
  t.equal(app.service.eventLog.last, 0, 'nothing is told')
  const first = await answers(app)

  await app.close()
  rmSync(join(app.stateDir, 'kept'), { recursive: true })
  writeFileSync(app.file(idOf(1), 'case.md'), caseMd('Changed while no service ran'))
  await delay(60)
  await app.restart()
  t.notOk(app.service.catalog.kept(idOf(1)), 'told before it is kept')
  t.ok(keptIds(app).length >= 9)
  t.equal(app.service.eventLog.last, 1)
  await warm(app)
  t.equal(app.service.eventLog.last, 1, 'told once')
  const paths = Object.keys(changed(first, await answers(app)))
  t.strictSame(
    paths.filter((path) => path.startsWith('/cases/') && !path.includes(idOf(1))),
    [],
  )
})

const writesOf = (id: string): [string, string, object?][] => [
  ['PUT', `/cases/${id}`, { title: 'Written' }],
  ['POST', `/cases/${id}/sessions`, { type: 'investigating' }],
  ['DELETE', `/cases/${id}`],
]

for (const [name, damage] of Object.entries({
  'cut short': (path: string) => truncateSync(path, 300),
  'written over': (path: string) =>
    writeFileSync(path, Buffer.alloc(statSync(path).size, 'x'), { flag: 'r+' }),
})) {
  t.test(`what is kept is ${name} while it is in use: the files are read anew`, async (t) => {
    const app = await openTestService(t)
    fill(app)
    await warm(app)
    const last = app.service.eventLog.last
    const first = await answers(app)
    const damaged = async () => {
      while (keptIds(app).length < 10) await delay(50)
      app.service.catalog.rest(performance.now() + 1)
      damage(join(app.stateDir, 'kept', 'cases'))
    }
    for (const asked of ['/cases', '/cases?state=OPEN', '/triage', `/cases/${idOf(1)}`]) {
      await damaged()
      t.equal((await app.request('GET', asked)).status, 200, asked)
      t.strictSame(changed(first, await answers(app)), {}, asked)
      t.equal(app.service.eventLog.last, last, 'nothing is told')
    }
    t.match(app.log.join(), /damaged: they are read anew/)
    for (const [method, path, body] of name === 'cut short' ? writesOf(idOf(11)) : []) {
      await damaged()
      const { status, json } = await app.request(method, path, body)
      t.ok(status < 300, `${method} ${path}: ${JSON.stringify(json)}`)
      const state = async () => (await app.request('GET', `${path}/${json.id}`)).json.state
      while (method === 'POST' && /created|planning/.test(await state())) await delay(20)
    }
    await damaged()
    const before = app.service.eventLog.last
    writeFileSync(app.file(idOf(1), 'case.md'), caseMd('Changed meanwhile'))
    const title = async () => (await app.request('GET', `/cases/${idOf(1)}`)).json.title
    while ((await title()) !== 'Changed meanwhile') await delay(20)
    await app.restart()
    t.equal(app.service.eventLog.last, before + 1, 'told once')
  })
}

t.test(
  'of a case that a person deletes no copy stays, whether a service runs or not',
  async (t) => {
    const app = await openTestService(t)
    const secret = 'Bluebeard'
    for (const n of [1, 2]) {
      mkdirSync(app.file(idOf(n)), { recursive: true })
      writeFileSync(app.file(idOf(n), 'case.md'), caseMd(secret))
    }
    const copies = () =>
      ['cases', 'texts'].filter((name) =>
        readFileSync(join(app.stateDir, 'kept', name), 'utf8').includes(secret),
      )
    await warm(app)
    t.strictSame(copies(), ['cases', 'texts'])
    rmSync(app.file(idOf(1)), { recursive: true })
    while (app.service.catalog.has(idOf(1))) await app.service.synchronizer.rescan()
    await app.close()
    rmSync(app.file(idOf(2)), { recursive: true })
    await app.restart()
    await app.close()
    t.strictSame(copies(), [])
  },
)

t.test('a start with what is kept answers as one without', async (t) => {
  const app = await openTestService(t)
  fill(app)
  await warm(app)
  t.ok(keptIds(app).length >= 10, `${keptIds(app).length} are not read`)
  const last = app.service.eventLog.last
  const first = await answers(app)
  const indexOf = () => readFileSync(join(app.memory, 'index.md'), 'utf8')
  // one that was written a moment before a restart is left alone for 2 s
  while (!indexOf().includes(`\n${app.service.catalog.ids().length} cases`)) await delay(50)
  const index = indexOf()
  app.service.catalog.rest(performance.now() + 1)
  t.strictSame(changed(first, await answers(app)), {}, 'at rest')
  await app.restart()
  t.equal(app.service.eventLog.last, last, 'nothing is told')
  t.strictSame(changed(first, await cold(app)), {}, 'cold')
  t.equal(app.service.eventLog.last, last, 'nothing is told')
  await app.close()
  t.equal(indexOf(), index)

  for (const name of ['cases', 'texts']) {
    const path = join(app.stateDir, 'kept', name)
    const whole = readFileSync(path)
    for (const at of [3, 200, whole.length >> 1, whole.length - 10]) {
      const wrong = Buffer.from(whole)
      wrong[at] = wrong[at]! ^ 4
      writeFileSync(path, at % 3 ? wrong : whole.subarray(0, at))
      await app.restart()
      t.strictSame(changed(first, await answers(app)), {}, `${name} damaged at ${at}`)
      t.equal(app.service.eventLog.last, last, 'nothing is told')
      await app.close()
    }
  }
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

t.test('each change while no service ran is told once', async (t) => {
  for (const [name, change] of away) {
    await t.test(name, async (t) => {
      const files = { 'case.md': caseMd('Title a', 'Text.\n'), 'notes.md': 'a note' }
      const cases = { [idOf(1)]: files, [idOf(2)]: { ...files } }
      const app = await openTestService(t, { files: { memory: { cases } } })
      await warm(app)
      t.strictSame(keptIds(app).sort(), [idOf(1), idOf(2)])
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

t.test('a case that rests is served and told of as any other', async (t) => {
  const files = { 'case.md': caseMd('Title a'), 'notes.md': 'a note' }
  const app = await openTestService(t, { files: { memory: { cases: { [idOf(1)]: files } } } })
  await warm(app)
  const { catalog, eventLog } = app.service
  const path = `/cases/${idOf(1)}`
  for (let n = 0; n < 3; n++) {
    catalog.rest(performance.now() + 1)
    const last = eventLog.last
    t.equal((await app.request('PUT', path, { title: `Title ${n}` })).status, 200)
    t.equal((await app.request('GET', path)).json.title, `Title ${n}`)
    t.equal(eventLog.last, last + 1, 'told once')
    await delay(60)
    await app.request('GET', path) // takes stamps that tell
    while (!catalog.kept(idOf(1))) await delay(20)
  }
  catalog.rest(performance.now() + 1)
  const last = eventLog.last
  const now = new Date()
  utimesSync(app.file(idOf(1), 'notes.md'), now, now)
  t.equal((await app.request('GET', path)).json.title, 'Title 2')
  t.equal(eventLog.last, last, 'a touch is not told')
  writeFileSync(app.file(idOf(1), 'case.md'), caseMd('By hand'))
  t.equal((await app.request('GET', '/cases')).json[0].title, 'By hand')
  t.ok(eventLog.last > last)
  const after = eventLog.last
  await app.restart()
  t.equal(app.service.eventLog.last, after)
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
  await app.close()
  const kept = join(app.stateDir, 'kept', 'cases')
  const text = readFileSync(kept, 'latin1')
  writeFileSync(kept, `["another build"]\n${text.slice(text.indexOf('\n') + 1)}`, 'latin1')
  await good('of another build')
  await app.close()
  rmSync(kept)
  await good('without records')
})

t.test('a service that is killed has kept and told what was done a moment before', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Before' })
  await warm(app)
  await app.request('PUT', `/cases/${id}`, { title: 'Good' })
  const { id: gone } = await app.newCase({ title: 'Gone' })
  await app.request('DELETE', `/cases/${gone}`)
  const texts = join(app.stateDir, 'kept', 'texts')
  while (!readFileSync(texts).includes('Good')) await delay(20)
  await app.service.eventLog.flushed()
  const { last } = app.service.eventLog
  const snapshot = join(app.root, 'snapshot')
  for (const name of ['kept', 'log']) {
    cpSync(join(app.stateDir, name), join(snapshot, name), { recursive: true })
  }
  await app.close()
  for (const name of ['kept', 'log']) {
    rmSync(join(app.stateDir, name), { recursive: true })
    renameSync(join(snapshot, name), join(app.stateDir, name))
  }
  writeFileSync(app.file(id, 'case.md'), '---\ntitle: [\n---\n')
  await app.restart()
  t.equal((await app.request('GET', `/cases/${id}`)).json.title, 'Good')
  const { last: after } = app.service.eventLog
  t.equal(after, last + 1, 'the problem alone is told')
  await app.restart()
  t.equal(app.service.eventLog.last, after)
})

t.test('of a deleted case the state folder has no copy after a stop', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Zanzibar', description: 'Quetzalcoatl' })
  await app.newCase({ title: 'Stays' })
  await warm(app)
  await app.request('DELETE', `/cases/${id}`)
  await app.close()
  for (const name of ['cases', 'texts']) {
    const bytes = readFileSync(join(app.stateDir, 'kept', name))
    t.notOk(bytes.includes('Zanzibar') || bytes.includes('Quetzalcoatl'), name)
    t.ok(bytes.includes('Stays'), name)
  }
})

t.test('where nothing can be kept, all is served', async (t: Test) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'A case' })
  await app.close()
  rmSync(join(app.stateDir, 'kept'), { recursive: true })
  writeFileSync(join(app.stateDir, 'kept'), 'no folder')
  await app.restart()
  t.match(app.log.join('\n'), /cannot be kept for the next start/)
  await app.request('PUT', `/cases/${id}`, { title: 'Another' })
  await app.restart()
  t.equal((await app.request('GET', `/cases/${id}`)).json.title, 'Another')
})

t.test('a case that cannot be kept is said, tried again, and keeps no other from it', async (t) => {
  const said: string[] = []
  const kept: string[] = []
  let isBroken = true
  const keeper = createKeeper({
    kept: {
      keep: ({ entry }: { entry: CaseEntry }) => {
        kept.push(entry.id)
        return null
      },
      ...{ flush() {}, close() {}, forgetFound() {} },
    } as unknown as KeptCases,
    catalog: () =>
      ({
        entry(id: string) {
          if (id === 'a' && isBroken) throw new Error('cut short')
          return { id }
        },
        ...{
          folder: () => ({}),
          digest: () => ({}),
          rest: () => 0,
          size: () => 0,
          has: () => true,
        },
      }) as unknown as Catalog,
    ...{
      told: () => '',
      isTold: () => true,
      isPinned: () => false,
      onKept() {},
      onLaid() {},
      log: (line) => said.push(line),
    },
  })
  for (const id of ['a', 'b']) keeper.changed(id)
  await keeper.idle()
  t.strictSame(kept, ['b'])
  t.match(said, [/case a is not kept .*cut short/])
  isBroken = false
  await keeper.idle()
  t.match(kept, ['b', 'a'])
  await keeper.close()
})
