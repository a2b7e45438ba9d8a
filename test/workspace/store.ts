import fsNow, { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { newSessionText } from '../../src/markdown/session-texts.ts'
import { trailLineText } from '../../src/markdown/trail.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import type { Change } from '../../src/workspace/case-entry.ts'
import { createCaseFolder } from '../../src/workspace/case-making.ts'
import { layoutOf, MEMORY_ROOT_FILES } from '../../src/workspace/layout.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import { CASE, NOW, SESSION, TRAIL } from '../fixtures/records.ts'
import { must, planned } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, unlink, utimes, writeFile } = fs

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const caseMd = (title: string, more = '') => `---\ntitle: ${title}\n---\n${more}`

const get = async (app: TestService, id: string) => (await app.request('GET', `/cases/${id}`)).json
const listed = async (app: TestService, id: string) =>
  (await app.request('GET', '/cases')).json.find((each: { id: string }) => each.id === id)

// Hand edits

const saves: [string, (path: string, text: string) => Promise<void>][] = [
  ['in place', (path, text) => writeFile(path, text)],
  [
    'by a rename',
    async (path, text) => {
      await writeFile(`${path}~`, text)
      await rename(`${path}~`, path)
    },
  ],
  [
    'with the old time kept',
    async (path, text) => {
      const { atime, mtime } = await stat(path)
      await writeFile(path, text)
      await utimes(path, atime, mtime)
    },
  ],
]

t.test('a hand edit is seen by the next GET, and by the next list', async (t) => {
  const app = await openTestService(t)
  for (const [name, save] of saves) {
    await t.test(name, async (t) => {
      const { id } = await app.newCase({ title: 'Title 00' })
      const path = app.file(id, 'case.md')
      for (let n = 10; n < 40; n++) {
        const text = await readFile(path, 'utf8')
        await save(path, text.replace(/Title \d\d/, `Title ${n}`))
        const seen = n % 2 ? await get(app, id) : await listed(app, id)
        t.equal(seen.title, `Title ${n}`)
      }
    })
  }
})

t.test('a file read in the tick of its last change is read again', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  let ctimeMs = 0
  // on a busy machine the tick may be over when it is read
  for (let turn = 0; Date.now() - ctimeMs > 50; turn++) {
    await writeFile(app.file(id, 'case.md'), caseMd(`A${turn}`))
    ctimeMs = (await stat(app.file(id, 'case.md'))).ctimeMs
    await app.service.scan.readAll()
  }
  const stamp = () => app.service.catalog.entry(id)?.file.stamp
  t.equal(stamp(), null, 'a second save now could leave the same stamp')
  while (Date.now() - ctimeMs <= 60) await new Promise(setImmediate)
  await get(app, id)
  t.ok(stamp(), 'later none can')
})

t.test('what came, went or changed its place by hand is seen by the next list', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  await mkdir(app.file(idOf(1)))
  await writeFile(app.file(idOf(1), 'case.md'), caseMd('Made by hand'))
  t.match(await listed(app, idOf(1)), { title: 'Made by hand', state: 'OPEN' })
  await rename(app.file(id), app.file(idOf(2)))
  t.equal(await listed(app, id), undefined)
  t.match(await listed(app, idOf(2)), { problems: [{ code: 'id_mismatch', file: 'case.md' }] })
  await rm(app.file(idOf(1)), { recursive: true })
  t.equal(await listed(app, idOf(1)), undefined)
})

t.test('an edit by request keeps what a person wrote', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Old' })
  const path = app.file(id, 'case.md')
  const mine = `\ufeff---\r\n# a comment\r\ntitle:   'Old' # why\r\nmine: {a: [1, 2]}\r\nstate: OPEN\r\n---\r\n\r\nText\r\n\r\n## Mine\r\n\r\nx`
  await writeFile(path, mine)
  await app.request('PUT', `/cases/${id}`, { title: 'New' })
  const text = await readFile(path, 'utf8')
  for (const part of mine.replace("'Old'", 'New').split('\r\n')) t.ok(text.includes(part), part)
  t.equal(text.endsWith('---\r\n\r\nText\r\n\r\n## Mine\r\n\r\nx'), true)
  t.equal(text.replaceAll('\r\n', '').includes('\n'), false, 'every line ends as before')
})

