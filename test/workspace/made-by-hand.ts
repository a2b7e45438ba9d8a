// What a person makes, changes or breaks in the folders: shown as it is, never written by a read, never lost.
import { randomUUID } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { listen } from '../fixtures/published-events.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const caseMd = (title: string, more = '') => `---\ntitle: ${title}\n---\n${more}`

const get = async (app: TestService, id: string) => (await app.request('GET', `/cases/${id}`)).json
const listed = async (app: TestService, id: string) =>
  (await app.request('GET', '/cases')).json.find((each: { id: string }) => each.id === id)

const saves: Record<string, (path: string, text: string) => void> = {
  'in place': writeFileSync,
  'by a rename'(path, text) {
    writeFileSync(`${path}~`, text)
    renameSync(`${path}~`, path)
  },
  'with the old time kept'(path, text) {
    const { atime, mtime } = statSync(path)
    writeFileSync(path, text)
    utimesSync(path, atime, mtime)
  },
}

t.test('a save is seen by the next GET, and by the next list', async (t) => {
  const app = await openTestService(t)
  for (const [name, save] of Object.entries(saves)) {
    const { id } = await app.newCase({ title: 'Title 00' })
    const path = app.file(id, 'case.md')
    for (let n = 10; n < 13; n++) {
      save(path, readFileSync(path, 'utf8').replace(/Title \d\d/, `Title ${n}`))
      const seen = n % 2 ? await get(app, id) : await listed(app, id)
      t.equal(seen.title, `Title ${n}`, name)
    }
  }
  const { id } = await app.newCase()
  mkdirSync(app.file(idOf(1)))
  writeFileSync(app.file(idOf(1), 'case.md'), caseMd('Made by hand'))
  t.match(await listed(app, idOf(1)), { title: 'Made by hand', state: 'OPEN' })
  renameSync(app.file(id), app.file(idOf(2)))
  t.equal(await listed(app, id), undefined)
  t.match(await listed(app, idOf(2)), { problems: [{ code: 'id_mismatch', file: 'case.md' }] })
  rmSync(app.file(idOf(1)), { recursive: true })
  t.equal(await listed(app, idOf(1)), undefined)
})

const long = new Date(Date.UTC(2020, 0, 1))
const handmade: [name: string, files: Record<string, string>, shown: object][] = [
  ['only a title', { 'case.md': caseMd('By hand') }, { title: 'By hand', problems: { length: 0 } }],
  [
    'a heading',
    { 'case.md': '# By hand\n\nText\n' },
    { title: 'By hand', problems: { length: 0 } },
  ],
  ['only a line', { 'case.md': 'By hand' }, { title: 'By hand', problems: { length: 0 } }],
  ['an empty case.md', { 'case.md': '' }, { problems: [{ code: 'unreadable' }] }],
  ['no case.md', { 'notes.md': 'x\n' }, { problems: [{ code: 'missing' }] }],
  [
    'broken, and never seen good',
    { 'case.md': '---\ntitle: Plain words\nstate: BLOCKED\ntags: [\n---\n' },
    { title: 'Plain words', state: 'BLOCKED', problems: [{ code: 'bad_frontmatter', line: 4 }] },
  ],
  ['no text at all', { 'case.md': '---\n\0: [\n' }, { problems: [{ code: 'bad_frontmatter' }] }],
]

