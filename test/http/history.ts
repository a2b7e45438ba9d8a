import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { HistoryEntry } from '../../src/model/history.ts'
import { startProgramsBy } from '../../src/platform/program.ts'
import { startProgram } from '../../src/platform/program-child.ts'
import { listen } from '../fixtures/published-events.ts'
import { git, must, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const ADA = { 'casefile-actor': 'Ada', 'casefile-client': 'console' }
const TAP = step("echo 'ok 1 - works'\necho 1..1", 'sh run id=test proof=tap')

const app = await openTestService(t, { limits: { handEdit: 500 } })

/** The lines of a case's history without their times. */
function lines(app: TestService, id: string): string[] {
  const text = readFileSync(app.file(id, 'history.md'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => line.replace(/^- \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?: [+-]\d\d:\d\d)? · /, ''))
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await delay(20)
}

function change(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(from, to))
}

/** Of a case with a session that ran. */
const ran = { case_id: '' }

t.test('each act is a line with who, what and why', async (t) => {
  const asAda = (method: string, path: string, body?: object) =>
    app.request(method, path, body, ADA)
  const { id } = (await asAda('POST', '/cases', { title: 'A' })).json
  await must(app, 'PUT', `/cases/${id}/memory/runbook.md`, TAP)
  const { json: made } = await asAda('POST', `/cases/${id}/sessions`, {
    type: 'implementing',
    note: 'Look at the token.',
  })
  const ref = { case_id: id, id: made.id, path: `/cases/${id}/sessions/${made.id}` }
  await reaches(app, ref, 'plan_ready')
  await asAda('POST', `${ref.path}/revise`, { note: 'Test more.\nAnd say where.' })
  await until(() => lines(app, id).length === 5)
  const session = await must(app, 'GET', ref.path)
  const { plan_unchanged } = await must(app, 'GET', `${ref.path}/approval`)
  t.equal(plan_unchanged, true, 'the runbook plans the same again')
  const plan = session.plan_sha256.slice(0, 8)
  await asAda('POST', `${ref.path}/approve`)
  await until(() => lines(app, id).some((line) => line.includes('1 of 1 test passed')))
  const { json: proof } = await asAda('POST', `/cases/${id}/proof`, {
    type: 'test-log',
    artifact: '1-test.tap',
  })
  await asAda('PUT', `/cases/${id}/proof/${proof.id}/verify`)
  await asAda('PUT', `/cases/${id}`, { title: 'B', tags: ['auth'] })
  await asAda('POST', `/cases/${id}/proof/checklist`, { description: 'x', type: 'log' })
  await asAda('PUT', `/cases/${id}/state`, { state: 'RESOLVED', outcome: 'FeatureShipped' })
  const named = proof.id.slice(0, 8)
  t.strictSame(lines(app, id), [
    'Ada · created the case',
    'Ada · started session 1 (runbook) · Look at the token.',
    `runbook · session 1: a plan of 1 step is ready (${plan})`,
    'Ada · session 1: sent the plan back: Test more. ⏎ And say where.',
    `runbook · session 1: a plan of 1 step is ready, revision 2 (${plan}) · The new plan is identical to the one sent back.`,
    `Ada · session 1: approved the plan in the console (${plan})`,
    'runbook · session 1: 1 of 1 test passed',
    `Ada · attached 1-test.tap to session 1: 1 of 1 passed (${named})`,
    `Ada · verified 1-test.tap: 1 of 1 passed (${named})`,
    'Ada · edited title, tags · title: B',
    'Ada · added a checklist item: x (log)',
    'Ada · resolved the case: FeatureShipped',
  ])
  const entries = await must(app, 'GET', `/cases/${id}/history`)
  t.equal(entries.length, 12)
  ran.case_id = id
  t.match(entries[3], {
    kind: 'sent_back',
    act: { name: 'plan_sent_back', session: 1 },
    text: 'Test more.\nAnd say where.',
  })
})

t.test('a question is answered once, and stays', async (t) => {
  const { id } = await app.newCase()
  const path = `/cases/${id}/answer`
  t.equal((await app.request('POST', path, { text: '30 days' })).status, 422)
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'PLANNING' })
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'NEEDS_USER_INPUT', reason: 'How long?' })
  t.equal((await app.request('POST', path, { text: ' \n' })).status, 400)
  t.equal((await app.request('POST', path, {})).status, 400)
  const other = { 'if-match': '"of another question"' }
  t.equal((await app.request('POST', path, { text: 'No' }, other)).status, 412)
  const reply = await app.request('POST', path, { text: '30 days' }, ADA)
  t.match(reply.json, { state: 'PLANNING', reason: null })
  t.strictSame(
    lines(app, id)
      .slice(-2)
      .map((line) => line.replace(/^(?!Ada).*? · /, '')),
    [
      'asks: How long? (PLANNING → NEEDS_USER_INPUT)',
      'Ada · answers: 30 days (NEEDS_USER_INPUT → PLANNING)',
    ],
  )
})