t.test('reading never writes', async (t) => {
  const app = await openTestService(t)
  await mkdir(app.file(idOf(1)), { recursive: true })
  const path = app.file(idOf(1), 'case.md')
  await writeFile(path, '# Title\n')
  const before = await stat(path)
  for (const each of ['', '/gate', '/memory', '/sessions', '/proof', '/proof/checklist']) {
    t.equal((await app.request('GET', `/cases/${idOf(1)}${each}`)).status, 200)
  }
  await app.request('GET', '/cases')
  t.strictSame(await readdir(app.file(idOf(1))), ['case.md'])
  t.equal((await stat(path)).ino, before.ino)
})

// Made by hand

const handmade: [string, files: Record<string, string>, shown: object][] = [
  ['only a title', { 'case.md': caseMd('By hand') }, { title: 'By hand', problems: { length: 0 } }],
  ['only a heading', { 'case.md': '# By hand\n' }, { title: 'By hand', problems: { length: 0 } }],
  ['only a line', { 'case.md': 'By hand' }, { title: 'By hand', problems: { length: 0 } }],
  ['an empty case.md', { 'case.md': '' }, { title: idOf(1), problems: [{ code: 'unreadable' }] }],
  ['no case.md', { 'notes.md': '' }, { title: idOf(1), problems: [{ code: 'missing' }] }],
]

t.test('a case that a person made has what is missing derived', async (t) => {
  for (const [name, files, shown] of handmade) {
    await t.test(name, async (t) => {
      const app = await openTestService(t, { files: { memory: { cases: { [idOf(1)]: files } } } })
      const found = await get(app, idOf(1))
      const derived = { id: idOf(1), state: 'OPEN', type: 'bug', outcome: null, tags: [] }
      t.match(found, { ...derived, created_at: TIME, ...shown })
      t.equal(found.problems.length, (shown as { problems: unknown[] }).problems.length)
      t.strictSame(await listed(app, idOf(1)), found)
    })
  }
})

t.test('the first write writes down what was derived', async (t) => {
  const app = await openTestService(t, {
    files: { memory: { cases: { [idOf(1)]: { 'case.md': '# By hand\n\nText\n' } } } },
  })
  const path = app.file(idOf(1), 'case.md')
  const long = new Date(Date.UTC(2020, 0, 1))
  await utimes(path, long, long)
  await app.restart()
  t.equal((await get(app, idOf(1))).created_at, long.toISOString())
  await app.request('PUT', `/cases/${idOf(1)}/state`, { state: 'BLOCKED' })
  t.equal((await get(app, idOf(1))).created_at, long.toISOString())
  t.equal(
    await readFile(path, 'utf8'),
    `---\nid: ${idOf(1)}\ntitle: By hand\ncreated_at: ${long.toISOString()}\nstate: BLOCKED\ntype: bug\noutcome:\ntags: []\n---\n\n# By hand\n\nText\n`,
  )
})

t.test('a folder without any record is no case, as git leaves one behind', async (t) => {
  const left = { sessions: { 'latest.md': 'x' }, artifacts: { '1-x.log': 'x' } }
  const cases = { [idOf(1)]: {}, [idOf(2)]: left }
  const app = await openTestService(t, { files: { memory: { cases } } })
  t.strictSame((await app.request('GET', '/cases')).json, [])
  t.equal((await app.request('GET', `/cases/${idOf(2)}`)).status, 404)
  t.strictSame((await app.request('GET', '/health')).json.problems, [])
})

