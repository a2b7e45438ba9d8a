import { readFile, stat } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { CASE_STATES } from '../../src/model/case-state.ts'
import { atOnce } from '../fixtures/at-once.ts'
import { openTestService, type Reply } from '../fixtures/workspace.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const app = await openTestService(t)
const { request, newCase } = app

const textOf = (id: string) => readFile(app.file(id, 'case.md'), 'utf8')

/** One 400 that names the field, what came and what was expected. */
function namesField(t: Test, reply: Reply, path: string, ...parts: RegExp[]): void {
  t.equal(reply.status, 400, path)
  t.equal(reply.headers['content-type'], 'application/problem+json')
  const error = reply.json.errors.find((each: { path: string }) => each.path === path)
  t.ok(error, `names ${path}`)
  for (const part of parts) t.match(error?.message, part)
}
// Creating

t.test('POST /cases gives the whole case, and where it is', async (t) => {
  const reply = await request('POST', '/cases', { title: 'Login times out', type: 'bug' })
  t.equal(reply.status, 201)
  const { id } = reply.json
  t.match(id, UUID)
  t.equal(reply.headers.location, `/cases/${id}`)
  t.match(reply.headers['content-type'], /^application\/json/)
  t.strictSame(Object.keys(reply.json), [
    'id',
    'title',
    'type',
    'description',
    'state',
    'outcome',
    'tags',
    'parent',
    'reason',
    'workdir',
    'provider',
    'isolation',
    'source',
    'created_at',
    'updated_at',
    'problems',
  ])
  t.match(reply.json, {
    title: 'Login times out',
    type: 'bug',
    state: 'OPEN',
    created_at: TIME,
    updated_at: TIME,
  })
  t.strictSame((await request('GET', `/cases/${id}`)).json, reply.json)
})

t.test('what the file says of a new case has every constant key in its order', async (t) => {
  const { id, created_at } = await newCase({ title: 'One: two', description: 'Text.\n' })
  t.equal(
    await textOf(id),
    `---\nid: ${id}\ntitle: "One: two"\ncreated_at: ${created_at}\nstate: OPEN\ntype: bug\noutcome:\ntags: []\n---\n\nText.\n\n`,
  )
})

const everything = {
  title: 'Größe: "x" # y',
  type: 'feature',
  description: '# Heading\n\n## Proof checklist\n\n- [ ] not an item (log, required)\n',
  outcome: 'ConfirmedCodeBug',
  tags: ['auth', 'a/b', 'Ü1'],
  parent: NOBODY,
  workdir: '.',
  provider: 'runbook',
}

t.test('POST /cases takes every field, and gives each back exactly', async (t) => {
  t.match(await newCase(everything), everything)
})

t.test('a field that is left out or null has its neutral value', async (t) => {
  const neutral = {
    type: 'bug',
    description: '',
    outcome: null,
    tags: [],
    parent: null,
    reason: null,
    workdir: null,
    provider: null,
    source: null,
    problems: [],
  }
  const nulls = Object.fromEntries(Object.keys(everything).map((key) => [key, null]))
  t.match(await newCase(), neutral)
  t.match(await newCase({ ...nulls, title: 'x' }), neutral)
})

t.test('unknown fields are ignored, also those that only the service writes', async (t) => {
  const made = await newCase({ id: NOBODY, state: 'RESOLVED', created_at: 'x', nonsense: { a: 1 } })
  t.match(made, { id: UUID, state: 'OPEN', created_at: TIME })
  t.not(made.id, NOBODY)
  t.notOk('nonsense' in made)
})

t.test('a title has 500 characters, whatever each takes', async () => {
  const title = '👍'.repeat(500)
  t.match(await newCase({ title }), { title })
})

// Refusing

type Wrong = [field: string, value: unknown, ...says: RegExp[]]

