import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { dialogue } from '../fixtures/raw-socket.ts'
import { planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

// a late save is looked for when a test asks
const app = await openTestService(t, { limits: { lateSave: 600_000 } })
const { request, newCase } = app

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const path = (id: string, name: string) => `/cases/${id}/memory/${name}`

// Bytes

const texts: Uint8Array[] = [
  Buffer.from('\ufeff# Notes\r\n- größe 😀'),
  Buffer.alloc(0),
  Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0xaf, 0xed, 0xa0, 0x80]),
  Buffer.from('---\n: [\n---\n<<<<<<< HEAD\n'),
  Buffer.alloc(1024 * 1024 + 7, 'x'),
]

t.test('PUT writes the bytes of the body, and GET gives them back', async (t) => {
  const { id } = await newCase()
  for (const [at, bytes] of texts.entries()) {
    const put = await request('PUT', path(id, 'notes.md'), bytes)
    t.equal(put.status, at === 0 ? 201 : 200)
    t.ok((await readFile(app.file(id, 'notes.md'))).equals(bytes), 'on disk')
    const get = await request('GET', path(id, 'notes.md'))
    t.ok(get.bytes.equals(bytes), 'over the wire')
    t.match([get.status, get.headers.etag], [200, put.headers.etag])
    t.match(get.headers, {
      'content-type': 'text/markdown; charset=utf-8',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
  }
})

t.test('a new file is 201 with its place, a known one 200', async (t) => {
  const { id } = await newCase()
  const made = await request('PUT', path(id, 'a.b-c_d.md'), 'x')
  t.equal(made.status, 201)
  t.equal(made.headers.location, path(id, 'a.b-c_d.md'))
  t.strictSame(made.json, { filename: 'a.b-c_d.md', size: 1 })
  const again = await request('PUT', path(id, 'a.b-c_d.md'), 'xy')
  t.equal(again.status, 200)
  t.equal(again.headers.location, undefined)
  for (const type of ['application/json', 'multipart/form-data', 'nonsense', '']) {
    const reply = await request('PUT', path(id, 'x.md'), `{${type}`, { 'content-type': type })
    t.ok(reply.status < 300, `"${type}" is taken`)
  }
})

t.test('what is compressed is not taken for the bytes of a file', async (t) => {
  const { id } = await newCase()
  const bytes = gzipSync('# Notes\n')
  const reply = await request('PUT', path(id, 'x.md'), bytes, { 'content-encoding': 'gzip' })
  t.match(reply, {
    status: 415,
    json: { code: 'unsupported_media_type', detail: /"gzip".*uncompressed/ },
  })
  t.equal((await request('GET', path(id, 'x.md'))).status, 404)
})

t.test('10 MiB are taken, and one byte more is 413', inLongLane, async (t) => {
  const { id } = await newCase()
  const most = Buffer.alloc(10 * 1024 * 1024, 'm')
  t.equal((await request('PUT', path(id, 'big.md'), most)).status, 201)
  t.ok((await request('GET', path(id, 'big.md'))).bytes.equals(most))
  const more = Buffer.alloc(most.length + 1, 'x')
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
    t.equal((await request('PUT', path(id, 'big.md'), more, headers)).status, 413)
  }
  t.ok((await readFile(app.file(id, 'big.md'))).equals(most), 'and nothing is written')
})

t.test('the same bytes again leave the file alone', async (t) => {
  const { id } = await newCase()
  await request('PUT', path(id, 'x.md'), 'same')
  const before = await stat(app.file(id, 'x.md'))
  t.equal((await request('PUT', path(id, 'x.md'), 'same')).status, 200)
  t.equal((await stat(app.file(id, 'x.md'))).ino, before.ino)
})

t.test('conditional requests hold for memory too', async (t) => {
  const { id } = await newCase()
  const name = path(id, 'x.md')
  const put = (body: string, headers: Record<string, string>) => request('PUT', name, body, headers)
  t.equal((await put('a', { 'if-match': '*' })).status, 412, 'nothing is there to match')
  t.equal((await put('a', { 'if-none-match': '*' })).status, 201)
  t.equal((await put('b', { 'if-none-match': '*' })).status, 412)
  const { etag = '' } = (await request('GET', name)).headers
  for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    t.equal((await request('GET', name, undefined, { 'if-none-match': held })).status, 304, held)
  }
  t.match(await put('b', { 'if-match': '"x"' }), { status: 412, json: { etag } })
  t.equal((await put('b', { 'if-match': etag })).status, 200)
  t.equal((await put('c', { 'if-match': etag })).status, 412)
  t.equal(await readFile(app.file(id, 'x.md'), 'utf8'), 'b')
})