t.test('a case whose case.md is missing takes no write, but memory', async (t) => {
  const notes = { 'notes.md': 'x' }
  const app = await openTestService(t, { files: { memory: { cases: { [idOf(1)]: notes } } } })
  const path = `/cases/${idOf(1)}`
  t.equal((await app.request('PUT', path, { title: 'x' })).status, 409)
  t.equal((await app.request('PUT', `${path}/memory/notes.md`, 'y')).status, 200)
  t.equal((await app.request('PUT', `${path}/memory/case.md`, '# Back\n')).status, 201)
  t.match(await get(app, idOf(1)), { title: 'Back', problems: { length: 0 } })
})

t.test('what is no case is a problem of the workspace, and is left alone', async (t) => {
  const app = await openTestService(t, {
    files: {
      elsewhere: { 'case.md': caseMd('Elsewhere') },
      memory: {
        cases: {
          'my-case': { 'case.md': caseMd('x') },
          [idOf(0xa)
            .replace('0a', '0A')
            .replace(/0{4}-4/, 'AAAA-4')]: { 'case.md': '' },
          [idOf(2)]: 'a file',
          [idOf(3)]: t.fixture('symlink', '../../elsewhere'),
          'README.md': 'words',
          '.hidden': {},
        },
      },
    },
  })
  const { json } = await app.request('GET', '/health')
  t.equal(json.status, 'ok')
  t.equal(json.cases, 0)
  const files = json.problems.map((each: { file: string }) => each.file)
  for (const name of ['my-case', idOf(2), idOf(3)]) t.ok(files.includes(`cases/${name}`), name)
  t.notOk(files.some((file: string) => file.includes('hidden')))
  for (const problem of json.problems) t.match(problem, { code: 'bad_name', line: null })
  t.equal((await app.request('GET', `/cases/${idOf(3)}`)).status, 404)
  t.equal((await app.request('DELETE', `/cases/${idOf(3)}`)).status, 404)
  t.equal((await app.request('PUT', `/cases/${idOf(3)}/memory/x.md`, 'x')).status, 404)
  t.strictSame(await readdir(join(app.root, 'elsewhere')), ['case.md'])
})

// Broken by hand

type Break = (path: string, text: string) => Promise<unknown>
const put =
  (change: (text: string) => string | Buffer): Break =>
  (path, text) =>
    writeFile(path, change(text))

const breaks: [string, Break, code: string, line: number | null][] = [
  ['half a list', put((text) => text.replace('tags: []', 'tags: [')), 'bad_frontmatter', 8],
  ['no closing line', put((text) => text.replace(/\n---\n/, '\n')), 'bad_frontmatter', 1],
  ['an alias', put((text) => text.replace('tags: []', 'tags: *x')), 'bad_frontmatter', 8],
  ['a key twice', put((text) => text.replace('tags:', 'type: x\ntags:')), 'duplicate_key', 8],
  ['an unknown state', put((text) => text.replace('OPEN', 'Open')), 'unknown_state', 5],
  ['another id', put((text) => text.replace(/^id: .*/m, `id: ${idOf(9)}`)), 'id_mismatch', 2],
  ['a list as title', put((text) => text.replace(/^title: .*/m, 'title: [a]')), 'wrong_type', 3],
  [
    'conflict markers',
    put((text) =>
      text.replace(/^title: .*/m, '<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> x'),
    ),
    'merge_conflict',
    3,
  ],
  [
    'another encoding',
    put((text) => Buffer.from(`${text}gr\xf6\xdfe`, 'latin1')),
    'bad_encoding',
    12,
  ],
  ['UTF-16 without a BOM', put((text) => Buffer.from(text, 'utf16le').swap16()), 'bad_encoding', 1],
  ['too much', put((text) => text + 'x'.repeat(256 * 1024)), 'too_large', null],
  [
    'nothing in its place',
    async (path) => {
      await writeFile(join(dirname(path), 'notes.md'), 'x\n')
      await unlink(path)
    },
    'missing',
    null,
  ],
  [
    'a folder in its place',
    async (path) => {
      await unlink(path)
      await mkdir(path)
    },
    'unreadable',
    null,
  ],
  [
    'a link in its place',
    async (path, text) => {
      await writeFile(join(dirname(path), 'real.md'), text)
      await unlink(path)
      await symlink('real.md', path)
    },
    'symbolic_link',
    null,
  ],
]