const wrongFields: Wrong[] = [
  ['title', undefined, /expected a string/, /it is missing/],
  ['title', null, /expected a string/, /got null/],
  ['title', ' \u2003', /not only white space/, /got the string/],
  ['title', 'a\nb', /one line/, /a\\nb/],
  ['title', 'a\0', /control characters/],
  ['title', 'a\u2028b', /one line/],
  ['title', '👍'.repeat(501), /at most 500 characters/],
  ['type', 'Bug', /lower-case/, /"Bug"/],
  ['description', 1, /expected a string/, /the number 1/],
  ['outcome', 'fixed', /PascalCase/, /"fixed"/],
  ['outcome', 'Code Bug', /PascalCase/],
  ['tags', 'a,b', /expected an array/, /"a,b"/],
  ['tags[1]', ['a', 'b c'], /a word/, /"b c"/],
  ['tags', Array(101).fill('a'), /at most 100 items/],
  ['parent', 'epic', /UUID/, /"epic"/],
  ['parent', NOBODY.replaceAll('0', 'A'), /lower case/],
  ['workdir', 'a\0b', /control characters/],
  ['workdir', '', /not only white space/],
  ['provider', '../x', /a word/, /"\.\.\/x"/],
]

t.test('each wrong field is refused by its name, and nothing is made or changed', async (t) => {
  const { id } = await newCase()
  const [before, cases] = [await textOf(id), (await request('GET', '/cases')).json.length]
  for (const [path, value, ...says] of wrongFields) {
    const body = { [path.replace(/\[.*/, '')]: value }
    namesField(t, await request('POST', '/cases', { title: 'x', ...body }), path, ...says)
    if (value == null) continue
    namesField(t, await request('PUT', `/cases/${id}`, body), path, ...says)
  }
  t.equal((await request('GET', '/cases')).json.length, cases)
  t.equal(await textOf(id), before)
})

t.test('every wrong field is named at once', async (t) => {
  const reply = await request('POST', '/cases', { type: 1, tags: 'x' })
  t.strictSame(
    reply.json.errors.map((each: { path: string }) => each.path),
    ['title', 'type', 'tags'],
  )
})

t.test('a request without a body is 400, and names what is missing', async (t) => {
  const { id } = (await request('POST', '/cases', { title: 'no body' })).json
  const missing: [string, string, string[]][] = [
    ['POST', '/cases', ['title']],
    ['PUT', `/cases/${id}/state`, ['state']],
    ['POST', `/cases/${id}/sessions`, ['type']],
    ['POST', `/cases/${id}/proof`, ['type', 'content']],
    ['POST', `/cases/${id}/proof/checklist`, ['description', 'type']],
    ['POST', '/webhooks', ['url']],
    ['POST', `/cases/${id}/webhooks`, ['url']],
    ['PUT', `/cases/${id}`, []],
  ]
  for (const [method, path, fields] of missing) {
    const reply = await request(method, path, '', { 'content-type': 'text/plain' })
    t.equal(reply.status, 400, `${method} ${path}`)
    t.strictSame(
      reply.json.errors.map((each: { path: string }) => each.path),
      fields,
    )
  }
})

const CASE = `/cases/${NOBODY}`

t.test('a description that no case.md could hold is 413', async (t) => {
  const { id } = await newCase()
  const before = await textOf(id)
  const description = 'ä'.repeat(128 * 1024)
  for (const [method, path] of [
    ['POST', '/cases'],
    ['PUT', `/cases/${id}`],
  ] as const) {
    const reply = await request(method, path, { title: 'x', description })
    t.equal(reply.status, 413)
    t.match(reply.json.detail, /the limit is 240 KiB/)
  }
  t.equal(await textOf(id), before)
})

t.test('a description near the limit is taken, and stays readable', async (t) => {
  const description = 'x'.repeat(239 * 1024)
  const { id } = await newCase({ description })
  t.match((await request('GET', `/cases/${id}`)).json, { description, problems: { length: 0 } })
})

// What is not there

const noCases = [
  ...['x', 'ABCDEFAB-0000-4000-8000-000000000000', `${NOBODY}%20`],
  ...['..%2f..', '%00', '%zz', '__proto__'],
]

// that each path answers 404 for an id nobody has is in openapi.ts
t.test('what names no case, no session and no proof is 404', async (t) => {
  const { id } = await newCase()
  for (const name of noCases) {
    const paths = [`${name}/gate`, `${id}/sessions/${name}`, `${id}/proof/${name}`]
    for (const path of paths) {
      const reply = await request('GET', `/cases/${path}`)
      t.equal(reply.status, 404, `${path}: ${reply.text}`)
      t.match(reply.json, { type: /^urn:/, title: 'Not found', status: 404, detail: /\w/ })
    }
    t.equal((await request('POST', `/cases/${name}/answer`, { text: 'x' })).status, 404, name)
  }
  for (const path of ['/Cases', '/cases/', '//cases', '/cases/x/y/z', '/case', '/cases/x/nothing'])
    t.equal((await request('GET', path)).status, 404, path)
})

const methods: [path: string, allow: string][] = [
  ['/health', 'GET, HEAD'],
  ['/cases', 'GET, HEAD, POST'],
  [CASE, 'DELETE, GET, HEAD, PUT'],
  [`${CASE}/sessions/${NOBODY}/approve`, 'POST'],
  [`${CASE}/proof/checklist`, 'GET, HEAD, POST'],
  [`${CASE}/proof/${NOBODY}`, 'GET, HEAD'],
  [`${CASE}/memory/notes.md`, 'GET, HEAD, PUT'],
  [`${CASE}/webhooks/${NOBODY}`, 'DELETE'],
  [`/webhooks/${NOBODY}`, 'DELETE, GET, HEAD, PATCH'],
]

t.test('an empty or unknown query parameter is 400, and is named', async (t) => {
  const { id } = (await request('POST', '/cases', { title: 'asked for' })).json
  const wrong: [path: string, name: string, message: RegExp][] = [
    ...['/cases', '/search'].flatMap((path): [string, string, RegExp][] => [
      [`${path}?state=,`, 'state', /it is empty/],
      [`${path}?tag=`, 'tag', /it is empty/],
      [`${path}?q=%20`, 'q', /it is empty/],
      [`${path}?stat=OPEN`, 'stat', /Did you mean state\? This path takes .*outcome/],
      [`${path}?colour=red`, 'colour', /unknown query parameter\. This path/],
    ]),
    ['/cases?type=&state=OPEN', 'type', /it is empty/],
    ['/triage?need=any', 'need', /Did you mean needs/],
    ['/triage?needs=', 'needs', /it is empty/],
    ['/events?cases=x', 'cases', /Did you mean case/],
    ['/webhooks?state=dead', 'state', /unknown/],
    [`/cases/${id}/sessions?state=x`, 'state', /unknown/],
    [`/cases/${id}/proof?limt=1`, 'limt', /Did you mean limit/],
  ]
  for (const [path, name, message] of wrong) {
    const reply = await request('GET', path)
    t.match([reply.status, reply.json.code], [400, 'bad_request'], path)
    t.match(reply.json.errors, [{ path: name, message }], path)
    t.ok(reply.json.detail.startsWith(`${name}: `), path)
  }
  t.equal((await request('GET', '/cases?state=OPEN,&limit=1')).status, 200)
})

t.test('every JSON answer ends its line, and a HEAD says its length', async (t) => {
  const { id } = (await request('POST', '/cases', { title: 'Größe' })).json
  const [none, one] = ['/cases?type=none', `/cases/${id}`]
  const read = ['/cases', none, one, `${one}/memory/case.md`, '/triage', '/version']
  for (const path of [...read, '/cases?limit=x']) {
    const get = await request('GET', path)
    if (!path.endsWith('.md')) t.match(get.text, /^[{[].*[}\]]\n$/s, path)
    const length = String(Buffer.byteLength(get.text))
    t.equal(get.headers['content-length'], length, path)
    const head = await request('HEAD', path)
    t.strictSame([head.status, head.text], [get.status, ''], path)
    t.equal(head.headers['content-length'], length, path)
    t.equal(head.headers.etag, get.headers.etag, path)
  }
  const written = await request('PUT', one, { title: 'x' })
  t.match(written.text, /\}\n$/)
  t.equal(written.headers.etag, (await request('GET', one)).headers.etag)
  t.match((await request('PUT', one, { title: '' })).text, /\}\n$/)
})

