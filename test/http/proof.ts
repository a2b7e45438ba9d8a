import { createHash } from 'node:crypto'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import t from 'tap'
import { atOnce } from '../fixtures/at-once.ts'
import { inLongLane } from '../fixtures/full.ts'
import { openTestService } from '../fixtures/workspace.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const NOBODY = '00000000-0000-4000-8000-000000000000'

const app = await openTestService(t)
const { request, newCase } = app

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const problemCodes = async (id: string): Promise<string[]> =>
  (await request('GET', `/cases/${id}`)).json.problems.map((each: { code: string }) => each.code)
const stateOf = async (id: string): Promise<string> =>
  (await request('GET', `/cases/${id}`)).json.state

/** Changes a file as a person would, with an editor. */
async function edit(path: string, from: string | RegExp, to: string): Promise<void> {
  const before = await readFile(path, 'utf8')
  const after = before.replace(from, to)
  if (after === before) throw new Error(`${path} does not hold ${from}`)
  await writeFile(path, after)
}

async function attach(id: string, body: object): Promise<string> {
  const reply = await request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x', ...body })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.json.id
}

const verify = (id: string, proof: string, headers = {}) =>
  request('PUT', `/cases/${id}/proof/${proof}/verify`, undefined, headers)

const resolve = (id: string) => request('PUT', `/cases/${id}/state`, { state: 'RESOLVED' })

// Attaching