t.test('what a person made has what is missing derived, and reading never writes', async (t) => {
  const cases = Object.fromEntries([
    ...handmade.map(([, files], n) => [idOf(n), files]),
    [idOf(20), {}],
    [idOf(21), { sessions: { 'latest.md': 'x' }, artifacts: { '1-x.log': 'x' } }],
  ])
  const app = await openTestService(t, { files: { memory: { cases } } })
  const dated = app.file(idOf(1), 'case.md')
  const before = statSync(dated)
  for (const [n, [name, , shown]] of handmade.entries()) {
    const found = await get(app, idOf(n))
    const derived = { id: idOf(n), state: 'OPEN', type: 'bug', outcome: null, tags: [] }
    t.match(found, { ...derived, created_at: TIME, title: /./, ...shown }, name)
    t.equal(found.problems.length, (shown as { problems: unknown[] }).problems.length, name)
    t.strictSame(await listed(app, idOf(n)), found, name)
  }
  t.equal((await get(app, idOf(0))).title, 'By hand')
  t.equal((await get(app, idOf(3))).title, idOf(3), 'the id at worst')
  for (const each of ['', '/gate', '/memory', '/sessions', '/proof'])
    t.equal((await app.request('GET', `/cases/${idOf(1)}${each}`)).status, 200)
  t.strictSame(readdirSync(app.file(idOf(1))), ['case.md'])
  t.strictSame([statSync(dated).ino, statSync(dated).mtimeMs], [before.ino, before.mtimeMs])
  for (const n of [20, 21]) {
    t.equal((await app.request('GET', `/cases/${idOf(n)}`)).status, 404, 'as git leaves a folder')
    t.equal(await listed(app, idOf(n)), undefined)
  }
  t.strictSame((await app.request('GET', '/health')).json.problems, [])

  const missing = `/cases/${idOf(4)}`
  t.equal((await app.request('PUT', missing, { title: 'x' })).status, 409, 'without case.md')
  t.equal((await app.request('PUT', `${missing}/memory/notes.md`, 'y')).status, 200)
  t.equal((await app.request('PUT', `${missing}/memory/case.md`, '# Back\n')).status, 201)
  t.match(await get(app, idOf(4)), { title: 'Back', problems: { length: 0 } })

  await app.close()
  utimesSync(dated, long, long)
  await app.restart()
  t.equal((await get(app, idOf(1))).created_at, long.toISOString(), 'of the file, if that is older')
  await app.request('PUT', `/cases/${idOf(1)}/state`, { state: 'BLOCKED' })
  t.equal(
    readFileSync(dated, 'utf8'),
    `---\nid: ${idOf(1)}\ntitle: By hand\ncreated_at: ${long.toISOString()}\nstate: BLOCKED\ntype: bug\noutcome:\ntags: []\n---\n\n# By hand\n\nText\n`,
    'the first write writes down what was derived',
  )
  const history = readFileSync(app.file(idOf(1), 'history.md'), 'utf8')
  t.match(history, /^# History\n\n- 2020-01-01.* · unknown · created the case\n- .*BLOCKED/)
})

t.test('what is no case is a problem of the workspace, and is left alone', async (t) => {
  const upper = 'AAAAAAAA-0000-4000-8000-000000000000'
  const app = await openTestService(t, {
    files: {
      elsewhere: { 'case.md': caseMd('Elsewhere') },
      memory: {
        cases: {
          'my-case': { 'case.md': caseMd('x') },
          [upper]: { 'case.md': '' },
          [idOf(2)]: 'a file',
          [idOf(3)]: t.fixture('symlink', '../../elsewhere'),
          'README.md': 'words',
          'loose.txt': 'words',
          '.hidden': {},
        },
      },
    },
  })
  const { json } = await app.request('GET', '/health')
  t.match(json, { status: 'ok', cases: 0 })
  const files = json.problems.map((each: { file: string }) => each.file).sort()
  const wrong = ['my-case', upper, idOf(2), idOf(3), 'README.md', 'loose.txt']
  t.strictSame(files, wrong.map((name) => `cases/${name}`).sort())
  for (const problem of json.problems) t.match(problem, { code: 'bad_name', line: null })
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['PUT', '/memory/x.md'],
  ] as const)
    t.equal((await app.request(method, `/cases/${idOf(3)}${path}`, 'x')).status, 404, method)
  t.strictSame(readdirSync(join(app.root, 'elsewhere')), ['case.md'])

  const copy = `cases/${idOf(4)}/case (1).md`
  const isCopy = async () => {
    await app.service.refresher.rescan()
    const { problems } = (await app.request('GET', '/health')).json
    return problems.some(({ file }: { file: string }) => file === copy)
  }
  mkdirSync(app.file(idOf(4)))
  writeFileSync(app.file(idOf(4), 'case (1).md'), caseMd('Copy'))
  t.ok(await isCopy(), 'nor what lies in a folder without a case')
  writeFileSync(app.file('more.txt'), '')
  t.ok(await isCopy(), 'it stays as other names come')
  rmSync(app.file('more.txt'))
  rmSync(app.file(idOf(4)), { recursive: true })
  t.notOk(await isCopy(), 'and goes with its folder')
  renameSync(app.file('my-case'), app.file(idOf(4)))
  rmSync(app.file('README.md'))
  t.match(await listed(app, idOf(4)), { title: 'x' })
  t.equal((await app.request('GET', '/health')).json.problems.length, 4, 'and goes when it is gone')
})

// Broken by hand

type Break = (path: string, text: string) => unknown
const put =
  (change: (text: string) => string | Buffer): Break =>
  (path, text) =>
    writeFileSync(path, change(text))