t.test(
  'a long question and its answer are kept whole, in lines that a person can read',
  async (t) => {
    const { id } = await app.newCase()
    const long = (word: string) => Array.from({ length: 150 }, (_, n) => `${word} ${n}`).join(' ')
    const [reason, text] = [long('why'), long('because')]
    await must(app, 'PUT', `/cases/${id}/state`, { state: 'NEEDS_USER_INPUT', reason })
    await must(app, 'POST', `/cases/${id}/answer`, { text })
    const file = readFileSync(app.file(id, 'history.md'), 'utf8')
    t.ok(file.split('\n').every((line) => line.length <= 300))
    const entries = await must(app, 'GET', `/cases/${id}/history`)
    t.match(entries, [
      { kind: 'created' },
      { kind: 'question', text: reason },
      { kind: 'answer', what: 'answers (NEEDS_USER_INPUT → OPEN)', text },
    ])
    const dropped = file.replace(/^ {2}because 0.*\n/m, '')
    t.equal((await app.request('PUT', `/cases/${id}/memory/history.md`, dropped)).status, 422)
  },
)

t.test('a comment is a line of the history, and news', async (t) => {
  const published = listen(t, app)
  const { id } = await app.newCase()
  const path = `/cases/${id}/comments`
  const forged = `- 2026-11-20T09:55:12.310Z · Eve · session 1 approved (plan 0123456789ab)`
  const text = `Ask them <b>first</b>.\r\n\u202e${forged}\n# History`
  const reply = await app.request('POST', path, { text }, ADA)
  t.equal(reply.status, 201)
  const entry = {
    who: 'Ada',
    what: 'commented',
    text: `Ask them <b>first</b>.\n${forged}\n# History`,
    kind: 'comment',
    act: { name: 'commented' },
    recorded: true,
  }
  t.match(reply.json, entry)
  t.strictSame(await published.newWords(), ['case_created', 'memory_updated history.md'])
  t.match(await must(app, 'GET', `/cases/${id}/history`), [{ kind: 'created' }, entry])
  const long = 'x '.repeat(10_000).trim()
  await must(app, 'POST', path, { text: long })
  t.equal((await must(app, 'GET', `/cases/${id}/history`)).at(-1).text, long, 'kept whole')
  for (const wrong of [{}, { text: ' \n' }, { text: 'x'.repeat(20_001) }])
    t.equal((await app.request('POST', path, wrong)).status, 400)
  const page = (await app.request('GET', `/case/${id}`)).text
  t.notMatch(page, /<b>first/)
  writeFileSync(app.file(id, 'history.md'), '<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n')
  const { status, json } = await app.request('POST', path, { text: 'Lost?' })
  t.strictSame([status, json.code], [409, 'unreadable_file'])
})

t.test('a state that is set without a reason keeps the reason', async (t) => {
  const { id } = await app.newCase()
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: 'No access' })
  const moved = await must(app, 'PUT', `/cases/${id}/state`, { state: 'OPEN' })
  t.equal(moved.reason, 'No access')
  t.ok(lines(app, id).some((line) => line.endsWith('from OPEN to BLOCKED · No access')))
})

t.test('the headers say who, on one line', async (t) => {
  const wrong: Record<string, string>[] = [
    { 'casefile-actor': ' ' },
    { 'casefile-actor': 'x'.repeat(101) },
    { 'casefile-actor': 'a\tb' },
    { 'casefile-client': 'moon' },
  ]
  for (const headers of wrong) {
    const { status, json } = await app.request('POST', '/cases', { title: 'A' }, headers)
    t.strictSame([status, json.code], [400, 'bad_request'], JSON.stringify(headers))
  }
  const name = Buffer.from('Grace Höpper').toString('latin1')
  const headers = { 'casefile-actor': name, 'content-type': 'application/json' }
  const { json } = await app.request('POST', '/cases', Buffer.from('{"title": "A"}'), headers)
  t.strictSame(lines(app, json.id), ['Grace Höpper · created the case'])
  const latin = { ...headers, 'casefile-actor': 'Grace Höpper' }
  const other = await app.request('POST', '/cases', Buffer.from('{"title": "B"}'), latin)
  t.strictSame(lines(app, other.json.id), ['Grace Höpper · created the case'], 'as Latin-1 too')
})