t.test('POST …/proof gives the whole proof, and where it is', async (t) => {
  const { id } = await newCase()
  const content = '# TAP\r\n```\nok 1\n````\n  trailing  \n'
  const reply = await request('POST', `/cases/${id}/proof`, { type: 'test-log', content })
  t.equal(reply.status, 201)
  const proof = reply.json
  t.equal(reply.headers.location, `/cases/${id}/proof/${proof.id}`)
  t.match(proof, { created_at: TIME, updated_at: proof.created_at })
  t.strictSame(proof, {
    id: proof.id,
    case_id: id,
    session_id: null,
    type: 'test-log',
    content,
    verified: false,
    verified_at: null,
    verified_by: null,
    meets: [],
    tests: { run: 1, passed: 1, failed: 0, incomplete: true },
    failed_tests: [],
    flaky_tests: [],
    unread: null,
    exit_code: null,
    accepted: null,
    image: null,
    supports: false,
    why_not: 'its report is incomplete',
    sha256: sha256(content),
    created_at: proof.created_at,
    updated_at: proof.updated_at,
  })
  const got = await request('GET', `/cases/${id}/proof/${proof.id}`)
  t.strictSame(got.json, proof)
  t.match(got.headers.etag, /^"/)
  t.strictSame((await request('GET', `/cases/${id}/proof`)).json, [proof])
  t.match(await readFile(app.file(id, 'proof', `${proof.id}.md`), 'utf8'), content)
})

const contents: [string, string][] = [
  ['a fence that closes too early', '```\n```text\n``````\n'],
  ['a fence of tildes', '~~~\n'],
  ['carriage returns', 'a\rb\r\nc\n'],
  ['NUL and escapes', 'a\0\u001b[31mred\u001b[0m\u0007'],
  ['a BOM and rare letters', '\ufeffä😀\u2028\u202e'],
]

t.test('content comes back exactly', async (t) => {
  const { id } = await newCase()
  for (const [name, content] of contents) {
    const { json } = await verify(id, await attach(id, { content }))
    t.equal(json.content, content, name)
    t.match(json, { verified: true, sha256: sha256(content) }, name)
  }
  t.strictSame(await problemCodes(id), [])
})

t.test('content up to 10 MiB is taken, and more is 413', inLongLane, async (t) => {
  const { id } = await newCase()
  const most = '\n'.repeat(10 * 1024 * 1024 - 1)
  const proof = await attach(id, { content: `x${most}` })
  t.equal((await request('GET', `/cases/${id}/proof/${proof}`)).json.content, `x${most}`)
  for (const content of [`xx${most}`, 'x'.repeat(30 * 1024 * 1024)]) {
    const reply = await request('POST', `/cases/${id}/proof`, { type: 'log', content })
    t.equal(reply.status, 413)
  }
  t.equal((await request('GET', `/cases/${id}/proof`)).json.length, 1)
})

const wrongProofs: [string, object, string, ...RegExp[]][] = [
  ['no type', { content: 'x' }, 'type', /expected a string/, /it is missing/],
  ['a type with blanks', { type: 'test log', content: 'x' }, 'type', /"test log"/],
  ['no content', { type: 'log' }, 'content', /either content, or artifact/],
  ['both', { type: 'log', content: 'x', artifact: 'y' }, 'content', /either content, or artifact/],
  ['blank content', { type: 'log', content: ' \n' }, 'content', /not only white space/],
  ['content that is no text', { type: 'log', content: 1 }, 'content', /got the number 1/],
  ['an artifact of nobody', { type: 'log', artifact: '1-x.tap' }, 'artifact', /got "1-x.tap"/],
  ['an artifact elsewhere', { type: 'log', artifact: '../case.md' }, 'artifact', /case\.md/],
  ['a bad session id', { type: 'log', content: 'x', session_id: '1' }, 'session_id', /UUID/],
]

t.test('POST …/proof refuses what is wrong by its name', async (t) => {
  const { id } = await newCase()
  for (const [name, body, path, ...says] of wrongProofs) {
    const reply = await request('POST', `/cases/${id}/proof`, body)
    t.match([reply.status, reply.json.errors[0]?.path], [400, path], name)
    for (const part of says) t.match(reply.json.errors[0]?.message, part, name)
  }
  const unknown = { type: 'log', content: 'x', session_id: NOBODY }
  t.equal((await request('POST', `/cases/${id}/proof`, unknown)).status, 404)
  await t.rejects(stat(app.file(id, 'proof')), { code: 'ENOENT' }, 'and makes nothing')
})

t.test('the list comes newest first, in pages', async (t) => {
  const { id } = await newCase()
  const ids: string[] = []
  for (const content of ['a', 'b', 'c']) ids.unshift(await attach(id, { content }))
  const all = (await request('GET', `/cases/${id}/proof`)).json
  t.strictSame(all.map((proof: { id: string }) => proof.id).sort(), ids.sort())
  const times = all.map((proof: { created_at: string }) => proof.created_at)
  t.strictSame(times, [...times].sort().reverse())
  const page = await request('GET', `/cases/${id}/proof?limit=2`)
  t.equal(page.headers['x-total-count'], '3')
  t.match(page.headers.link, /^<\/cases\/[^>]*>; rel="next"$/)
  t.strictSame(page.json, all.slice(0, 2))
  t.equal((await request('GET', `/cases/${id}/proof?limit=3`)).headers.link, undefined)
  const heads = (await request('GET', `/cases/${id}/proof?content=false`)).json
  const withoutContent = all.map(({ content: _, ...head }: { content: string }) => head)
  t.strictSame(heads, withoutContent)
  t.equal((await request('GET', `/cases/${id}/proof?content=no`)).status, 400)
})

// Verifying

t.test('PUT …/verify marks the proof, and says so in its file', async (t) => {
  const { id } = await newCase()
  const proof = await attach(id, { type: 'test-log', content: '1..1\nok 1' })
  await request('POST', `/cases/${id}/proof/checklist`, { description: 'Tests', type: 'test-log' })
  const reply = await verify(id, proof, { 'casefile-actor': 'claude' })
  t.equal(reply.status, 200)
  const verification = { verified_at: TIME, verified_by: 'claude', meets: ['Tests'] }
  t.match(reply.json, { id: proof, verified: true, ...verification })
  t.equal(reply.json.updated_at, reply.json.verified_at)
  t.match(
    await readFile(app.file(id, 'proof', `${proof}.md`), 'utf8'),
    `verified: true\nverified_at: ${reply.json.verified_at}\nverified_by: claude\nmeets: [Tests]\n`,
  )
  const again = await verify(id, proof)
  t.strictSame(again.json, reply.json, 'a second time changes nothing')
})

t.test('PUT …/verify keeps to If-Match', async (t) => {
  const { id } = await newCase()
  const proof = await attach(id, {})
  const { etag = '' } = (await request('GET', `/cases/${id}/proof/${proof}`)).headers
  const stale = await verify(id, proof, { 'if-match': '"x"' })
  t.equal(stale.status, 412)
  t.match(stale.json, { etag })
  const good = await verify(id, proof, { 'if-match': etag })
  t.equal(good.status, 200)
  t.equal(good.headers.etag, (await request('GET', `/cases/${id}/proof/${proof}`)).headers.etag)
  const other = await attach(id, {})
  const { etag: held = '' } = (await request('GET', `/cases/${id}/proof/${other}`)).headers
  const replies = await atOnce(app, id, 3, () => verify(id, other, { 'if-match': held }))
  const statuses = replies.map(({ status }) => status).sort()
  t.strictSame(statuses, [200, 412, 412], 'of several at once one wins')
})

t.test('content that changed after it was verified proves nothing', async (t) => {
  const { id } = await newCase()
  const proof = await attach(id, { type: 'log', content: '1 of 47 passed' })
  await verify(id, proof)
  t.equal((await resolve(id)).status, 200)
  const path = app.file(id, 'proof', `${proof}.md`)

  await edit(path, '1 of 47', '47 of 47')
  t.match((await request('GET', `/cases/${id}/proof/${proof}`)).json, {
    content: '47 of 47 passed',
    verified: false,
  })
  t.match((await request('GET', `/cases/${id}`)).json, {
    state: 'VERIFYING',
    problems: [{ code: 'proof_changed' }, { code: 'proof_gate', file: 'case.md' }],
  })
  t.match((await request('GET', '/cases?state=VERIFYING')).text, id, 'the list says the same')
  await app.restart()
  t.equal(await stateOf(id), 'VERIFYING', 'after a restart too')

  t.match((await verify(id, proof)).json, { verified: true, sha256: sha256('47 of 47 passed') })
  t.match((await request('GET', `/cases/${id}`)).json, {
    state: 'RESOLVED',
    problems: { length: 0 },
  })
})

t.test('content that changed before it was verified says so', async (t) => {
  const { id } = await newCase()
  const proof = await attach(id, { type: 'test-log', content: '1 of 47 passed' })
  await edit(app.file(id, 'proof', `${proof}.md`), '1 of 47', '47 of 47')
  t.match((await request('GET', `/cases/${id}`)).json, {
    problems: [{ code: 'proof_changed', file: `proof/${proof}.md`, message: /verify it only if/ }],
  })
  t.match((await verify(id, proof)).json, { verified: true, sha256: sha256('47 of 47 passed') })
  t.match((await request('GET', `/cases/${id}`)).json, { problems: { length: 0 } })
})

t.test('a list of proof that no answer can hold names the limit', inLongLane, async (t) => {
  const { id } = await app.newCase()
  await mkdir(app.file(id, 'proof'))
  const proofIdOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  const content = 'x'.repeat(10 * 1024 * 1024)
  for (let n = 1; n <= 7; n++) {
    await writeFile(
      app.file(id, 'proof', `${proofIdOf(n)}.md`),
      `---\ntype: log\n---\n\n${content}\n`,
    )
  }
  const whole = await app.request('GET', `/cases/${id}/proof`)
  t.equal(whole.status, 413)
  t.match(whole.json, { code: 'too_large', detail: /limit=6/ })
  const heads = await app.request('GET', `/cases/${id}/proof?content=false`)
  t.equal(heads.status, 200)
  t.equal(heads.json.length, 7)
  t.notOk(heads.json.some((proof: object) => 'content' in proof))
  t.match(heads.json[0], { type: 'log', verified: false, supports: true, why_not: null })
  t.equal((await app.request('GET', `/cases/${id}/proof?content=no`)).status, 400)
  const part = await app.request('GET', `/cases/${id}/proof?limit=2`)
  t.equal(part.status, 200)
  t.equal(part.json.length, 2)
  t.equal(part.json[0].content.length, content.length)
})

const tampered: [from: string | RegExp, to: string][] = [
  [/^sha256: \w/m, 'sha256: '],
  ['verified: true', 'verified: yes'],
  [/^case_id: .*$/m, `case_id: ${NOBODY}`],
  ['verified: true', 'verified: [true'],
]

t.test('a proof file that was tampered with does not open the gate', async (t) => {
  const { id } = await newCase()
  const proof = await attach(id, {})
  await verify(id, proof)
  await resolve(id)
  const path = app.file(id, 'proof', `${proof}.md`)
  const text = await readFile(path, 'utf8')
  for (const [from, to] of tampered) {
    await writeFile(path, text.replace(from, to))
    t.not(await readFile(path, 'utf8'), text)
    t.equal(await stateOf(id), 'VERIFYING', to)
    t.equal((await request('GET', `/cases/${id}/gate`)).json.open, false, to)
    t.equal((await resolve(id)).status, 422, to)
  }
  await writeFile(path, text)
  t.equal(await stateOf(id), 'RESOLVED')
})

t.test(
  'a proof that a person wrote counts as soon as it is verified, by request or in the file',
  async (t) => {
    const { id } = await newCase()
    await attach(id, {})
    const own = NOBODY.replace('0', '1')
    const path = app.file(id, 'proof', `${own}.md`)
    await writeFile(path, 'I saw it work.\n')
    const { json } = await request('GET', `/cases/${id}/proof/${own}`)
    t.match(json, { type: 'log', content: 'I saw it work.', verified: false, created_at: TIME })
    t.equal((await resolve(id)).status, 422)
    await writeFile(path, '---\nverified: true\n---\nI saw it work.\n')
    t.equal((await resolve(id)).status, 200)
    t.strictSame(await problemCodes(id), [])
    await writeFile(path, 'I saw it work.\n')
    t.equal(await stateOf(id), 'VERIFYING')
    t.equal((await verify(id, own)).status, 200)
    t.equal(await stateOf(id), 'RESOLVED')
  },
)

// The checklist

t.test('POST …/checklist adds a line to case.md', async (t) => {
  const { id } = await newCase({ description: 'Text' })
  const before = await readFile(app.file(id, 'case.md'), 'utf8')
  const item = { description: 'Regression test passes', type: 'test-log', required: true }
  const reply = await request('POST', `/cases/${id}/proof/checklist`, item)
  t.equal(reply.status, 201)
  t.equal(reply.headers.location, `/cases/${id}/proof/checklist`)
  const whole = { ...item, checked: false, satisfied_by: null }
  t.strictSame(reply.json, whole)
  const optional = { description: 'Screenshot', type: 'screenshot' }
  t.match((await request('POST', `/cases/${id}/proof/checklist`, optional)).json, {
    ...optional,
    required: false,
  })
  t.equal(
    await readFile(app.file(id, 'case.md'), 'utf8'),
    `${before}\n## Proof checklist\n\n- [ ] Regression test passes (test-log, required)\n- [ ] Screenshot (screenshot)\n`,
  )
  const { items } = (await request('GET', `/cases/${id}/gate`)).json
  t.match(items, [whole, optional])
  t.equal(items.length, 2)
  t.strictSame((await request('GET', `/cases/${id}/proof/checklist`)).json, items)
  t.equal((await request('GET', `/cases/${id}`)).json.description, 'Text')
})

const descriptions = [
  'ends (like this, required)',
  '- [ ] `code` <!-- open',
  '```',
  'x'.repeat(500),
]

t.test('a description comes back exactly, and disturbs no other', async (t) => {
  const lead = 'Text with a ```\nfence that stays open'
  const { id } = await newCase({ description: lead })
  for (const description of descriptions) {
    const item = { description, type: 'log', required: true }
    const reply = await request('POST', `/cases/${id}/proof/checklist`, item)
    t.match(reply, { status: 201, json: { description } })
  }
  const { items } = (await request('GET', `/cases/${id}/gate`)).json
  t.strictSame(
    items.map((item: { description: string }) => item.description),
    descriptions,
  )
  const found = (await request('GET', `/cases/${id}`)).json
  t.match(found, { description: lead, problems: { length: 0 } })
})

const wrongItems: [string, object, string, ...RegExp[]][] = [
  ['no description', { type: 'log' }, 'description', /it is missing/],
  ['a blank description', { description: ' ', type: 'log' }, 'description', /not only white space/],
  ['two lines', { description: 'a\nb', type: 'log' }, 'description', /one line/],
  [
    'blanks at the ends',
    { description: 'a ', type: 'log' },
    'description',
    /no white space at the ends/,
  ],
  ['501 characters', { description: 'x'.repeat(501), type: 'log' }, 'description', /at most 500/],
  ['no type', { description: 'x' }, 'type', /it is missing/],
  ['a type of two words', { description: 'x', type: 'a, b' }, 'type', /"a, b"/],
  [
    'a text as required',
    { description: 'x', type: 'log', required: 'yes' },
    'required',
    /expected true or false/,
    /"yes"/,
  ],
]

t.test('POST …/checklist refuses what is wrong by its name', async (t) => {
  const { id } = await newCase()
  for (const [name, body, path, ...says] of wrongItems) {
    const reply = await request('POST', `/cases/${id}/proof/checklist`, body)
    t.match([reply.status, reply.json.errors[0]?.path], [400, path], name)
    for (const part of says) t.match(reply.json.errors[0]?.message, part, name)
  }
})

t.test('the same item twice is 409', async (t) => {
  const { id } = await newCase()
  const post = (item: object) => request('POST', `/cases/${id}/proof/checklist`, item)
  const item = { description: 'x', type: 'log' }
  t.equal((await post(item)).status, 201)
  t.match(await post({ ...item, required: true }), {
    status: 409,
    json: { code: 'already_exists' },
  })
  t.equal((await post({ ...item, type: 'trace' })).status, 201, 'of another type it is another')
})

t.test('of items posted at once all are there', async (t) => {
  const { id } = await newCase()
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      request('POST', `/cases/${id}/proof/checklist`, { description: `Item ${n}`, type: 'log' }),
    ),
  )
  for (const [n, reply] of replies.entries()) {
    t.match(reply, { status: 201, json: { description: `Item ${n}` } })
  }
  t.equal((await request('GET', `/cases/${id}/gate`)).json.items.length, 8)
})