t.test('a case.md that must be new makes a case', async (t) => {
  const id = randomUUID()
  const text =
    '---\nstate: BLOCKED\ncreated_at: 2026-01-02T03:04:05.000Z\nmine: yes\n---\n\n# Door\n'
  const isNew = { 'if-none-match': '*' }
  const put = (body: string) => request('PUT', path(id, 'case.md'), body, isNew)
  t.equal((await request('PUT', path(id, 'case.md'), text)).status, 404, 'not without saying so')
  t.equal((await request('PUT', path(id, 'notes.md'), text, isNew)).status, 404, 'nor by its notes')
  t.match(await put('---\nstate: RESOLVED\n---\n'), { status: 422, json: { code: 'proof_gate' } })
  t.match(await put(text.replace('BLOCKED', 'SHUT')), {
    status: 422,
    json: { code: 'would_be_a_problem' },
  })
  t.match(await put(`---\nid: ${randomUUID()}\n---\n`), { status: 422 })
  t.equal((await put('')).status, 422)
  t.equal((await put('x'.repeat(300_000))).status, 413)
  t.equal((await request('PUT', path('no-uuid', 'case.md'), text, isNew)).status, 404)
  t.equal((await request('GET', `/cases/${id}`)).status, 404, 'nothing of that made it')
  const replies = await Promise.all(Array.from({ length: 5 }, () => put(text)))
  const statuses = replies.map(({ status }) => status).sort()
  t.match(statuses, [201, ...Array(4).fill(/^4(09|12)$/)], 'of several one makes it')
  t.match((await request('GET', `/cases/${id}`)).json, {
    title: 'Door',
    state: 'BLOCKED',
    created_at: '2026-01-02T03:04:05.000Z',
    problems: [],
  })
  t.equal(await readFile(app.file(id, 'case.md'), 'utf8'), text, 'to the byte')
  t.equal((await put(text)).status, 412)
})

t.test('of several PUTs with the same If-Match exactly one wins', async (t) => {
  const { id } = await newCase()
  const { etag = '' } = (await request('PUT', path(id, 'x.md'), 'start')).headers
  const bodies = ['one', 'two', 'three', 'four']
  const replies = await Promise.all(
    bodies.map((body) => request('PUT', path(id, 'x.md'), body, { 'if-match': etag })),
  )
  const won = replies.flatMap(({ status }, n) => (status === 200 ? [bodies[n]] : []))
  t.equal(won.length, 1)
  t.equal(await readFile(app.file(id, 'x.md'), 'utf8'), won[0])
})

t.test('what an editor writes into a file that a PUT replaced is not lost', async (t) => {
  for (const name of ['notes.md', 'case.md']) {
    const { id } = await newCase({ description: 'Before.' })
    if (name === 'notes.md') await request('PUT', path(id, name), 'Before.')
    const { text } = await request('GET', path(id, name))
    const editor = await open(app.file(id, name), 'r+')
    t.equal((await request('PUT', path(id, name), text.replace('Before', 'After'))).status, 200)
    const typed = text.replace('Before.', 'Typed in the editor.')
    await editor.truncate(0)
    await editor.write(typed, 0)
    await editor.close()
    await app.service.lateSaves.idle()
    const isKept = async () => {
      const names = (await readdir(app.file(id))).filter((each) => each.endsWith('.md'))
      const all = await Promise.all(names.map((each) => readFile(app.file(id, each), 'utf8')))
      return all.some((each) => each.includes('Typed in the editor.'))
    }
    while (!(await isKept())) await delay(20)
    t.match(await readFile(app.file(id, name), 'utf8'), 'After', 'and the PUT stays')
  }
})