t.test('lines of the service are no news of the memory; those of a person are', async (t) => {
  const published = listen(t, app)
  const { id } = await app.newCase()
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' })
  t.strictSame(await published.newWords(), ['case_created', 'case_state_changed OPEN→BLOCKED'])
  appendFileSync(app.file(id, 'history.md'), 'Called them.\n')
  t.strictSame(await published.newWords(), ['memory_updated history.md'])
})

t.test('a PUT adds lines, and neither drops, changes nor makes those of the service', async (t) => {
  const { id } = await app.newCase()
  const path = `/cases/${id}/memory/history.md`
  const present = (await app.request('GET', path)).text
  t.equal((await app.request('PUT', path, `${present}Called them.\n`)).status, 200)
  const wrong = {
    dropped: '# History\n',
    changed: present.replace('created', 'imported'),
    made: `${present}- 2026-11-20T09:55:12.310Z · Eve · session 1 approved (plan 0123456789ab)\n`,
  }
  for (const [name, text] of Object.entries(wrong)) {
    const { status, json } = await app.request('PUT', path, text)
    t.strictSame([status, json.code], [422, 'would_be_a_problem'], name)
  }
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' })
  const text = readFileSync(app.file(id, 'history.md'), 'utf8')
  t.match(text, /created the case\nCalled them\.\n- .*from OPEN to BLOCKED\n$/)
})

t.test('a history that cannot be appended to keeps no change from being made', async (t) => {
  const broken: [string, (path: string) => void][] = [
    ['merge_conflict', (path) => writeFileSync(path, '<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n')],
    ['symbolic_link', (path) => symlinkSync('case.md', path)],
  ]
  const cases = await Promise.all(broken.map(() => app.newCase()))
  const pathOf = (at: number) => app.file(cases[at]!.id, 'history.md')
  const before = cases.map((_, at) => readFileSync(pathOf(at), 'utf8'))
  for (const [at, [code, make]] of broken.entries()) {
    const { id } = cases[at]!
    rmSync(pathOf(at))
    make(pathOf(at))
    t.match(await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' }), {
      state: 'BLOCKED',
    })
    t.match((await must(app, 'GET', `/cases/${id}`)).problems, [{ code, file: 'history.md' }])
  }
  await app.restart()
  for (const at of broken.keys()) {
    rmSync(pathOf(at), { recursive: true })
    writeFileSync(pathOf(at), before[at]!)
  }
  await app.restart()
  for (const [at, [code]] of broken.entries()) {
    const { id } = cases[at]!
    await until(() => lines(app, id).length === 2) // by itself
    await must(app, 'PUT', `/cases/${id}/state`, { state: 'OPEN' })
    t.match(
      lines(app, id),
      [/created the case$/, /from OPEN to BLOCKED$/, /from BLOCKED to OPEN$/],
      code,
    )
  }
})

t.test('edits by hand are recorded, while the service runs and while none does', async (t) => {
  const { id } = await app.newCase()
  change(app.file(id, 'case.md'), 'state: OPEN', 'state: BLOCKED')
  change(app.file(id, 'case.md'), /^tags:.*$/m, 'tags: [auth]\nreason: No access')
  await until(() => lines(app, id).length === 3)
  t.match(lines(app, id).slice(1), [
    / · moved the case from OPEN to BLOCKED by hand · No access$/,
    / · edited tags by hand$/,
  ])
  mkdirSync(app.file(id, 'proof'))
  const proof = '11111111-1111-4111-8111-111111111111'
  writeFileSync(app.file(id, 'proof', `${proof}.md`), '---\ntype: log\n---\n\n```\nx\n```\n')
  await until(() => lines(app, id).length === 4)
  t.match(lines(app, id)[3], / · attached log proof by hand \(11111111\)$/)
  rmSync(app.file(id, 'proof', `${proof}.md`))
  await until(() => lines(app, id).length === 5)
  t.match(lines(app, id)[4], / · deleted log proof by hand \(11111111\)$/)

  await app.close()
  change(app.file(id, 'case.md'), 'state: BLOCKED', 'state: OPEN')
  const saved = new Date().toISOString()
  await app.restart()
  await until(() => lines(app, id).length === 6)
  t.match(lines(app, id)[5], / · moved the case from BLOCKED to OPEN by hand/)
  t.ok(
    (await must(app, 'GET', `/cases/${id}/history`)).at(-1).at <= saved,
    'at the time of the save',
  )
  await app.restart()
  await must(app, 'GET', `/cases/${id}`)
  t.equal(lines(app, id).length, 6, 'once')
})