t.test('a checklist made by hand is read as it is meant', async (t) => {
  const { id } = await newCase()
  await edit(
    app.file(id, 'case.md'),
    /$/,
    [
      '',
      '## Proof checklist',
      '',
      'Some words first.',
      '',
      '* [x] Ticked (test-log, required)',
      '* [ ] No type',
      '  - [ ] Nested and',
      '    wrapped (trace,required)',
      '* no task',
      '',
      '1. [ ] Numbered (log, optional)',
      '',
      '```',
      '- [ ] In a fence (log, required)',
      '```',
      '',
      '## Another section',
      '',
      '- [ ] Elsewhere (log)',
      '',
    ].join('\n'),
  )
  const list = async () => (await request('GET', `/cases/${id}/gate`)).json.items
  const items = await list()
  const item = (description: string, type: string | null, required: boolean, checked = false) => ({
    description,
    type,
    required,
    checked,
    satisfied_by: null,
  })
  t.strictSame(items, [
    item('Ticked', 'test-log', true, true),
    item('No type', null, false),
    item('Nested and wrapped', 'trace', true),
    item('Numbered', 'log', false),
  ])
  const added = { description: 'Added', type: 'diff', required: true }
  t.equal((await request('POST', `/cases/${id}/proof/checklist`, added)).status, 201)
  t.strictSame(await list(), [...items, item('Added', 'diff', true)])
})

