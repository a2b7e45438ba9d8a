import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openTestService, type Reply, type TestService } from '../fixtures/workspace.ts'

/** What every error must be, whoever caused it (RFC 9457, reliability HS-11). */
function faultOf(app: TestService, reply: Reply): string | null {
  if (reply.status >= 500) return `status ${reply.status}`
  if (reply.status < 400) return null
  const type = reply.headers['content-type']
  if (type !== 'application/problem+json') return `content type ${type}`
  if (reply.text === '') return null // of a HEAD
  const { json } = reply
  for (const key of ['type', 'title', 'detail']) {
    if (typeof json[key] !== 'string' || json[key] === '') return `no ${key}`
  }
  if (json.status !== reply.status) return `status ${json.status} in the body`
  if (reply.status === 400 && !Array.isArray(json.errors)) return 'no errors'
  for (const secret of [app.root, app.stateDir, process.cwd(), '/node_modules/', '.ts:', '.js:']) {
    if (reply.text.includes(secret)) return `it tells ${secret}`
  }
  return null
}

// A fuzz over all routes

const word = fc.constantFrom('title', 'type', 'state', 'x', '', 'constructor', '__proto__')
const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    'OPEN',
    'RESOLVED',
    'bug',
    'log',
    'runbook',
    '../../x',
    '\0',
    '\ud800',
    '# a',
    '---',
  ),
  fc.constantFrom('```sh run id=a\ntrue\n```', '<!-- ', '```', '## Proof checklist', '- [ ] (a)'),
)
const oddValue = fc.oneof(
  { weight: 3, arbitrary: oddText },
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, 0, -1, 1e308, [], {}, [null], { toString: 1 }),
)
const fields = [
  ...['title', 'type', 'description', 'outcome', 'tags', 'parent', 'workdir', 'provider'],
  ...['state', 'reason', 'content', 'artifact', 'session_id', 'required', 'plan', 'hypothesis'],
  ...['note', 'plan_sha256', '__proto__', 'constructor', 'toString'],
  ...['url', 'events', 'secret', 'active'],
]
const oddObject = fc
  .array(fc.tuple(fc.constantFrom(...fields), oddValue), { maxLength: 6 })
  .map((pairs) => JSON.stringify(Object.fromEntries(pairs)))
/** Where no receiver listens. */
const NOBODY = 'http://127.0.0.1:2/'
const nearlyRight = fc
  .tuple(
    fc.constantFrom<object>(
      { title: 'x' },
      { state: 'BLOCKED' },
      { type: 'log', content: 'x' },
      { type: 'log', description: 'x' },
      { type: 'planning' },
      { plan: 'x' },
      { note: 'x' },
      { url: NOBODY },
      { active: false },
      { events: ['*', 'case_created'] },
      {},
    ),
    fc.option(fc.tuple(fc.constantFrom(...fields), oddValue), { freq: 2 }),
  )
  .map(([right, odd]) => JSON.stringify(odd ? { ...right, [odd[0]]: odd[1] } : right))
