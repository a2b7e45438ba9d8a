import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const { request, newCase } = app

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const path = (id: string, name: string) => `/cases/${id}/memory/${name}`

// Bytes

const texts: [string, Uint8Array][] = [
  ['markdown', Buffer.from('# Notes\n\n- größe 😀\n')],
  ['nothing', Buffer.alloc(0)],
  ['CRLF and no final line ending', Buffer.from('a\r\nb')],
  ['a BOM', Buffer.from('\ufeff# Notes\n')],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0xaf, 0xed, 0xa0, 0x80])],
  ['every byte', Buffer.from(Array.from({ length: 256 }, (_, n) => n))],
  ['frontmatter that would be broken', Buffer.from('---\n: [\n---\n<<<<<<< HEAD\n')],
  ['JSON', Buffer.from('{"a":1}')],
  ['1 MiB and more', Buffer.alloc(1024 * 1024 + 7, 'x')],
]

t.test('PUT writes the bytes of the body, and GET gives them back', async (t) => {
  const { id } = await newCase()
  for (const [name, bytes] of texts) {
    await t.test(name, async (t) => {
      const put = await request('PUT', path(id, 'notes.md'), bytes)
      t.ok([200, 201].includes(put.status), put.text)
      t.ok((await readFile(app.file(id, 'notes.md'))).equals(bytes), 'on disk')
      const get = await request('GET', path(id, 'notes.md'))
      t.equal(get.status, 200)
      t.ok(get.bytes.equals(bytes), 'over the wire')
      t.equal(get.headers['content-type'], 'text/markdown; charset=utf-8')
      t.equal(get.headers['x-content-type-options'], 'nosniff')
      t.equal(get.headers.etag, put.headers.etag)
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
})

t.test('any content type is taken, and none', async (t) => {
  const { id } = await newCase()
  const types = ['text/markdown', 'application/json', 'multipart/form-data', 'nonsense', '']
  for (const type of types) {
    const reply = await request('PUT', path(id, 'x.md'), type, { 'content-type': type })
    t.ok(reply.status < 300, `"${type}"`)
    t.equal((await request('GET', path(id, 'x.md'))).text, type)
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

t.test('10 MiB are taken, and one byte more is 413', async (t) => {
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

t.test('of 50 PUTs with the same If-Match exactly one wins', async (t) => {
  const { id } = await newCase()
  const { etag = '' } = (await request('PUT', path(id, 'x.md'), 'start')).headers
  const bodies = Array.from({ length: 50 }, (_, n) => `body ${n}`)
  const replies = await Promise.all(
    bodies.map((body) => request('PUT', path(id, 'x.md'), body, { 'if-match': etag })),
  )
  const won = replies.flatMap(({ status }, n) => (status === 200 ? [bodies[n]] : []))
  t.equal(won.length, 1)
  t.equal(await readFile(app.file(id, 'x.md'), 'utf8'), won[0])
})

// Names

const long = 'x'.repeat(100)
const goodNames = ['notes.md', 'A.md', '0.md', '007.md', '1234567.md', 'a..b.md', 'x.md.md']
const moreGoodNames = [`${long}.md`, 'index.md', 'con.md.md', '-'.padStart(2, 'a') + '.md']

t.test('a name of the allowed letters is a file of the case', async (t) => {
  const { id } = await newCase()
  for (const name of [...goodNames, ...moreGoodNames]) {
    t.equal((await request('PUT', path(id, name), name)).status, 201, name)
    t.equal(await readFile(app.file(id, name), 'utf8'), name)
    t.equal((await request('GET', path(id, name))).text, name)
  }
})

/** As they stand in the path. */
const badNames: [string, string][] = [
  ['no ending', 'notes'],
  ['another ending', 'notes.txt'],
  ['nothing before the ending', '.md'],
  ['a hidden file', '.notes.md'],
  ['253 letters', `${'x'.repeat(253)}.md`],
  ['more than 255 bytes', `${'%c3%b6'.repeat(127)}.md`],
  ['a trailing blank', 'notes.md%20'],
  ['a trailing dot', 'notes.md.'],
  ['a trailing line feed', 'notes.md%0a'],
  ['a trailing slash, encoded', 'notes.md%2f'],
  ['NUL', 'notes%00.md'],
  ['NUL before an ending', 'notes.md%00.png'],
  ['right to left', '%e2%80%aedm.exe.md'],
  ['a byte order mark', '%ef%bb%bfnotes.md'],
  ['a line separator', 'a%e2%80%a8b.md'],
  ['a parent, encoded', '%2e%2e%2fcase.md'],
  ['a parent, in capitals', '%2E%2E%2Fcase.md'],
  ['a parent, half encoded', '..%2fcase.md'],
  ['a parent by a backslash', '..%5ccase.md'],
  ['many parents', '..%2f..%2f..%2f..%2fetc%2fpasswd.md'],
  ['a parent, overlong', '%c0%ae%c0%ae%c0%afcase.md'],
  ['a folder', 'sessions%2f1.md'],
  ['the absolute path', '%2fetc%2fpasswd.md'],
  ['a drive, encoded', 'C%3a%5cnotes.md'],
  ['a share', '%5c%5chost%5cshare.md'],
  ['a stream of Windows', 'notes.md::$DATA'],
  ['a broken escape', '%zz.md'],
  ['half an escape', 'notes.md%'],
  ['a lone surrogate', '%ed%a0%80.md'],
  ['a tab', 'a%09.md'],
  ['the case file in capitals', 'CASE.md'],
  ['the case file, mixed', 'Case.md'],
  ['the case file with another ending', 'case.MD'],
  ['the newest session in capitals', 'LATEST.md'],
]

t.test('a name that is safe in a path is a file of the case', async (t) => {
  const { id } = await newCase()
  const names = [
    'meeting notes.md',
    'nötes.md',
    '日本.md',
    '_todo.md',
    '-rf.md',
    'Notes.MD',
    'a, b.md',
    '100%.md',
    '%2e%2e%2fx.md',
    'What?.md',
    '10:30 #call*.md',
    "it's “so” & <b>.md",
    '👩‍💻.md',
    'a\u0301.md',
    '01.md',
    '1.MD',
    'x|y.md',
    `${'ö'.repeat(126)}.md`,
  ]
  const of = (name: string) => path(id, encodeURIComponent(name))
  for (const name of names) {
    const made = await request('PUT', of(name), `of ${name}`)
    t.match(made, { status: 201, headers: { location: of(name) }, json: { filename: name } }, name)
    t.equal(await readFile(app.file(id, name), 'utf8'), `of ${name}`)
    t.equal((await request('GET', of(name))).text, `of ${name}`)
    t.equal((await request('GET', `/case/${id}/memory/${encodeURIComponent(name)}`)).status, 200)
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
    ['sub/a.md', /move it there/],
    ['sub/deep/b.md', /move it there/],
    ['sessions/notes.md', /session number/],
    ['proof/test-log.md', /UUID/],
    [`proof/${id.toUpperCase()}.md`, new RegExp(`rename it to ${id}`)],
  ]
  for (const folder of ['sub/deep', 'sub/empty', 'sessions', 'proof', '.obsidian', 'artifacts'])
    await mkdir(app.file(id, folder), { recursive: true })
  const served = ['.obsidian/x.md', 'artifacts/1-x.md', 'image.png', 'proof/shot.png', '.x.md']
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

const deviceNames = ['con', 'CON', 'prn', 'aux', 'nul', 'com1', 'LPT9', 'con.x']

/** Paths that are no name at all: there is nothing of that kind. */
const badPaths = [
  '../case.md',
  '../../memory/notes.md',
  '../../../../etc/passwd',
  './notes.md/',
  'a/b.md',
  'sessions/1.md',
  'proof/x.md',
  '//etc/passwd',
  '..;/notes.md',
  '%2e%2e',
  '%2e%2e/notes.md',
]

t.test('any other name is 400, says what is allowed, and touches nothing', async (t) => {
  const { id } = await newCase()
  /** Without the index, which comes by itself. */
  const files = async () =>
    (await readdir(app.root, { recursive: true }))
      .filter((name) => !/index|\.tmp$/.test(name))
      .sort()
  const before = await files()
  const content = await readFile(app.file(id, 'case.md'), 'utf8')
  for (const [name, filename] of badNames) {
    await t.test(name, async (t) => {
      for (const [method, body] of [['GET'], ['PUT', 'owned']] as const) {
        const reply = await request(method, path(id, filename), body)
        t.equal(reply.status, 400, reply.text)
        t.match(reply.json, {
          code: 'invalid_filename',
          detail: /expected a (?:file|percent-encoded)|lower case/,
          errors: [{ path: 'filename', message: /got "/ }],
        })
      }
    })
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

t.test('names that are devices elsewhere are 400 or plain files here', async (t) => {
  const { id } = await newCase()
  for (const name of deviceNames) {
    const { status } = await request('PUT', path(id, `${name}.md`), 'x')
    t.ok(status === 201 || status === 400, `${name}: ${status}`)
  }
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
    await t.test(name, async (t) => {
      await writeFile(outside, 'secret')
      const filename = `odd${oddPlaces.findIndex(([each]) => each === name)}.md`
      await make(app.file(id, filename), outside)
      for (const [method, body] of [['GET'], ['PUT', 'owned']] as const) {
        const reply = await request(method, path(id, filename), body)
        t.equal(reply.status, 409, reply.text)
        t.match(reply.json, { code: 'unreadable_file', detail: /Replace it with/ })
        t.notMatch(reply.text, 'secret')
      }
      t.equal(await readFile(outside, 'utf8'), 'secret')
    })
  }
  const listed = (await request('GET', `/cases/${id}/memory`)).json
  t.strictSame(
    listed.map((each: { filename: string }) => each.filename),
    ['case.md', 'history.md'],
    'nor listed',
  )
})

t.test('a folder of sessions that leads elsewhere is not followed', async (t) => {
  const { id } = await newCase()
  const elsewhere = join(app.stateDir, 'elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, '1.md'), '# Session 1: planning\n\nsecret\n')
  await symlink(elsewhere, app.file(id, 'sessions'))
  t.equal((await request('GET', path(id, '1.md'))).status, 404)
  t.strictSame((await request('GET', `/cases/${id}/sessions`)).json, [])
  const made = await request('POST', `/cases/${id}/sessions`, { type: 'planning' })
  t.ok(made.status >= 400 && made.status < 500, `${made.status} ${made.text}`)
  t.strictSame(await readdir(elsewhere), ['1.md'])
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
    await t.test(name, async (t) => {
      const reply = await request('PUT', path(id, 'case.md'), change(text))
      t.equal(reply.status, status, reply.text)
      t.match(reply.json.detail, detail)
      t.equal(await readFile(app.file(id, 'case.md'), 'utf8'), text)
    })
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

/** A case whose only session waits for approval. */
async function waiting(app: TestService): Promise<{ id: string; session: string }> {
  const { id } = await app.newCase({ description: 'Slow.\n\n```sh run id=a\ntrue\n```\n' })
  const ready = new Promise<void>((resolve) => {
    const stop = app.service.changes.subscribe((change) => {
      if (change.kind !== 'session' || change.after?.state !== 'plan_ready') return
      stop()
      resolve()
    })
  })
  const made = await app.request('POST', `/cases/${id}/sessions`, { type: 'implementing' })
  await ready
  return { id, session: `/cases/${id}/sessions/${made.json.id}` }
}

t.test('a PUT of a live session file may change its plan', async (t) => {
  const { id, session } = await waiting(app)
  for (const [name, command] of [
    ['1.md', 'echo one'],
    ['latest.md', 'echo two'],
  ] as const) {
    const { text } = await request('GET', path(id, name))
    const mine = text.replace(/^(true|echo one)$/m, command)
    t.not(mine, text)
    t.equal((await request('PUT', path(id, name), mine)).status, 200, name)
    t.match((await request('GET', session)).json, { plan: command, problems: { length: 0 } })
  }
  t.equal(
    (await request('GET', path(id, 'latest.md'))).text,
    await readFile(app.file(id, 'sessions', '1.md'), 'utf8'),
  )
  t.ok((await stat(app.file(id, 'sessions', 'latest.md'))).isFile(), 'the link is still one')
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
  const { id, session } = await waiting(app)
  const { text } = await request('GET', path(id, '1.md'))
  for (const [name, change] of badSessions) {
    await t.test(name, async (t) => {
      t.not(change(text), text)
      const reply = await request('PUT', path(id, '1.md'), change(text))
      t.equal(reply.status, 422, reply.text)
      t.match(reply.json.detail, /sessions\/1\.md was not written/)
    })
  }
  t.equal((await request('GET', path(id, '1.md'))).text, text)
  t.match((await request('GET', session)).json, { state: 'plan_ready', problems: { length: 0 } })
})

t.test('a PUT of a sealed session file is always refused', async (t) => {
  const { id, session } = await waiting(app)
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
  const { hostname, port } = new URL(app.url)
  const status = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.end(
        `PUT ${path(id, 'notes.md')} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`,
      )
    })
    let text = ''
    socket.on('data', (data) => (text += data))
    socket.on('end', () => resolve(text)).on('error', reject)
  })
  t.match(status, /^HTTP\/1\.1 400 .*has no body/s)
  t.equal((await request('GET', path(id, 'notes.md'))).text, 'text')
})