t.test('a case.md that a person broke', async (t) => {
  for (const [name, damage, code, line] of breaks) {
    await t.test(`by ${name}`, async (t) => {
      const app = await openTestService(t)
      const { id } = await app.newCase({ title: 'Good', description: 'Text', tags: [] })
      const path = app.file(id, 'case.md')
      const text = await readFile(path, 'utf8')
      await damage(path, text)
      const broken = await readFile(path).catch((error) => error.code)

      const shown = {
        title: 'Good',
        description: 'Text',
        state: 'OPEN',
        problems: [{ code, file: 'case.md', line, message: /\w/ }],
      }
      t.match(await get(app, id), shown, 'is a problem, and its last good value is served')
      t.match(await listed(app, id), shown, 'in the list too')
      for (const [method, where, body] of [
        ['PUT', '', { title: 'x' }],
        ['PUT', '/state', { state: 'BLOCKED' }],
        ['POST', '/proof/checklist', { description: 'x', type: 'log' }],
      ] as const) {
        const reply = await app.request(method, `/cases/${id}${where}`, body)
        t.equal(reply.status, 409, `${method} ${where}: ${reply.text}`)
        t.match(reply.json, { code: 'unreadable_file', problem: { code, line } })
      }
      t.strictSame(await readFile(path).catch((error) => error.code), broken, 'untouched')

      await app.restart()
      t.match(await get(app, id), shown, 'after a restart too')

      await rm(path, { recursive: true, force: true })
      await writeFile(path, text.replace('Good', 'Mended'))
      t.match(
        await get(app, id),
        { title: 'Mended', problems: { length: 0 } },
        'served once it is mended',
      )
      t.equal((await app.request('PUT', `/cases/${id}`, { title: 'On' })).status, 200)
    })
  }
})

t.test('a broken case on a machine that never saw it good says what it can', async (t) => {
  const app = await openTestService(t, {
    files: {
      memory: {
        cases: {
          [idOf(1)]: { 'case.md': '---\ntitle: Plain words\nstate: BLOCKED\ntags: [\n---\n' },
          [idOf(2)]: { 'case.md': '---\n\u0000: [\n' },
        },
      },
    },
  })
  t.match(await get(app, idOf(1)), { title: 'Plain words', state: 'BLOCKED' })
  t.match(await get(app, idOf(2)), { problems: [{ code: 'bad_frontmatter' }] })
  t.equal((await app.request('GET', '/cases')).json.length, 2)
})

t.test('without its state folder the service answers the same of all cases', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Kept', description: 'x' })
  const item = { description: 'x', type: 'log', required: true }
  await app.request('POST', `/cases/${id}/proof/checklist`, item)
  await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  const all = async () => {
    const paths = ['/cases', `/cases/${id}/proof`, `/cases/${id}/gate`, `/cases/${id}/memory`]
    return Promise.all(paths.map(async (path) => (await app.request('GET', path)).json))
  }
  const before = await all()
  await app.close()
  await rm(app.stateDir, { recursive: true })
  await app.restart()
  t.strictSame(await all(), before)
})

// Two at once

t.test('a person who saves between our reading and our writing loses nothing', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Old', description: 'Text' })
  const path = app.file(id, 'case.md')
  let runs = 0
  const folder = await app.service.store.update(id, (folder) => {
    // a decision is pure; this one stands for the editor of somebody else
    if (runs++ === 0) saveNow(path, (text) => text.replace('Text', 'Saved meanwhile'))
    const title = `${folder.case.title}, ${folder.case.description}`
    return [{ file: 'case', edit: { fields: { title } } }]
  })
  t.equal(runs, 2, 'it is decided again')
  t.match(folder.case, { title: 'Old, Saved meanwhile', description: 'Saved meanwhile' })
  t.match(await readFile(path, 'utf8'), /title: "Old, Saved meanwhile"\n.*\n\nSaved meanwhile\n/s)
})