const body = fc.oneof(
  { weight: 6, arbitrary: nearlyRight },
  { weight: 3, arbitrary: oddObject },
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 40 }),
  fc.constant(undefined),
)
const CASE = ':case'
const OTHER = '00000000-0000-4000-8000-000000000000'
const segment = fc.oneof(
  fc.constantFrom('cases', 'sessions', 'proof', 'memory', 'checklist', 'verify', 'state', 'gate'),
  fc.constantFrom('plan', 'approve', 'stream', 'health', 'version', CASE, OTHER, 'case.md', '1.md'),
  fc.constantFrom(
    '..',
    '.',
    '',
    '%2e%2e',
    '%2f',
    '%00',
    '%ff',
    '%',
    '%zz',
    ';',
    '*',
    '~',
    '__proto__',
  ),
  word,
  fc
    .string({ unit: 'binary', maxLength: 20 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
)
const ids = fc.constantFrom(CASE, CASE, CASE, OTHER, 'x')
const subIds = fc.constantFrom(':session', ':proof', OTHER, 'x', 'checklist')
const known = fc.oneof(
  fc.constantFrom(['cases'], ['health'], ['version'], ['webhooks']),
  fc.tuple(fc.constant('cases'), ids),
  fc.tuple(
    fc.constant('cases'),
    ids,
    fc.constantFrom('state', 'gate', 'sessions', 'proof', 'proof/checklist', 'memory', 'webhooks'),
  ),
  fc.tuple(
    fc.constant('cases'),
    ids,
    fc.constantFrom('sessions', 'proof', 'memory'),
    fc.oneof(subIds, fc.constantFrom('case.md', '1.md', 'latest.md', 'a.md'), segment),
  ),
  fc.tuple(
    fc.constant('cases'),
    ids,
    fc.constantFrom('sessions', 'proof'),
    subIds,
    fc.constantFrom('plan', 'approve', 'revise', 'abandon', 'verify'),
  ),
  fc
    .tuple(
      fc.oneof(fc.constant([]), fc.tuple(fc.constant('cases'), ids)),
      fc.constant('webhooks'),
      fc.constantFrom(':webhook', ':webhook', OTHER, 'x'),
      fc.constantFrom(
        [],
        ['test'],
        ['deliveries'],
        ['deliveries', 'x'],
        ['deliveries', 'x', 'redeliver'],
      ),
    )
    .map(([scope, noun, id, rest]) => [...scope, noun, id, ...rest]),
)
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('state', 'outcome', 'type', 'tag', 'q', 'limit', 'cursor', 'after', 'x'),
      fc.oneof(
        fc.constantFrom('', '1', '-1', 'OPEN', 'a,b', '%', '%ff', '%00', 'WyJhIiwiYiJd', '1e9'),
        fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
      ),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => (pairs.length ? `?${pairs.map((pair) => pair.join('=')).join('&')}` : ''))
const headers = fc.dictionary(
  fc.constantFrom('content-type', 'if-match', 'if-none-match', 'last-event-id', 'accept', 'x-odd'),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'text/plain',
      '*',
      '"x"',
      'W/"x"',
      ',',
      '"',
      '""',
      '1',
      'é',
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
  ),
  { maxKeys: 3 },
)
const requests = fc.record({
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD') },
    fc.constantFrom('PATCH', 'OPTIONS', 'PROPFIND', 'TRACE'),
  ),
  path: fc
    .oneof({ weight: 4, arbitrary: known }, fc.array(segment, { maxLength: 6 }))
    .map((parts) => parts.join('/')),
  query,
  body,
  headers,
})

t.test('2,000 odd requests get no 5xx, and every error says what is wrong', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ description: '```sh run id=a\ntrue\n```\n' })
  const spare = await app.newCase()
  const session = await app.request('POST', `/cases/${id}/sessions`, { type: 'planning' })
  const proof = await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  const webhook = await app.request('POST', '/webhooks', { url: NOBODY })
  const seen = new Map<number, number>()
  const property = fc.asyncProperty(requests, async ({ method, path, query, body, headers }) => {
    const isDelete = method === 'DELETE' && path === `cases/${CASE}`
    const where = path
      .replaceAll(CASE, isDelete ? spare.id : id) // the one case shall stay
      .replaceAll(':session', session.json.id)
      .replaceAll(':proof', proof.json.id)
      .replaceAll(':webhook', webhook.json.id)
    const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    const reply = await app.request(method, `/${where}${query}`, body, { ...type, ...headers })
    seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1)
    const fault = faultOf(app, reply)
    if (fault !== null) throw new Error(`${fault}: ${reply.text.slice(0, 500)}`)
  })
  const options = { numRuns: 2000, interruptAfterTimeLimit: 15_000, endOnFailure: true }
  const details = await fc.check(property, options)
  t.comment(`seed ${details.seed}, ${details.numRuns} requests`, Object.fromEntries(seen))
  t.notOk(details.failed && details.counterexample !== null, fc.defaultReportMessage(details) ?? '')
  t.ok(seen.size >= 7, 'many kinds of answers were seen')
  const failures = app.log.filter(
    (line) => !/^webhook \S+: it fails, .*: connection refused$/.test(line),
  )
  t.strictSame(failures, [], 'nothing was logged as a failure')
  t.equal((await app.request('GET', `/cases/${id}`)).status, 200)
})

t.test('no method of HTTP is a failure on any path', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  // CONNECT opens a tunnel: there is no answer to read
  for (const method of METHODS.filter((name) => name !== 'CONNECT' && name !== 'DELETE')) {
    for (const path of ['/cases', `/cases/${id}`, `/cases/${id}/memory/x.md`, '/nothing']) {
      const reply = await app.request(method, path)
      t.equal(faultOf(app, reply), null, `${method} ${path}`)
    }
  }
  t.strictSame(app.log, [])
})

t.test('every header in every place is taken or refused', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const odd = ['', ' ', '*', '"', '"a', 'W/', ',,,', '\u00e9', 'x'.repeat(5000), '"'.repeat(4000)]
  for (const name of ['if-match', 'if-none-match', 'content-type', 'accept', 'range', 'expect']) {
    for (const value of odd) {
      const reply = await app.request('PUT', `/cases/${id}`, { title: 'x' }, { [name]: value })
      t.equal(faultOf(app, reply), null, `${name}: ${value.slice(0, 20)}`)
    }
  }
})