// The gate

t.test('RESOLVED needs a verified proof, and one for each required item', async (t) => {
  const { id } = await newCase()
  const missing = async () => {
    const reply = await resolve(id)
    t.equal(reply.status, 422)
    t.equal(reply.json.code, 'proof_gate')
    for (const each of reply.json.missing) t.match(reply.json.detail, each)
    t.strictSame(reply.json.missing, (await request('GET', `/cases/${id}/gate`)).json.missing)
    return reply.json.missing
  }
  t.strictSame(await missing(), ['at least one verified proof'])
  const items = [
    { description: 'Tests pass', type: 'test-log', required: true },
    { description: 'They pass twice', type: 'test-log', required: true },
    { description: 'Traced', type: 'trace', required: true },
    { description: 'Nice to have', type: 'screenshot', required: false },
  ]
  for (const item of items) await request('POST', `/cases/${id}/proof/checklist`, item)
  const log = await attach(id, { type: 'test-log', content: '1..1\nok 1 - it works\n' })
  const trace = await attach(id, { type: 'trace' })
  const note = await attach(id, { type: 'operator-note' })
  t.equal((await missing()).length, 4, 'unverified proof does not count')
  await verify(id, note)
  t.strictSame(await missing(), [
    'a verified proof of type test-log for "Tests pass"',
    'a verified proof of type test-log for "They pass twice"',
    'a verified proof of type trace for "Traced"',
  ])
  await verify(id, log)
  t.strictSame(await missing(), ['a verified proof of type trace for "Traced"'], 'one serves both')
  await verify(id, trace)
  t.strictSame((await request('GET', `/cases/${id}/gate`)).json, {
    open: true,
    verified: 3,
    objections: [],
    items: [
      { ...items[0], checked: false, satisfied_by: log },
      { ...items[1], checked: false, satisfied_by: log },
      { ...items[2], checked: false, satisfied_by: trace },
      { ...items[3], checked: false, satisfied_by: null },
    ],
    missing: [],
  })
  t.match(await resolve(id), { status: 200, json: { state: 'RESOLVED', problems: { length: 0 } } })
})