// Names

/** As they stand in the path. */
const badNames = [
  ...['notes', 'notes.txt', '.md', `${'x'.repeat(253)}.md`, `${'%c3%b6'.repeat(127)}.md`],
  ...['notes.md%20', 'notes.md.', 'notes%00.md', '%e2%80%aedm.exe.md', 'a%09.md', '%ed%a0%80.md'],
  ...['..%2fcase.md', '..%5ccase.md', 'sessions%2f1.md', 'notes.md::$DATA', '%zz.md', 'CASE.md'],
]

t.test('a name that is safe in a path is a file of the case', async (t) => {
  const { id } = await newCase()
  const names = [
    'a..b.md',
    'meeting notes.md',
    '日本.md',
    '_todo.md',
    '-rf.md',
    'Notes.MD',
    '100%.md',
  ]
  names.push('%2e%2e%2fx.md', 'What?.md', '10:30 #call*.md', '1.MD', "it's “so” & <b>.md")
  names.push('👩‍💻.md', 'a\u0301.md', `${'ö'.repeat(126)}.md`)
  const of = (name: string) => path(id, encodeURIComponent(name))
  for (const name of names) {
    const made = await request('PUT', of(name), `of ${name}`)
    t.match(made, { status: 201, headers: { location: of(name) }, json: { filename: name } }, name)
    t.equal(await readFile(app.file(id, name), 'utf8'), `of ${name}`)
  }
  const listed = (await request('GET', `/cases/${id}/memory`)).json
  const filenames = listed.map(({ filename }: { filename: string }) => filename)
  t.same(filenames, ['case.md', 'history.md', ...names].sort())
  const page = (await request('GET', `/case/${id}`)).text
  t.match(page, `/case/${id}/memory/100%25.md`, 'links lead there')
  t.same((await request('GET', `/cases/${id}`)).json.problems, [])
})

t.test('a letter and its accent are the letter with the accent', async (t) => {
  const { id } = await newCase()
  const [composed, decomposed] = ['\u00e4.md', 'a\u0308.md']
  await writeFile(app.file(id, decomposed), 'by hand')
  const of = (name: string) => path(id, encodeURIComponent(name))
  t.equal((await request('GET', of(composed))).text, 'by hand')
  t.equal((await request('PUT', of(composed), 'by request')).status, 200)
  t.equal(await readFile(app.file(id, decomposed), 'utf8'), 'by request', 'the same file')
})

t.test('a markdown file with another name is a problem that says what to do', async (t) => {
  const { id } = await newCase()
  const files: [file: string, advice: RegExp][] = [
    ['1.md', /move it to sessions\/1\.md/],
    ['LATEST.md', /newest session/],
    ['Case.md', /case\.md, in lower case/],
    ['notes.md ', /rename it/],
    ['a\u202eb.md', /rename it/],
    ['sessions/notes.md', /session number/],
    ['proof/test-log.md', /UUID/],
    [`proof/${id.toUpperCase()}.md`, new RegExp(`rename it to ${id}`)],
  ]
  for (const folder of ['sub', 'sessions', 'proof', '.obsidian', 'artifacts'])
    await mkdir(app.file(id, folder), { recursive: true })
  const served = [
    'sub/a.md',
    '.obsidian/x.md',
    'artifacts/1-x.md',
    'image.png',
    'proof/shot.png',
    '.x.md',
  ]
  for (const file of [...files.map(([file]) => file), ...served])
    await writeFile(app.file(id, file), 'x')
  const problems = async (path: string) => {
    const found = (await request('GET', path)).json.problems
    return found.filter(({ code }: { code: string }) => code === 'bad_name')
  }
  const wanted = files
    .map(([file, advice]) => ({ code: 'bad_name', file, line: null, message: advice }))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
  const sorted = async () =>
    (await problems(`/cases/${id}`)).sort((a: { file: string }, b: { file: string }) =>
      a.file < b.file ? -1 : 1,
    )
  t.match(await sorted(), wanted)
  t.equal((await sorted()).length, wanted.length)
  const alone = randomUUID()
  await mkdir(app.file(alone))
  await writeFile(app.file(alone, 'Case.md'), '# Door\n')
  await app.restart()
  t.match(await sorted(), wanted, 'also after a start')
  t.equal((await sorted()).length, wanted.length)
  t.match(await problems('/health'), [{ file: `cases/${alone}/Case.md` }])
  for (const [file] of files) await rm(app.file(id, file))
  t.same(await problems(`/cases/${id}`), [], 'and gone with its cause')
  await rename(app.file(alone, 'Case.md'), app.file(alone, 'case.md'))
  t.equal((await request('GET', `/cases/${alone}`)).json.title, 'Door')
  t.same(await problems('/health'), [])
})