t.test('a line of the trail comes behind those that git brings in the same moment', async (t) => {
  const git = { HEAD: 'ref: refs/heads/main\n', objects: {}, refs: {} }
  const number = SESSION.number
  const sessions = { [`${number}.md`]: await newSessionText(SESSION) }
  const cases = { [CASE.id]: { 'case.md': caseMd('Old'), sessions } }
  const app = await openTestService(t, { files: { '.git': git, memory: { cases } } })
  const lock = join(app.root, '.git', 'index.lock')
  const line = (event: string) =>
    ({ number: TRAIL.length + 1, time: NOW, event, fields: {} }) as TrailLine
  let runs = 0
  // between the two files: the first one is written, the other waits on the disk
  const stop = app.service.changes.subscribe(() => {
    stop()
    writeFileSync(lock, '')
    saveNow(app.file(CASE.id, 'sessions', `${number}.md`), (text) => {
      return `${text}${trailLineText(line('theirs'))}\n`
    })
    void app.service.git.waitUntilIdle(0).then(() => unlinkSync(lock)) // it sees whose the save is
  })
  const folder = await app.service.store.update(CASE.id, () => {
    runs++
    return [
      { file: 'case', edit: { fields: { title: 'New' } } },
      { file: 'session', number, edit: { lines: [line('ours')] } },
    ]
  })
  t.equal(runs, 1)
  t.same(folder.sessions[0]!.trail, [...TRAIL, line('theirs'), { ...line('ours'), number: 4 }])
})

t.test('a person who saves while our file is being written loses nothing either', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Old', description: 'Text' })
  const path = app.file(id, 'case.md')
  const written = new Set<string>()
  let meanwhile = () => saveNow(path, (text) => text.replace('Text', 'Saved meanwhile'))
  onOpen(t, (opened) => {
    if (!opened.endsWith('.tmp') || written.has(opened)) return
    written.add(opened)
    meanwhile()
    if (written.size === 1) meanwhile = () => {}
  })
  t.equal((await app.request('PUT', `/cases/${id}`, { title: 'New' })).status, 200)
  t.equal(written.size, 4, 'it is written again, and the history with it')
  t.match(await readFile(path, 'utf8'), /title: New\n.*\n\nSaved meanwhile\n/s)

  meanwhile = () => saveNow(path, (text) => `${text}.`)
  const reply = await app.request('PUT', `/cases/${id}`, { title: 'Newer' })
  t.match(reply, { status: 409, json: { code: 'changed_meanwhile' } }, 'who never stops wins')
  t.match(await readFile(path, 'utf8'), /title: New\n.*\n\.+$/s)
  t.strictSame(
    (await readdir(app.file(id))).sort(),
    ['case.md', 'history.md'],
    'and nothing half-written is left',
  )
})

/** Holds each sync of a folder until `act` calls what it is given, with an error or without. */
function onFolderSync(t: Test, act: (end: (error?: Error) => void) => void, folder?: string) {
  const { fsync } = fsNow
  const held = (fd: number, done: fsNow.NoParamCallback) => {
    const stat = fsNow.fstatSync(fd)
    const isOther = folder !== undefined && stat.ino !== fsNow.statSync(folder).ino
    if (!stat.isDirectory() || isOther) return fsync(fd, done)
    act((error) => (error ? done(error) : fsync(fd, done)))
  }
  const release = () => {
    fsNow.fsync = fsync
    syncBuiltinESMExports()
  }
  fsNow.fsync = Object.assign(held, { __promisify__: fsync.__promisify__ })
  syncBuiltinESMExports()
  t.teardown(release)
  return release
}

t.test('a new case has its name once it is whole', async (t) => {
  const root = await fs.realpath(t.testdir({ cases: {} }))
  const layout = layoutOf(root, root)
  const files = { text: caseMd('New'), history: '# History\n' }
  const seen: boolean[] = []
  onFolderSync(t, (end) => {
    seen.push(fsNow.existsSync(layout.caseFolder(idOf(1))))
    end()
  })
  await createCaseFolder(layout, idOf(1), files)
  t.strictSame(seen, [false, true], 'nobody sees it before what is in it is synced')
  t.equal(await readFile(layout.caseFile(idOf(1)), 'utf8'), caseMd('New'))
})