t.test('resolving a case ticks what was proved, and unticks nothing', async (t) => {
  const { id } = await newCase()
  const path = app.file(id, 'case.md')
  for (const [description, type] of [
    ['Logged', 'log'],
    ['Traced', 'trace'],
    ['Told', 'operator-note'],
  ]) {
    await request('POST', `/cases/${id}/proof/checklist`, { description, type })
  }
  await edit(path, '- [ ] Traced', '- [x] Traced')
  await verify(id, await attach(id, {}))
  const before = await readFile(path, 'utf8')
  t.match(await resolve(id), { status: 200 })
  const file = await readFile(path, 'utf8')
  t.equal(file, before.replace('- [ ] Logged', '- [x] Logged').replace('OPEN', 'RESOLVED'))
  const lines = (await readFile(app.file(id, 'history.md'), 'utf8')).trimEnd().split('\n')
  t.match(lines.at(-1), / · resolved the case$/, 'it is one act')

  await request('PUT', `/cases/${id}/state`, { state: 'OPEN' })
  t.equal(await readFile(path, 'utf8'), file.replace('RESOLVED', 'OPEN'))
  await edit(path, '- [x] Logged', '- [ ] Logged')
  await edit(path, 'state: OPEN', 'state: RESOLVED')
  t.equal(await stateOf(id), 'RESOLVED')
  t.match(await readFile(path, 'utf8'), '- [ ] Logged', 'a hand edit stays as it is')
})