t.test('HEAD of a stream ends', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ description: '```sh run id=a\ntrue\n```\n' })
  const { headers } = await app.request('POST', `/cases/${id}/sessions`, { type: 'planning' })
  const reply = await app.request('HEAD', `${headers.location}/stream`)
  t.equal(reply.status, 200)
  t.equal(reply.text, '')
})

// A folder that changes under our hands

t.test('a link that is swapped in and out again leads nowhere', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const outside = join(app.stateDir, 'outside')
  await mkdir(outside)
  for (const name of ['notes.md', 'case.md', '1.md']) await writeFile(join(outside, name), 'secret')
  const [folder, aside] = [app.file(id), `${app.file(id)}.aside`]
  let done = false
  const swapping = (async () => {
    while (!done) {
      await rename(folder, aside)
      await symlink(outside, folder)
      await rm(folder)
      await rename(aside, folder)
    }
  })()
  for (let n = 0; n < 500; n++) {
    const get = await app.request('GET', `/cases/${id}/memory/notes.md`)
    const put = await app.request('PUT', `/cases/${id}/memory/notes.md`, 'mine')
    if (get.text.includes('secret') || put.text.includes('secret')) t.fail('it was read')
    for (const reply of [get, put]) {
      const fault = faultOf(app, reply)
      if (fault) t.fail(fault)
    }
  }
  done = true
  await swapping
  t.strictSame(await readdir(outside), ['1.md', 'case.md', 'notes.md'], 'nothing was written there')
  t.strictSame(app.log, [])
})

// A full disk

/** Mounts a file system of 1 MiB on the memory root, or skips with the reason why it cannot. */
function mountSmall(t: Test, folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    t.pass('no tmpfs can be mounted here', { skip: String(error).split('\n')[0] ?? 'no mount' })
    return false
  }
  t.teardown(() => execFileSync('umount', [folder]))
  return true
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((each) => each.isFile()).map((each) => each.name)
}

t.test('on a full disk a write is 507, nothing is lost, and the service lives', async (t) => {
  t.teardown(() => {}) // see openTestService
  const folder = t.testdir()
  if (!mountSmall(t, folder)) return
  await t.test('there', async (t) => {
    const app = await openTestService(t, { memoryRoot: folder })
    const { id } = await app.newCase({ title: 'Kept', description: 'x'.repeat(8000) })
    await app.request('PUT', `/cases/${id}/memory/notes.md`, 'mine')
    const proof = await app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
    const before = (await app.request('GET', `/cases/${id}`)).json
    const files = await filesIn(folder)
    const filler = join(folder, 'filler')
    await writeFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch((error) => {
      if (error.code !== 'ENOSPC') throw error
    })

    const path = `/cases/${id}`
    const writes: [string, string, (object | string)?][] = [
      ['POST', '/cases', { title: 'New' }],
      ['PUT', path, { title: 'New', description: 'y'.repeat(9000) }],
      ['PUT', `${path}/state`, { state: 'BLOCKED' }],
      ['POST', `${path}/proof`, { type: 'log', content: 'y'.repeat(9000) }],
      ['PUT', `${path}/proof/${proof.json.id}/verify`],
      ['POST', `${path}/proof/checklist`, { description: 'New', type: 'log' }],
      ['PUT', `${path}/memory/notes.md`, 'theirs'.repeat(2000)],
      ['PUT', `${path}/memory/other.md`, 'theirs'.repeat(2000)],
      ['POST', `${path}/sessions`, { type: 'planning' }],
    ]
    for (const [method, where, body] of writes) {
      const reply = await app.request(method, where, body)
      t.equal(reply.status, 507, `${method} ${where}: ${reply.text}`)
      t.match(reply.json, { code: 'storage_full', detail: /Free space/ })
      t.notMatch(reply.text, folder)
    }
    t.strictSame((await app.request('GET', path)).json, before)
    t.equal((await app.request('GET', `${path}/memory/notes.md`)).text, 'mine')
    t.match((await app.request('GET', `${path}/proof`)).json, [{ content: 'x', verified: false }])
    await rm(filler)
    t.strictSame(await filesIn(folder), files, 'no half of a file is left')

    for (const [method, where, body] of writes) {
      t.match((await app.request(method, where, body)).status, /^20[01]$/, `${method} ${where}`)
    }
  })
})