t.test('a change is logged and answered when its folder is synced, with its history', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Old' })
  const logged: string[] = []
  t.teardown(app.service.eventLog.subscribe(({ type }) => void logged.push(type)))
  const held: ((error?: Error) => void)[] = []
  let isOver = false
  // other folders, such as that of the journal, are synced as they come
  onFolderSync(t, (end) => (isOver ? end() : void held.push(end)), app.file(id))
  const history = () => fsNow.readFileSync(app.file(id, 'history.md'), 'utf8')
  let isAnswered = false
  const answer = app.request('PUT', `/cases/${id}`, { title: 'New' }).then((reply) => {
    isAnswered = true
    return reply
  })
  await until(() => held.length > 0)
  t.match(fsNow.readFileSync(app.file(id, 'case.md'), 'utf8'), 'title: New')
  t.match(history(), 'edited title', 'one sync is of both')
  t.strictSame([logged, isAnswered], [[], false])
  held[0]!()
  t.match(await answer, { status: 200, json: { title: 'New' } })
  t.strictSame([logged, held.length], [['case_updated'], 1], 'and sent once')

  const unsure = app.request('PUT', `/cases/${id}`, { title: 'Newer' })
  await until(() => held.length > 1)
  const probes = onFolderSync(t, failsToSync, app.file(id))
  isOver = true
  failsToSync(held[1]!)
  t.match(await unsure, { json: { title: 'Newer' } }, 'the file has the change, so it is made')
  t.match((await app.request('GET', '/health')).json, {
    status: 'failing',
    problems: [{ code: 'not_writable', file: `memory/cases/${id}`, message: /\(EIO\)/ }],
  })
  probes()
  t.match((await app.request('GET', '/health')).json, { status: 'ok', problems: { length: 0 } })
})

function failsToSync(end: (error?: Error) => void): void {
  end(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate)
}

/** Tells of every file that is opened, before it is. */
function onOpen(t: Test, listener: (path: string) => void): void {
  const { open, readFile } = fs
  const { open: openLater, openSync } = fsNow
  const wrap =
    (real: (path: string, ...rest: never[]) => unknown) =>
    (path: string, ...rest: never[]) => {
      if (typeof path === 'string') listener(path)
      return real(path, ...rest)
    }
  Object.assign(fs, { open: wrap(open), readFile: wrap(readFile) })
  Object.assign(fsNow, { open: wrap(openLater), openSync: wrap(openSync) })
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(fs, { open, readFile })
    Object.assign(fsNow, { open: openLater, openSync })
    syncBuiltinESMExports()
  })
}