t.test('a method that a path does not know is 405 with Allow', async (t) => {
  for (const [path, allow] of methods) {
    const reply = await request('PROPFIND', path)
    t.match([reply.status, reply.headers.allow], [405, allow], path)
    t.match(reply.json, { code: 'method_not_allowed', detail: `This path supports ${allow}.` })
  }
})

// Conditional requests

t.test('a GET of one case has a strong ETag, and is 304 for who has it', async (t) => {
  const { id } = await newCase()
  const { etag = '' } = (await request('GET', `/cases/${id}`)).headers
  t.match(etag, /^"[^"]+"$/)
  const ask = (held: string) => request('GET', `/cases/${id}`, undefined, { 'if-none-match': held })
  for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const reply = await ask(held)
    t.equal(reply.status, 304, held)
    t.equal(reply.text, '')
    t.equal(reply.headers.etag, etag)
  }
  for (const held of ['"x"', etag.slice(1, -1), '']) t.equal((await ask(held)).status, 200, held)
})

const writes: [method: string, path: string, body?: object][] = [
  ['PUT', '', { title: 'Changed' }],
  ['PUT', '/state', { state: 'BLOCKED' }],
  ['POST', '/answer', { text: 'So.' }],
  ['DELETE', ''],
]

t.test('If-Match guards every write of a case', async (t) => {
  for (const [method, path, body] of writes) {
    await t.test(`${method} …${path}`, async (t) => {
      const { id } = await newCase()
      await request('PUT', `/cases/${id}/state`, { state: 'NEEDS_USER_INPUT', reason: 'Why?' })
      const { etag = '' } = (await request('GET', `/cases/${id}`)).headers
      const before = await textOf(id)
      const attempt = (condition: Record<string, string>) =>
        request(method, `/cases/${id}${path}`, body, condition)
      for (const stale of ['"x"', `W/${etag}`]) {
        const reply = await attempt({ 'if-match': stale })
        t.equal(reply.status, 412, stale)
        t.match(reply.json, { code: 'precondition_failed', etag, detail: /Read it again/ })
      }
      t.equal((await attempt({ 'if-none-match': '*' })).status, 412)
      t.equal(await textOf(id), before, 'nothing was written')
      t.equal((await attempt({ 'if-match': `"x", ${etag}` })).status, 200)
    })
  }
})

