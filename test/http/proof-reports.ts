import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { listen } from '../fixtures/published-events.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService, type Reply } from '../fixtures/workspace.ts'

/** A report of 23 tests, of which these fail. */
function tap(...failing: [number, string][]): string {
  const names = new Map(failing)
  const points = Array.from({ length: 23 }, (_, index) => {
    const number = index + 1
    const name = names.get(number)
    return name === undefined ? `ok ${number} - test ${number}` : `not ok ${number} - ${name}`
  })
  return ['TAP version 13', '1..23', ...points, ''].join('\n')
}

const FAILING = tap([7, 'signs in'], [9, 'signs out'])
const HAND = '00000000-0000-4000-8000-000000000001'

const app = await openTestService(t)

const resolve = (id: string) => app.request('PUT', `/cases/${id}/state`, { state: 'RESOLVED' })
const gate = async (id: string) => (await app.request('GET', `/cases/${id}/gate`)).json
const verify = (id: string, proof: string, body?: object) =>
  app.request('PUT', `/cases/${id}/proof/${proof}/verify`, body)

async function attach(id: string, content: string, fields = {}): Promise<Reply['json']> {
  const reply = await app.request('POST', `/cases/${id}/proof`, {
    type: 'test-log',
    content,
    ...fields,
  })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.json
}