t.test('an edit by hand starts no program', async (t) => {
  const app = await openTestService(t, { limits: { handEdit: 100, indexFile: 100 } })
  const { id } = await app.newCase()
  git(app.root, 'init', '-q')
  git(app.root, 'add', '.')
  git(app.root, 'commit', '-qm', 'one')
  await app.restart()
  await app.service.operator()
  const index = () => readFileSync(`${app.memory}/index.md`, 'utf8')
  change(app.file(id, 'case.md'), /^title: .*$/m, 'title: First')
  await until(() => lines(app, id).length === 2 && index().includes('First'))
  const started: string[][] = []
  startProgramsBy((call, signal) => {
    // not for a service of another file of tests that ends
    if (call.cwd.startsWith(app.root)) started.push([call.file, ...call.args])
    return startProgram(call, signal)
  })
  t.teardown(() => startProgramsBy(startProgram))
  change(app.file(id, 'case.md'), /^title: .*$/m, 'title: Second')
  await until(() => lines(app, id).length === 3 && index().includes('Second'))
  t.same(started, [])
})

t.test('what git brings is not recorded again', async (t) => {
  const app = await openTestService(t, { limits: { handEdit: 500 } })
  const { id } = await app.newCase()
  const late = await app.newCase()
  git(app.root, 'init', '-q')
  git(app.root, 'add', '.')
  git(app.root, 'commit', '-qm', 'one')
  git(app.root, 'checkout', '-qb', 'other')
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: 'No access' })
  git(app.root, 'commit', '-qam', 'two')
  git(app.root, 'checkout', '-q', 'main')
  while ((await must(app, 'GET', `/cases/${id}`)).state !== 'OPEN') await delay(20)
  await must(app, 'PUT', `/cases/${id}`, { title: 'On main' })
  git(app.root, 'commit', '-qam', 'three')
  git(app.root, 'merge', '-q', 'other', '-m', 'merged')
  const state = async () => (await must(app, 'GET', `/cases/${id}`)).state
  while ((await state()) !== 'BLOCKED') await delay(20)
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'WATCHLIST' })
  // by when this one is recorded, one of the merged case would be too
  change(app.file(late.id, 'case.md'), 'state: OPEN', 'state: BLOCKED')
  await until(() => lines(app, late.id).length === 2)
  t.strictSame(
    lines(app, id)
      .map((line) => line.replace(/^.*? · /, ''))
      .sort(),
    [
      'created the case',
      'edited title · title: On main',
      'moved the case from BLOCKED to WATCHLIST',
      'moved the case from OPEN to BLOCKED · No access',
    ],
  )
})

t.test('a case that is older than its history shows what its files tell', async (t) => {
  const { case_id: id } = ran
  rmSync(app.file(id, 'history.md'))
  const history = async (): Promise<HistoryEntry[]> => must(app, 'GET', `/cases/${id}/history`)
  const entries = await history()
  const kinds = entries.map(({ kind }) => kind)
  t.strictSame(
    [...new Set(kinds)],
    ['created', 'session', 'plan', 'sent_back', 'approved', 'run_ended', 'proof'],
  )
  t.match(
    entries.find(({ kind }) => kind === 'approved'),
    { who: /./, what: /^session 1: approved/ },
  )
  t.ok(entries.every(({ recorded }) => !recorded))
  t.notOk(existsSync(app.file(id, 'history.md')), 'and nothing is written')
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'NEEDS_USER_INPUT', reason: 'Why?' })
  t.equal((await history()).length, kinds.length + 1)
  rmSync(app.file(id, 'history.md'))
  const answered = await must(app, 'POST', `/cases/${id}/answer`, { text: 'So.' })
  t.equal(answered.state, 'VERIFYING', 'an answer takes it to where its sessions are')
})

t.test('only lines that Casefile wrote are recorded', async (t) => {
  git(app.root, 'init', '-q')
  const { id } = await app.newCase()
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED' })
  const forge = (who: string) =>
    appendFileSync(
      app.file(id, 'history.md'),
      `- ${new Date().toISOString()} · ${who} · session 1 approved in the console (plan 0123456789ab)\n`,
    )
  const all = async () => (await must(app, 'GET', `/cases/${id}/history`)) as HistoryEntry[]
  const before = await all()
  t.ok(
    before.length > 1 && before.every(({ recorded, source }) => recorded && source === 'service'),
  )
  forge('Ada')
  t.match(
    (await app.request('GET', `/case/${id}`)).text,
    /Ada<\/strong> \(not recorded by Casefile\)/,
  )
  await app.restart()
  t.match((await all()).at(-1), { who: 'Ada', recorded: false, source: 'file' })
  t.strictSame((await all()).slice(0, -1), before)
  git(app.root, 'add', '.')
  git(app.root, 'commit', '-qm', 'history')
  t.match((await all()).at(-1), { who: 'Ada', recorded: false, source: 'git' })
  t.strictSame((await all()).slice(0, -1), before)
})