t.test('the ETag of a PUT is that of the next GET', async (t) => {
  const { id } = await newCase()
  const put = await request('PUT', `/cases/${id}`, { title: 'B' }, { 'if-match': '*' })
  const get = await request('GET', `/cases/${id}`)
  t.equal(put.status, 200)
  t.equal(put.headers.etag, get.headers.etag)
  t.strictSame(put.json, get.json)
})

t.test('of 10 PUTs with the same If-Match exactly one wins', async (t) => {
  const { id } = await newCase()
  const { etag = '' } = (await request('GET', `/cases/${id}`)).headers
  const replies = await atOnce(app, id, 10, (n) =>
    request('PUT', `/cases/${id}`, { title: `Title ${n}` }, { 'if-match': etag }),
  )
  const won = replies.filter(({ status }) => status === 200)
  t.equal(won.length, 1)
  t.equal(replies.filter(({ status }) => status === 412).length, 9)
  t.equal((await request('GET', `/cases/${id}`)).json.title, won[0]?.json.title)
})

// Updating

t.test('PUT /cases/:id changes the fields it names, and no other byte', async (t) => {
  const { id } = await newCase({ title: 'Old', description: 'Text', tags: ['a'] })
  const before = await textOf(id)
  const reply = await request('PUT', `/cases/${id}`, { title: 'New' })
  t.equal(reply.status, 200)
  t.match(reply.json, { title: 'New', description: 'Text', tags: ['a'] })
  t.equal(await textOf(id), before.replace('title: Old', 'title: New'))
})