function saveNow(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

t.test('every change is told once, and in its order, while lists look at the disk', async (t) => {
  const app = await openTestService(t)
  const { service } = app
  const { id } = await app.newCase({ title: 'T0' })
  const reported: Change[] = []
  t.teardown(service.changes.subscribe((change) => reported.push(change)))
  let done = false
  const looks = (async () => {
    while (!done) await service.scan.readAll()
  })()
  for (let n = 1; n <= 100; n++) {
    await service.store.update(id, () => [{ file: 'case', edit: { fields: { title: `T${n}` } } }])
  }
  done = true
  await looks
  t.strictSame(
    reported.map((change) => change.kind === 'case' && [change.before?.title, change.after?.title]),
    Array.from({ length: 100 }, (_, n) => [`T${n}`, `T${n + 1}`]),
  )
})

t.test('a case made while a list looks at the disk is not taken for one that went', async (t) => {
  const app = await openTestService(t)
  const { service } = app
  const reported: Change[] = []
  t.teardown(service.changes.subscribe((change) => reported.push(change)))
  let done = false
  const looks = (async () => {
    while (!done) await service.scan.compareNames()
  })()
  for (let n = 1; n <= 100; n++) {
    await service.store.create({ ...CASE, id: idOf(n), created_at: NOW })
    if (!service.catalog.entry(idOf(n))) t.fail(`case ${n} is gone`)
  }
  done = true
  await looks
  t.equal(reported.length, 100)
  t.ok(reported.every((change) => change.before === null && change.after !== null))
})

// Deleting

t.test('a case with a running session cannot be deleted', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ description: '```sh run id=wait\nsleep 600\n```\n' })
  const inState = (state: string) =>
    new Promise<void>((resolve) => {
      const stop = app.service.changes.subscribe((change) => {
        if (change.kind !== 'session' || change.after?.state !== state) return
        stop()
        resolve()
      })
    })
  const ready = inState('plan_ready')
  const made = await app.request('POST', `/cases/${id}/sessions`, { type: 'implementing' })
  await ready
  const executing = inState('executing')
  await app.request('POST', `${made.headers.location}/approve`)
  await executing
  const reply = await app.request('DELETE', `/cases/${id}`)
  t.equal(reply.status, 409)
  t.match(reply.json, { code: 'session_running', running: { session_id: made.json.id } })
  t.ok(await stat(app.file(id, 'case.md')))
  t.equal((await app.request('POST', `${made.headers.location}/abandon`)).status, 200)
  t.equal((await app.request('DELETE', `/cases/${id}`)).status, 200)
  await t.rejects(stat(app.file(id)), { code: 'ENOENT' })
})

t.test('a deleted case leaves nothing behind, and what it linked to stays', async (t) => {
  const app = await openTestService(t, { files: { 'kept.md': 'kept' } })
  const { id } = await app.newCase({ title: 'Unmistakable' })
  await symlink(join(app.root, 'kept.md'), app.file(id, 'link.md'))
  await mkdir(app.file(id, 'deep', 'er'), { recursive: true })
  await writeFile(app.file(id, 'deep', 'er', 'x'), 'x')
  t.equal((await app.request('DELETE', `/cases/${id}`)).status, 200)
  t.strictSame(await readdir(join(app.memory, 'cases')), [])
  t.equal(await readFile(join(app.root, 'kept.md'), 'utf8'), 'kept')
  await app.close()
  const left = await readdir(app.stateDir, { recursive: true })
  t.notOk(
    left.some((name) => name.includes(id)),
    'the state folder has no copy either',
  )
})

t.test('of 10 DELETEs at once one is done', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => app.request('DELETE', `/cases/${id}`)),
  )
  const statuses = replies.map(({ status }) => status).sort()
  t.strictSame(statuses, [200, ...Array(9).fill(404)])
})

// The memory root

const gitFiles: [string, object][] = [
  ['where there is nothing', {}],
  ['where somebody made the folder', { memory: {} }],
  ['where a start was cut short', { memory: { '.gitignore': 'mine\n' } }],
]

t.test('the first cases, made at once, make the memory root with its git files', async (t) => {
  for (const [name, files] of gitFiles) {
    await t.test(name, async (t) => {
      const app = await openTestService(t, { files: files as Record<string, never> })
      const replies = await Promise.all(
        Array.from({ length: 6 }, () => app.request('POST', '/cases', { title: 'A' })),
      )
      t.strictSame([...new Set(replies.map(({ status }) => status))], [201])
      t.strictSame((await readdir(app.memory)).sort(), ['.gitattributes', '.gitignore', 'cases'])
      const ignored = await readFile(join(app.memory, '.gitignore'), 'utf8')
      t.equal(ignored, name.includes('cut') ? 'mine\n' : MEMORY_ROOT_FILES['.gitignore'])
    })
  }
})

t.test('no case is made through a link in place of the folder of cases', async (t) => {
  const app = await openTestService(t, { files: { memory: {}, elsewhere: {} } })
  await symlink(join(app.root, 'elsewhere'), join(app.memory, 'cases'))
  const reply = await app.request('POST', '/cases', { title: 'A' })
  t.equal(reply.status, 409, reply.text)
  t.equal(reply.json.code, 'unreadable_file')
  t.strictSame(await readdir(join(app.root, 'elsewhere')), [])
  const { problems } = (await app.request('GET', '/health')).json
  t.match(problems, [{ code: 'symbolic_link', file: 'cases' }])
})