t.test("a person's tick opens nothing", async (t) => {
  const { id } = await newCase()
  const item = { description: 'Tests pass', type: 'test-log', required: true }
  await request('POST', `/cases/${id}/proof/checklist`, item)
  await verify(id, await attach(id, {}))
  await edit(app.file(id, 'case.md'), '- [ ]', '- [x]')
  t.match((await request('GET', `/cases/${id}/gate`)).json, {
    open: false,
    items: [{ checked: true, satisfied_by: null }],
  })
  t.equal((await resolve(id)).status, 422)
})

t.test('RESOLVED written by hand while the gate is shut is VERIFYING', async (t) => {
  const { id } = await newCase()
  const path = app.file(id, 'case.md')
  await edit(path, 'state: OPEN', 'state: RESOLVED')
  const shown = {
    state: 'VERIFYING',
    problems: [{ code: 'proof_gate', file: 'case.md', message: /at least one verified proof/ }],
  }
  t.match((await request('GET', `/cases/${id}`)).json, shown)
  t.match((await request('GET', '/cases?state=VERIFYING')).text, id)
  t.notMatch((await request('GET', '/cases?state=RESOLVED')).text, id)
  await app.restart()
  t.match((await request('GET', `/cases/${id}`)).json, shown, 'after a restart too')
  t.match(await readFile(path, 'utf8'), 'state: RESOLVED', 'the file stays the person’s')
  t.equal((await resolve(id)).status, 422, 'and a request does not get past it either')
  await verify(id, await attach(id, {}))
  t.match((await request('GET', `/cases/${id}`)).json, {
    state: 'RESOLVED',
    problems: { length: 0 },
  })
})

t.test('a required item that comes later shuts the gate again', async (t) => {
  const { id } = await newCase()
  await verify(id, await attach(id, {}))
  await resolve(id)
  const item = { description: 'One more', type: 'trace', required: true }
  await request('POST', `/cases/${id}/proof/checklist`, item)
  t.equal(await stateOf(id), 'VERIFYING')
  t.strictSame(await problemCodes(id), ['proof_gate'])
})

t.test('the content alone is plain text that can do nothing', async (t) => {
  const { id } = await newCase()
  const content = '<script>alert(1)</script>\r\n\u001b[31mé\n'
  const path = `/cases/${id}/proof/${await attach(id, { content })}/content`
  const { status, text, headers } = await request('GET', path)
  t.equal(status, 200)
  t.equal(text, content)
  t.match(headers, {
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
  })
  const again = await request('GET', path, undefined, { 'if-none-match': headers.etag! })
  t.equal(again.status, 304)
  t.equal((await request('GET', `/cases/${id}/proof/${NOBODY}/content`)).status, 404)
})