/** Paths that are no name at all: there is nothing of that kind. */
const badPaths = ['../case.md', './notes.md/', 'a/b.md', '//etc/passwd', '%2e%2e/notes.md']

t.test('any other name is 400, says what is allowed, and touches nothing', async (t) => {
  const { id } = await newCase()
  /** Without the index, which comes by itself. */
  const files = async () =>
    (await readdir(app.root, { recursive: true }))
      .filter((name) => !/index|\.tmp$/.test(name))
      .sort()
  const before = await files()
  const content = await readFile(app.file(id, 'case.md'), 'utf8')
  for (const filename of badNames) {
    for (const [method, body] of [['GET'], ['PUT', 'owned']] as const) {
      const reply = await request(method, path(id, filename), body)
      t.equal(reply.status, 400, filename)
      t.match(reply.json, {
        code: 'invalid_filename',
        detail: /expected a (?:file|percent-encoded)|lower case/,
        errors: [{ path: 'filename', message: /got "/ }],
      })
    }
  }
  for (const filename of badPaths) {
    for (const [method, body] of [['GET'], ['PUT', 'owned']] as const) {
      const { status } = await request(method, path(id, filename), body)
      t.ok(status === 404 || status === 405, `${method} ${filename}: ${status}`)
    }
  }
  t.strictSame(await files(), before)
  t.equal(await readFile(app.file(id, 'case.md'), 'utf8'), content)
})

t.test('a name of a session that is not there is 404, for reading and writing', async (t) => {
  const { id } = await newCase()
  for (const name of ['1.md', '999999.md', 'latest.md']) {
    for (const [method, body] of [['GET'], ['PUT', 'x']] as const) {
      const reply = await request(method, path(id, name), body)
      t.equal(reply.status, 404, `${method} ${name}`)
      t.match(reply.json.detail, name)
    }
  }
  t.equal((await request('GET', path(id, 'nothing.md'))).status, 404)
})

// What a person may put in the place of a file

const oddPlaces: [string, make: (at: string, outside: string) => unknown][] = [
  ['a link out of the workspace', (at, outside) => symlink(outside, at)],
  ['a link to the case file', (at) => symlink('case.md', at)],
  ['a dangling link', (at) => symlink('nowhere.md', at)],
  ['a link to itself', (at) => symlink(at, at)],
  ['a FIFO', (at) => execFileSync('mkfifo', [at])],
  ['a folder', (at) => mkdir(at)],
  ['a device', (at) => symlink('/dev/zero', at)],
]

t.test('what is no plain file is 409, neither read nor written', async (t) => {
  const { id } = await newCase()
  const outside = join(app.stateDir, 'outside.md')
  for (const [name, make] of oddPlaces) {
    await writeFile(outside, 'secret')
    const filename = `odd${oddPlaces.findIndex(([each]) => each === name)}.md`
    await make(app.file(id, filename), outside)
    for (const [method, body] of [['GET'], ['PUT', 'owned']] as const) {
      const reply = await request(method, path(id, filename), body)
      t.match(
        reply,
        { status: 409, json: { code: 'unreadable_file', detail: /Replace it with/ } },
        name,
      )
      t.notMatch(reply.text, 'secret')
    }
    t.equal(await readFile(outside, 'utf8'), 'secret')
  }
  const listed = (await request('GET', `/cases/${id}/memory`)).json
  t.strictSame(
    listed.map((each: { filename: string }) => each.filename),
    ['case.md', 'history.md'],
    'nor listed',
  )
})

// The list

t.test('GET …/memory lists the markdown files with their kind', async (t) => {
  const { id } = await newCase()
  await request('PUT', path(id, 'notes.md'), 'four')
  await writeFile(app.file(id, 'image.png'), 'x')
  await mkdir(app.file(id, 'sessions'))
  await writeFile(app.file(id, 'sessions', '3.md'), '# Session 3: planning\n')
  const reply = await request('GET', `/cases/${id}/memory`)
  t.equal(reply.status, 200)
  t.match(reply.headers.etag, /^"/)
  t.match(reply.json, [
    { filename: 'case.md', kind: 'case', updated_at: TIME },
    { filename: 'history.md', kind: 'notes', updated_at: TIME },
    { filename: 'notes.md', kind: 'notes', size: 4, updated_at: TIME },
    { filename: '3.md', kind: 'session', size: 22, updated_at: TIME },
  ])
  t.equal(reply.json.length, 4)
  for (const { filename, size } of reply.json) {
    t.equal((await request('GET', path(id, filename))).bytes.length, size)
  }
})

// case.md as a memory file

t.test('a PUT of case.md is what a save by hand would be', async (t) => {
  const { id } = await newCase({ title: 'Old' })
  const { text } = await request('GET', path(id, 'case.md'))
  const mine = `${text.replace('title: Old', '# mine\ntitle: "New" # really')}\nMore.\n`
  t.equal((await request('PUT', path(id, 'case.md'), mine)).status, 200)
  t.equal(await readFile(app.file(id, 'case.md'), 'utf8'), mine)
  t.match((await request('GET', `/cases/${id}`)).json, { title: 'New', problems: { length: 0 } })
  const history = (await request('GET', `/cases/${id}/history`)).json
  t.match(history.at(-1), { kind: 'edit', what: /title/ })
})

t.test('a case.md that has no frontmatter may be replaced by another one', async (t) => {
  const { id } = await newCase()
  await writeFile(app.file(id, 'case.md'), '# Made by hand\n')
  t.equal((await request('PUT', path(id, 'case.md'), '# Only a title\n')).status, 200)
  t.match((await request('GET', `/cases/${id}`)).json, { title: 'Only a title', state: 'OPEN' })
})

const badCases: [string, (text: string) => string | Buffer, number, RegExp][] = [
  ['broken YAML', (text) => text.replace('tags: []', 'tags: ['), 422, /line \d/],
  [
    'conflict markers',
    (text) => `${text}<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n`,
    422,
    /conflict/,
  ],
  ['an unknown state', (text) => text.replace('OPEN', 'CLOSED'), 422, /CLOSED is not one of/],
  ['another id', (text) => text.replace(/^id: ./m, 'id: 0f'), 422, /contradicts/],
  ['no frontmatter', () => 'hello\n', 422, /has id, created_at, state, but the body does not/],
  [
    'a frontmatter without its state',
    (text) => text.replace(/^state: .*\n/m, ''),
    422,
    /its frontmatter has state, but .* Send the whole file as GET returns it/,
  ],
  ['a key twice', (text) => text.replace('tags:', 'type: bug\ntags:'), 422, /case\.md was not/],
  ['bytes that are no UTF-8', (text) => Buffer.from(`${text}\xff`, 'latin1'), 422, /not UTF-8/],
  ['257 KiB', (text) => text + 'x'.repeat(257 * 1024), 413, /262144/],
  ['RESOLVED', (text) => text.replace('OPEN', 'RESOLVED'), 422, /proof gate is shut/],
]

t.test('a PUT of case.md that would be a problem is refused', async (t) => {
  const { id } = await newCase()
  const { text } = await request('GET', path(id, 'case.md'))
  for (const [name, change, status, detail] of badCases) {
    const reply = await request('PUT', path(id, 'case.md'), change(text))
    t.match(reply, { status, json: { detail } }, name)
    t.equal(await readFile(app.file(id, 'case.md'), 'utf8'), text, name)
  }
})

t.test('a broken case.md is given as it is, and a good PUT mends it', async (t) => {
  const { id } = await newCase({ title: 'Good' })
  const { text } = await request('GET', path(id, 'case.md'))
  const broken = text.replace('tags: []', 'tags: [')
  await writeFile(app.file(id, 'case.md'), broken)
  t.equal((await request('GET', path(id, 'case.md'))).text, broken)
  t.match((await request('GET', `/cases/${id}`)).json, { problems: [{ file: 'case.md' }] })
  t.equal((await request('PUT', path(id, 'case.md'), text)).status, 200)
  t.match((await request('GET', `/cases/${id}`)).json, { title: 'Good', problems: { length: 0 } })
})

// Session files as memory files

/** Its only session waits for approval. */
const ref = await planned(app, { runbook: step('true', 'sh run id=a') })
const { case_id: id, path: session } = ref

t.test('a PUT of a live session file may change its plan', async (t) => {
  for (const [name, command] of [
    ['1.md', 'echo one'],
    ['latest.md', 'echo two'],
  ] as const) {
    const { text } = await request('GET', path(id, name))
    const mine = text.replace(/^(true|echo one)$/m, command)
    t.not(mine, text)
    t.equal((await request('PUT', path(id, name), mine)).status, 200, name)
    t.match((await request('GET', session)).json, {
      plan: RegExp(command),
      problems: { length: 0 },
    })
  }
  t.equal(
    (await request('GET', path(id, 'latest.md'))).text,
    await readFile(app.file(id, 'sessions', '1.md'), 'utf8'),
  )
  t.ok(
    (await lstat(app.file(id, 'sessions', 'latest.md'))).isSymbolicLink(),
    'the link is still one',
  )
})

const badSessions: [string, (text: string) => string][] = [
  ['an approval', (text) => text.replace('state: plan_ready', 'state: approved')],
  ['a line of the trail less', (text) => text.replace(/^2\. .*\n/m, '')],
  ['a line of the trail more', (text) => `${text}9. 2026-01-01T00:00:00.000Z plan_approved\n`],
  ['another line in the trail', (text) => text.replace('session_created', 'session_started')],
  ['another provider', (text) => text.replace('provider: runbook', 'provider: other')],
  ['a hash of the plan', (text) => text.replace('provider:', 'plan_sha256: x\nprovider:')],
  ['output', (text) => text.replace('## Execution output\n', '## Execution output\n\nDone.\n')],
  ['a plan that is none', (text) => text.replace('run id=a', 'run id=a nonsense=1')],
  ['no frontmatter', () => '# Session 1: implementing\n'],
  ['broken YAML', (text) => text.replace('provider:', 'provider: [')],
  ['nothing', () => ''],
]

t.test('a PUT of a live session file changes nothing else', async (t) => {
  const { text } = await request('GET', path(id, '1.md'))
  for (const [name, change] of badSessions) {
    t.not(change(text), text)
    const reply = await request('PUT', path(id, '1.md'), change(text))
    t.match(reply, { status: 422, json: { detail: /sessions\/1\.md was not written/ } }, name)
  }
  t.equal((await request('GET', path(id, '1.md'))).text, text)
  t.match((await request('GET', session)).json, { state: 'plan_ready', problems: { length: 0 } })
})

t.test('a PUT of a sealed session file is always refused', async (t) => {
  t.equal((await request('POST', `${session}/abandon`)).status, 200)
  const { text } = await request('GET', path(id, '1.md'))
  t.match(text, /session_sealed/)
  for (const body of [text, `${text} `, '']) {
    const reply = await request('PUT', path(id, '1.md'), body)
    t.equal(reply.status, 422)
    t.equal(reply.json.code, 'session_ended')
  }
  t.equal((await request('GET', path(id, '1.md'))).text, text)
})

t.test('a request without any body empties no file', async (t) => {
  const { id } = await newCase()
  t.equal((await request('PUT', path(id, 'notes.md'), 'text')).status, 201)
  const { host, port } = new URL(app.url)
  const head = `PUT ${path(id, 'notes.md')} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  t.match((await dialogue(Number(port), head)).text, /^HTTP\/1\.1 400 .*has no body/s)
  t.equal((await request('GET', path(id, 'notes.md'))).text, 'text')
})