t.test('null clears an optional field', async (t) => {
  const { id } = await newCase(everything)
  const cleared: [string, unknown][] = [
    ['description', ''],
    ['type', 'bug'],
    ['outcome', null],
    ['tags', []],
    ['parent', null],
    ['workdir', null],
    ['provider', null],
  ]
  for (const [field, neutral] of cleared) {
    const reply = await request('PUT', `/cases/${id}`, { [field]: null })
    t.equal(reply.status, 200, reply.text)
    t.strictSame(reply.json[field], neutral, field)
  }
})

t.test('a PUT that names none of the fields is 400', async (t) => {
  const { id } = await newCase()
  for (const body of [{}, { state: 'BLOCKED' }, { nonsense: 1 }]) {
    const reply = await request('PUT', `/cases/${id}`, body)
    t.equal(reply.status, 400)
    t.match(reply.json.detail, /title, type, description, outcome, tags, parent, workdir, provider/)
  }
})

t.test('a case cannot be its own parent', async (t) => {
  const { id } = await newCase()
  const reply = await request('PUT', `/cases/${id}`, { parent: id })
  t.match(reply, { status: 400, json: { errors: [{ path: 'parent', message: /its own parent/ }] } })
  t.equal((await request('GET', `/cases/${id}`)).json.parent, null)
})

t.test('a change that changes nothing leaves the file alone', async (t) => {
  const { id } = await newCase(everything)
  const before = await stat(app.file(id, 'case.md'))
  t.equal((await request('PUT', `/cases/${id}`, everything)).status, 200)
  t.equal((await request('PUT', `/cases/${id}/state`, { state: 'OPEN' })).status, 200)
  const after = await stat(app.file(id, 'case.md'))
  t.equal(after.ino, before.ino)
  t.equal(after.mtimeMs, before.mtimeMs)
})

t.test('updated_at is the time of the file', async (t) => {
  const { id, created_at } = await newCase()
  const { json } = await request('PUT', `/cases/${id}`, { title: 'B' })
  const { mtimeMs } = await stat(app.file(id, 'case.md'))
  // a file's clock goes in ticks, and may be a few milliseconds behind that of its case
  t.equal(json.updated_at, [new Date(mtimeMs).toISOString(), created_at].sort().at(-1))
})

// States

t.test('PUT …/state sets any state from any other', async (t) => {
  const { id } = await newCase()
  const states = CASE_STATES.filter((state) => state !== 'RESOLVED')
  for (const state of states.toReversed()) {
    const reply = await request('PUT', `/cases/${id}/state`, { state })
    if (reply.status !== 200 || reply.json.state !== state) t.fail(state)
  }
  t.match(await textOf(id), RegExp(`^state: ${states[0]}$`, 'm'))
})

t.test('PUT …/state may carry outcome and reason, and null clears them', async (t) => {
  const { id } = await newCase()
  const put = (body: object) => request('PUT', `/cases/${id}/state`, body)
  const why = { outcome: 'WontFix', reason: 'Too: "rare" #1' }
  t.match((await put({ state: 'WONT_FIX', ...why })).json, { state: 'WONT_FIX', ...why })
  t.match((await put({ state: 'OPEN' })).json, { state: 'OPEN', ...why })
  const cleared = { outcome: null, reason: null }
  t.match((await put({ state: 'OPEN', ...cleared })).json, cleared)
})