const breaks: [string, Break, code: string, line: number | null][] = [
  ['half a list', put((text) => text.replace('tags: []', 'tags: [')), 'bad_frontmatter', 8],
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
  ['too much', put((text) => text + 'x'.repeat(256 * 1024)), 'too_large', null],
  ['nothing', put(() => ''), 'unreadable', null],
  ['no file', unlinkSync, 'missing', null],
  [
    'a folder in its place',
    (path) => {
      unlinkSync(path)
      mkdirSync(path)
    },
    'unreadable',
    null,
  ],
  [
    'a link in its place',
    (path, text) => {
      writeFileSync(join(dirname(path), 'real.md'), text)
      unlinkSync(path)
      symlinkSync('real.md', path)
    },
    'symbolic_link',
    null,
  ],
]

t.test(
  'a case.md that a person broke is told once, and served as it was until it is mended',
  inLongLane,
  async (t) => {
    const app = await openTestService(t)
    const scenes = []
    for (const [name, damage, code, line] of breaks) {
      const { id } = await app.newCase({ title: 'Good', description: 'Text', tags: [] })
      const path = app.file(id, 'case.md')
      scenes.push({ name, id, path, damage, text: readFileSync(path, 'utf8'), code, line })
    }
    const published = listen(t, app)
    const told = async (type: string) => {
      const events = (await published.newEvents()).filter(({ event_type }) => event_type === type)
      return events
        .map(({ payload }) => `${payload.case_id} ${payload.code} ${payload.file}`)
        .sort()
    }
    const expected = scenes.map(({ id, code }) => `${id} ${code} case.md`).sort()
    for (const { damage, path, text } of scenes) damage(path, text)
    t.strictSame(await told('problem_found'), expected)
    t.strictSame(await told('problem_found'), [], 'once')
    for (const { name, id, path, code, line } of scenes) {
      const bytes = () =>
        code === 'missing' || !statSync(path).isFile() ? null : readFileSync(path)
      const broken = bytes()
      const shown = {
        title: 'Good',
        description: 'Text',
        state: 'OPEN',
        problems: [{ code, file: 'case.md', line, message: /\w/ }],
      }
      t.match(await get(app, id), shown, `${name}: its last good value is served`)
      const writes = [
        ['PUT', '', { title: 'x' }],
        ['PUT', '/state', { state: 'BLOCKED' }],
        ['POST', '/proof/checklist', { description: 'x', type: 'log' }],
      ] as const
      for (const [method, where, body] of id === scenes[0]!.id ? writes : writes.slice(0, 1)) {
        const reply = await app.request(method, `/cases/${id}${where}`, body)
        t.match(reply, { status: 409, json: { code: 'unreadable_file', problem: { code, line } } })
      }
      t.strictSame(bytes(), broken, `${name}: untouched`)
    }
    const list = (await app.request('GET', '/cases')).json as {
      title: string
      problems: object[]
    }[]
    t.ok(list.every(({ title, problems }) => title === 'Good' && problems.length === 1))

    await app.restart()
    for (const { name, id, code } of scenes)
      t.match(await get(app, id), { title: 'Good', problems: [{ code }] }, `${name}: after a start`)
    const again = listen(t, app)
    for (const { path, text } of scenes) {
      rmSync(path, { recursive: true, force: true })
      writeFileSync(path, text.replace('Good', 'Mended'))
    }
    const events = await again.newEvents()
    const cleared = events.filter(({ event_type }) => event_type === 'problem_cleared')
    t.strictSame(
      cleared.map(({ payload }) => `${payload.case_id} ${payload.code} ${payload.file}`).sort(),
      expected,
    )
    for (const { name, id } of scenes) {
      t.match(await get(app, id), { title: 'Mended', problems: { length: 0 } }, name)
      t.equal((await app.request('PUT', `/cases/${id}`, { title: 'On' })).status, 200, name)
    }
  },
)

t.test('without its state folder the service answers the same of all cases', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Kept', description: 'x' })
  const item = { description: 'x', type: 'log', required: true }
  await app.request('POST', `/cases/${id}/proof/checklist`, item)
  await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  await app.request('PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: 'It waits.' })
  const other = randomUUID()
  mkdirSync(app.file(other))
  // with its line end: a list waits only for a while for a file that looks half-saved
  writeFileSync(app.file(other, 'case.md'), '# By hand\n')
  const all = async () => {
    const paths = ['', '/proof', '/gate', '/memory'].map((path) => `/cases/${id}${path}`)
    const asked = ['/cases', '/triage', `/cases/${other}`, ...paths]
    return Promise.all(asked.map(async (path) => (await app.request('GET', path)).json))
  }
  const before = await all()
  await app.close()
  rmSync(app.stateDir, { recursive: true })
  await app.restart()
  t.strictSame(await all(), before)
})