t.test('a report with failures opens no gate until it is accepted with a reason', async (t) => {
  const { id } = await app.newCase()
  await app.request('POST', `/cases/${id}/proof/checklist`, {
    description: 'All tests pass',
    type: 'test-log',
    required: true,
  })
  const proof = await attach(id, FAILING)
  t.match(proof, {
    tests: { run: 23, passed: 21, failed: 2 },
    failed_tests: [{ name: 'signs in' }, { name: 'signs out' }],
    supports: false,
    why_not: '2 of 23 tests failed: signs in, signs out',
    accepted: null,
  })
  t.match((await verify(id, proof.id)).json, { verified: true, supports: false })

  const shut = await resolve(id)
  t.equal(shut.status, 422)
  t.match(shut.json.detail, /2 of 23 tests failed: signs in, signs out/)
  t.match(shut.json.missing[1], /attach a passing report, or accept this one with a reason/)
  t.match(await gate(id), {
    open: false,
    verified: 0,
    objections: [{ id: proof.id, type: 'test-log', code: 'tests_failed' }],
  })
  const [row] = (await app.request('GET', '/triage')).json.filter(
    (each: { id: string }) => each.id === id,
  )
  t.match(row.needs, { kind: 'proof', text: /doesn't count: 2 of 23 tests failed/ })

  for (const accept of ['', '  \n', 'two\nlines']) {
    const reply = await verify(id, proof.id, { accept })
    t.match(reply.json, { status: 400, errors: [{ path: 'accept' }] })
  }
  const accepted = await verify(id, proof.id, { accept: 'Both are flaky: case 4711' })
  t.match(accepted.json, { accepted: 'Both are flaky: case 4711', supports: true, why_not: null })
  t.equal((await resolve(id)).status, 200)
  t.equal((await gate(id)).open, true)
  const path = app.file(id, 'proof', `${proof.id}.md`)
  const text = await readFile(path, 'utf8')
  t.match(text, /^tests: \{ run: 23, passed: 21, failed: 2 \}$/m)
  t.match(text, /^failed_tests: \[\{ name: signs in, .*name: signs out/m)
  t.match(text, /^accepted: "Both are flaky: case 4711"$/m)
  t.match((await verify(id, proof.id)).json, { accepted: 'Both are flaky: case 4711' })
  t.equal(await readFile(path, 'utf8'), text, 'verifying again writes nothing')

  await app.restart()
  t.match((await app.request('GET', `/cases/${id}`)).json, { state: 'RESOLVED', problems: [] })

  await writeFile(path, text.replace('signs in\n', 'signs in again\n'))
  t.match(await gate(id), { open: false, objections: [{ code: 'changed' }] })

  const again = (await verify(id, proof.id)).json
  t.match(
    again,
    { verified: true, accepted: null, supports: false },
    'the reason was for the other',
  )
})

const PATCH =
  'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n ok 1 - it works\n-ok\n+fine\n'

t.test('what is no report counts as what it is, and as tests only with a reason', async (t) => {
  const { id } = await app.newCase()
  for (const [content, is] of [
    ['I saw it work.', 'log'],
    [PATCH, 'diff'],
  ] as const) {
    const claimed = await attach(id, content)
    t.match(claimed, { type: 'test-log', tests: null, supports: false }, content)
    t.match(claimed.why_not, is === 'diff' ? /it is a diff/ : /neither a test report/)
    t.match((await verify(id, claimed.id)).json, { verified: true, supports: false })
    const proof = await attach(id, content, { type: null })
    t.match(proof, { type: is, tests: null, supports: true }, content)
  }
})

t.test('what each step of a run leaves as proof, which seals its session', async (t) => {
  const tests = (count: number) => `echo "Ran ${count} tests in 0.1 s"`
  const runbook = [
    step(tests(3), 'sh run id=unit proof=test'),
    step('printf "1..1\\nok 1 - it works\\n"\nexit 3', 'sh run id=tap continue=true proof=tap'),
    step('test 1 = 1', 'sh run id=silent proof=test'),
    step('true', 'sh run id=empty proof=tap'),
  ]
  const ref = await planned(app, { runbook: runbook.join('') })
  const { case_id: id } = ref
  const note = (session_id?: string | null) =>
    app.request('POST', `/cases/${id}/proof`, { type: 'log', content: 'x', session_id })
  t.equal((await note(ref.id)).status, 422, 'no proof of what waits for approval')
  const { session } = await finished(app, ref)
  t.equal(session.state, 'complete')
  const rows: [artifact: string, type: string, why: RegExp | null, fields?: object][] = [
    ['1-unit.log', 'test-log', null],
    ['1-tap.tap', 'test-log', /exit code 3/, { exit_code: 3 }],
    ['1-silent.log', 'test-log', null],
  ]
  t.strictSame(
    session.candidates.map((each: Reply['json']) => [
      each.artifact,
      each.type,
      each.why_not === null,
    ]),
    rows.map(([artifact, type, why]) => [artifact, type, why === null]),
    'the other steps leave no proof',
  )
  t.equal((await note(null)).json.session_id, null)
  t.equal((await note()).json.session_id, ref.id, 'the newest complete one that has none')
  t.equal((await note()).json.session_id, null, 'no session waits for proof any more')
  t.match(await must(app, 'GET', ref.path), { proof_attached: true, problems: { length: 0 } })
  t.match(await readFile(app.file(id, 'sessions', '1.md'), 'utf8'), /session_sealed/)
  const wrong = await app.request('POST', `/cases/${id}/proof`, { artifact: '1-nothing.tap' })
  const errors = [{ path: 'artifact', message: /1-unit\.log/ }]
  t.match(wrong, { status: 400, json: { errors } })
  for (const [artifact, type, why, fields] of rows) {
    const { json } = await app.request('POST', `/cases/${id}/proof`, { artifact })
    const expected = { type, session_id: ref.id, supports: why === null, why_not: why, ...fields }
    t.match(json, expected, artifact)
    t.equal(json.content, await readFile(app.file(id, 'artifacts', artifact), 'utf8'))
    const file = await readFile(app.file(id, 'proof', `${json.id}.md`), 'utf8')
    if (fields && 'exit_code' in fields) t.match(file, /^exit_code: 3$/m)
    t.match((await verify(id, json.id)).json, { verified: true, supports: why === null }, artifact)
  }
})

t.test('a report that a person wrote into a file counts once it is counted', async (t) => {
  const published = listen(t, app)
  const { id } = await app.newCase()
  await mkdir(app.file(id, 'proof'), { recursive: true })
  const path = app.file(id, 'proof', `${HAND}.md`)
  const head = 'type: test-log\nverified: true\ntests: { run: 23, passed: 23, failed: 0 }'
  await writeFile(path, `---\n${head}\n---\n\n\`\`\`\n${FAILING}\`\`\`\n`)
  t.match((await resolve(id)).json.detail, /not counted yet/)
  await published.newEvents()
  await published.next(
    ({ event_type, payload }) => event_type === 'proof_updated' && payload.case_id === id,
  )
  const { json } = await app.request('GET', `/cases/${id}/proof/${HAND}`)
  t.match(json, { verified: true, supports: false, tests: { run: 23, failed: 2 } })
  const text = await readFile(path, 'utf8')
  t.match(text, /^sha256: [0-9a-f]{64}$/m)
  t.equal((await resolve(id)).status, 422)
  t.strictSame((await app.request('GET', `/cases/${id}`)).json.problems, [])

  await writeFile(path, text.replace(/^tests: .*$/m, 'tests: { run: 23, passed: 23, failed: 0 }'))
  const counted = /^tests: \{ run: 23, passed: 21, failed: 2 \}$/m
  while (!counted.test(await readFile(path, 'utf8'))) await delay(10)
  t.equal((await resolve(id)).status, 422, 'counts that a person edits are counted again')
})

t.test('a test that passed on a retry supports a proof, and is named', async (t) => {
  const { id } = await app.newCase()
  const flaky =
    '<testsuite tests="2" failures="1"><testcase name="a"/><testcase name="syncs"><flakyFailure/></testcase></testsuite>'
  const proof = await attach(id, flaky)
  const counts = { run: 2, passed: 2, failed: 0, flaky: 1 }
  t.match(proof, { supports: true, flaky_tests: ['syncs'] })
  t.strictSame(proof.tests, counts)
  const path = app.file(id, 'proof', `${proof.id}.md`)
  t.match(await readFile(path, 'utf8'), 'tests: { run: 2, passed: 2, failed: 0, flaky: 1 }')
  t.match(await readFile(path, 'utf8'), /^flaky_tests: \[syncs\]$/m)
  t.strictSame((await verify(id, proof.id)).json.tests, counts)
  t.match((await resolve(id)).json, { state: 'RESOLVED' })
  const { text } = await app.request('GET', `/case/${id}/proof/${proof.id}`)
  t.match(text, '2 of 2 tests passed, 1 flaky')
  t.match(text, /<summary><span [^>]*aria-label="flaky">.*?1 flaky<\/summary>.*?syncs/s)
})

t.test('what a person writes and verifies by hand counts at once, and gets its hash', async (t) => {
  const published = listen(t, app)
  const { id } = await app.newCase()
  await mkdir(app.file(id, 'proof'), { recursive: true })
  const path = app.file(id, 'proof', `${HAND}.md`)
  await writeFile(path, '---\ntype: operator-note\nverified: true\n---\nI saw it work.\n')
  t.equal((await resolve(id)).status, 200)
  await published.newEvents()
  await published.next(({ payload }) => payload.proof_id === HAND && payload.case_id === id)
  const text = await readFile(path, 'utf8')
  t.match(text, /^---\ntype: operator-note\nverified: true\nsha256: [0-9a-f]{64}\n---\nI saw it/)
  await writeFile(path, text.replace('I saw', 'I have not seen'))
  t.match((await app.request('GET', `/cases/${id}`)).json, {
    state: 'VERIFYING',
    problems: [{ code: 'proof_changed' }, { code: 'proof_gate' }],
  })
})

t.test('an empty proof opens nothing', async (t) => {
  const { id } = await app.newCase()
  await mkdir(app.file(id, 'proof'), { recursive: true })
  const path = app.file(id, 'proof', `${HAND}.md`)
  await writeFile(path, '---\ntype: test-log\nverified: true\n---\n\n```\n \n```\n')
  t.match((await resolve(id)).json.detail, /it is empty/)
  t.match((await verify(id, HAND)).json, {
    verified: true,
    supports: false,
    why_not: 'it is empty',
  })
  t.equal((await verify(id, HAND, { accept: 'It will do.' })).status, 400)
  t.equal((await resolve(id)).status, 422)
})

t.test('text outside of the fence is a problem, not dropped in silence', async (t) => {
  const { id } = await app.newCase()
  await mkdir(app.file(id, 'proof'), { recursive: true })
  const path = app.file(id, 'proof', `${HAND}.md`)
  for (const [body, line] of [
    ['Two failed:\n\n```\nall well\n```\n', 4],
    ['```\nall well\n```\n\n```\nbut not this\n```\n', 8],
  ] as const) {
    await writeFile(path, `---\ntype: log\n---\n${body}`)
    t.match((await app.request('GET', `/cases/${id}`)).json.problems, [
      { code: 'outside_fence', file: `proof/${HAND}.md`, line },
    ])
    t.equal((await app.request('GET', `/cases/${id}/proof/${HAND}`)).json.content, 'all well')
  }
})