const wrongStates: Wrong[] = [
  ['state', undefined, /expected one of OPEN, /, /it is missing/],
  ['state', 'CLOSED', /got "CLOSED"/, /expected one of OPEN, .*COMPRESSED/],
  ['state', 'open', /got "open"/],
  ['state', 'constructor', /got "constructor"/],
  ['reason', ' ', /not only white space/],
  ['reason', 'a\nb', /one line/],
  ['outcome', 'a b', /PascalCase/],
]

t.test('PUT …/state refuses what is no state', async (t) => {
  const { id } = await newCase()
  for (const [field, value, ...says] of wrongStates) {
    const body = { state: 'OPEN', [field]: value }
    namesField(t, await request('PUT', `/cases/${id}/state`, body), field, ...says)
  }
})

// Deleting

t.test('DELETE /cases/:id takes the case and its folder away', async (t) => {
  const { id } = await newCase()
  await request('PUT', `/cases/${id}/memory/notes.md`, 'Notes')
  const reply = await request('DELETE', `/cases/${id}`)
  t.equal(reply.status, 200)
  t.strictSame(reply.json, { id, deleted: true })
  await t.rejects(stat(app.file(id)), { code: 'ENOENT' })
  t.equal((await request('GET', `/cases/${id}`)).status, 404)
  t.equal((await request('DELETE', `/cases/${id}`)).status, 404)
  t.equal((await request('PUT', `/cases/${id}/memory/notes.md`, 'Again')).status, 404)
  const { json } = await request('GET', '/cases')
  t.notOk(json.some((each: { id: string }) => each.id === id))
  await app.restart()
  t.equal((await request('GET', `/cases/${id}`)).status, 404)
})

// Lists