// Permissions

const NOBODY_UID = 65_534

const hidden: [string, modes: [string, number][], problem: { code: string; file: string }][] = [
  ['sessions/ may not be listed', [['sessions', 0o300]], { code: 'unreadable', file: 'sessions' }],
  [
    'sessions/ may not be entered',
    [['sessions', 0o600]],
    { code: 'unreadable', file: 'sessions/1.md' },
  ],
  ['the case may not be listed', [['', 0o300]], { code: 'unreadable', file: '.' }],
  ['the case may not be entered', [['', 0o600]], { code: 'unreadable', file: 'case.md' }],
  ['the case is closed', [['', 0]], { code: 'unreadable', file: '.' }],
]

t.test('what permissions hide is a problem of its case, and of no other', inLongLane, async (t) => {
  if (process.getuid?.() !== 0) return t.pass('', { skip: 'another user is needed to be refused' })
  for (const [name, modes, problem] of hidden) {
    await t.test(name, async (t) => {
      t.teardown(() => {})
      const dir = t.testdir({ root: {}, state: {} })
      const service = await startBuilt(t, {
        root: join(dir, 'root'),
        stateDir: join(dir, 'state'),
        uid: NOBODY_UID,
      })
      const ref = await planned(service)
      const other = await must(service, 'POST', '/cases', { title: 'Other' })
      const close = async () => {
        for (const [folder, mode] of modes) await chmod(join(at, folder), mode)
      }
      const at = join(dir, 'root/memory/cases', ref.case_id)
      t.teardown(() => chmod(at, 0o700))
      await close()
      for (const when of ['while it runs', 'after a start']) {
        const seen = await must(service, 'GET', `/cases/${ref.case_id}`)
        t.equal(seen.title, 'A case', when)
        t.match(
          seen.problems.filter(({ file }: { file: string }) => file === problem.file),
          [problem],
          when,
        )
        t.equal((await must(service, 'GET', '/cases')).length, 2, when)
        t.strictSame((await must(service, 'GET', `/cases/${other.id}`)).problems, [], when)
        if (when === 'while it runs') {
          t.equal((await must(service, 'GET', ref.path)).id, ref.id, 'what was known is served')
          await service.restart()
        }
      }
      await chmod(at, 0o700)
      await chmod(join(at, 'sessions'), 0o700)
      t.strictSame((await must(service, 'GET', `/cases/${ref.case_id}`)).problems, [])
      t.equal((await must(service, 'GET', ref.path)).state, 'plan_ready')
    })
  }
})

// How much is read

t.test('a list of 1,000 cases opens no file that has not changed', async (t) => {
  const app = await openTestService(t)
  for (let n = 0; n < 1000; n++) {
    await mkdir(app.file(idOf(n)), { recursive: true })
    await writeFile(app.file(idOf(n), 'case.md'), caseMd(`Case ${n}`))
  }
  const last = Date.now()
  while (Date.now() - last <= 60) await new Promise(setImmediate)
  await app.restart()
  t.equal((await app.request('GET', '/cases')).json.length, 1000)
  await app.request('GET', '/search?q=case') // the index of the search reads the files, too

  const opened: string[] = []
  onOpen(t, (path) => path.startsWith(join(app.memory, 'cases')) && opened.push(path))
  t.equal((await app.request('GET', '/cases')).json.length, 1000)
  await app.service.synchronizer.freshenAll()
  await app.service.scan.readAll()
  t.strictSame(opened, [])

  writeFileSync(app.file(idOf(7), 'case.md'), caseMd('Changed'))
  await app.service.scan.readAll()
  t.ok(opened.length > 0)
  t.ok(
    opened.every((path) => path.startsWith(app.file(idOf(7)))),
    'only the one that changed',
  )
})