t.test('the list', async (t) => {
  const app = await openTestService(t)
  const { request, newCase } = app
  t.strictSame((await request('GET', '/cases')).json, [], 'is empty in a folder without memory/')
  const created = async (id: string, n: number) => {
    const path = `/cases/${id}/memory/case.md`
    const { text } = await request('GET', path)
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, 0, n)).toISOString()
    await request('PUT', path, text.replace(/created_at: .*/, `created_at: ${at}`))
  }
  const kinds = [
    { title: 'Alpha', type: 'bug', tags: ['x', 'y'], description: 'Straße' },
    { title: 'Beta', type: 'bug', outcome: 'Duplicate' },
    { title: 'Gamma', type: 'epic', tags: ['y'], outcome: 'WontFix' },
    { title: 'Delta', type: 'feature', description: 'mentions alpha' },
    { title: 'Epsilon', type: 'feature', tags: ['z'] },
  ]
  for (const [n, kind] of kinds.entries()) {
    const { id } = await newCase(kind)
    await created(id, n)
    if (n < 2) await request('PUT', `/cases/${id}/state`, { state: n ? 'BLOCKED' : 'WATCHLIST' })
  }
  const initials = ({ json }: Reply) =>
    json.map((each: { title: string }) => each.title[0]).join('')

  await t.test('is a bare array, newest first, each as a GET of it gives', async (t) => {
    const reply = await request('GET', '/cases')
    t.equal(reply.status, 200)
    t.equal(initials(reply), 'EDGBA')
    t.equal(reply.headers.link, undefined)
    for (const each of reply.json) {
      t.strictSame((await request('GET', `/cases/${each.id}`)).json, each)
    }
  })

  const filters: [query: string, found: string][] = [
    ['state=BLOCKED', 'B'],
    ['state=BLOCKED,WATCHLIST', 'BA'],
    ['state=BLOCKED&state=WATCHLIST', 'BA'],
    ['state=RESOLVED', ''],
    ['outcome=Duplicate', 'B'],
    ['outcome=Duplicate,WontFix', 'GB'],
    ['outcome=Nothing', ''],
    ['type=bug', 'BA'],
    ['type=bug,epic', 'GBA'],
    ['tag=y', 'GA'],
    ['tag=x,z', 'EA'],
    ['q=ALPHA', 'DA'],
    ['q=stra%C3%9Fe', 'A'],
    ['q=ALPHA++mentions', 'D'],
    ['q=alpha+beta', ''],
    ['type=bug&q=alpha', 'A'],
    ['state=OPEN&type=feature&tag=z', 'E'],
  ]
  await t.test('is filtered', async (t) => {
    for (const [query, found] of filters) {
      t.equal(initials(await request('GET', `/cases?${query}`)), found, query)
    }
    for (const [query, found] of [
      ['type=epic', ''],
      ['type=epic,bug', 'AB'],
      ['type=bug&state=BLOCKED', 'B'],
    ] as const) {
      const reply = await request('GET', `/search?q=type:bug&${query}`)
      t.equal([...initials(reply)].sort().join(''), found, `as well as those in q: ${query}`)
      t.equal(reply.headers['x-total-count'], String(found.length))
    }
  })

  await t.test('is searched by the beginning of an id', async (t) => {
    const [first] = (await request('GET', '/cases?q=alpha')).json
    for (const text of [first.id, first.id.slice(0, 4), first.id.toUpperCase().slice(0, 13)])
      t.equal(initials(await request('GET', `/cases?q=${text}`)), first.title[0], text)
    t.equal(initials(await request('GET', `/cases?q=${first.id.slice(0, 8)}+mentions`)), 'D')
    t.equal(initials(await request('GET', `/cases?q=${first.id.slice(1)}`)), '', 'not its end')
  })

  await t.test('comes in pages whose links lead through all of it', async (t) => {
    const pages = async () => {
      const found: string[] = []
      let path: string | undefined = '/cases?limit=2&type=bug,epic,feature'
      while (path !== undefined) {
        const reply: Reply = await request('GET', path)
        t.equal(reply.headers['x-total-count'], '5')
        found.push(initials(reply))
        path = /^<(\/cases\?[^>]*)>; rel="next"$/.exec(reply.headers.link ?? '')?.[1]
      }
      return found
    }
    t.strictSame(await pages(), ['ED', 'GB', 'A'])
    for (const query of ['limit=5', 'limit=2&type=feature'])
      t.equal((await request('GET', `/cases?${query}`)).headers.link, undefined, 'the last one')
    for (const { id } of (await request('GET', '/cases')).json) await created(id, 0)
    const whole = initials(await request('GET', '/cases'))
    t.equal((await pages()).join(''), whole, 'also of cases of the same moment')
  })

  const wrong: [query: string, field: string, ...says: RegExp[]][] = [
    ['state=open', 'state', /got "open"/, /expected .*OPEN/],
    ['state=OPEN,,X', 'state', /got "X"/],
    ['limit=0', 'limit', /from 1 to 1000/, /got "0"/],
    ['limit=', 'limit', /got ""/],
    ['limit=1001', 'limit', /got "1001"/],
    ['limit=1&cursor=x', 'cursor', /"x" is not a cursor/],
    ['cursor=x', 'cursor', /requires limit/],
  ]
  await t.test('refuses a query that it does not understand', async (t) => {
    for (const [query, field, ...says] of wrong) {
      namesField(t, await request('GET', `/cases?${query}`), field, ...says)
    }
  })

  await t.test('is 304 until something changes', async (t) => {
    const { etag = '' } = (await request('GET', '/cases')).headers
    const again = () => request('GET', '/cases', undefined, { 'if-none-match': etag })
    t.equal((await again()).status, 304)
    await newCase()
    t.equal((await again()).status, 200)
  })
})

// The service itself

t.test('GET /health and GET /version', async (t) => {
  t.match((await request('GET', '/health')).json, { status: 'ok', problems: { length: 0 } })
  t.match((await request('GET', '/version')).json, {
    version: /^\d+\.\d+\.\d+/,
    node: process.version,
    started_at: TIME,
  })
  t.ok('commit' in (await request('GET', '/version')).json)
})
