import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { evidenceHash } from '../../src/markdown/session-texts.ts'
import { lastOf } from '../../src/model/trail.ts'
import { planAgainNote } from '../../src/sessions/plan-history.ts'
import { listen } from '../fixtures/published-events.ts'
import {
  finished,
  git,
  must,
  newSession,
  planned,
  ran,
  reaches,
  reachesAgain,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { printedBy, recordOf } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ok = step('echo done')
const service = await openTestService(t, {
  files: {
    'casefile.md': '---\nproviders: { mine: { kind: command, plan: [touch, owned] } }\n---\n',
    file: 'x',
    a: {},
  },
})

/** What a person changes in the file of a session. */
function replace(ref: { case_id: string }, from: string | RegExp, to: string) {
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  if (text.replace(from, to) === text) throw new Error(`nothing to replace: ${from}`)
  writeFileSync(file, text.replace(from, to))
}

t.test('an approval counts once, and for the text that was shown', async (t) => {
  const approve = (path: string, body?: object) => service.request('POST', `${path}/approve`, body)
  const ref = await planned(service, { runbook: step('touch never', 'sh run foo=1') })
  const edit = (body: object) => service.request('PUT', `${ref.path}/plan`, body)
  t.match((await must(service, 'GET', ref.path)).problems, [{ code: 'invalid_plan' }])
  t.match(await approve(ref.path), {
    status: 422,
    json: { code: 'invalid_plan', errors: [{ path: 'plan line 1' }] },
  })
  for (const [name, body, expected] of [
    ['blank', { plan: ' \n' }, { status: 400, json: { errors: [{ path: 'plan' }] } }],
    ['missing', { hypothesis: 'x' }, { status: 400, json: { errors: [{ path: 'plan' }] } }],
    [
      'a step that is not understood',
      { plan: `a\n\n${step('x', 'sh run foo=1')}` },
      { status: 422, json: { errors: [{ path: 'plan line 3' }] } },
    ],
    ['over 256 KiB in bytes', { plan: 'ü'.repeat(128 * 1024 + 1) }, { status: 413 }],
    ['a long hypothesis', { plan: 'x', hypothesis: 'x'.repeat(256 * 1024 + 1) }, { status: 413 }],
    ['a lone surrogate', { plan: '\ud800' }, { status: 400 }],
  ] as const) {
    t.match(await edit(body), expected, name)
  }
  const largest = 'x'.repeat(256 * 1024)
  t.match((await edit({ plan: largest })).json, { plan: largest, plan_sha256: sha256(largest) })
  const plan = `## Plan\n\n${step('until test -e go; do sleep 0.05; done; echo ran >> ran; echo old; echo "## Audit trail"')}`
  const edited = await edit({ plan, hypothesis: '## Plan\n\nmine' })
  t.match(edited, { json: { plan, hypothesis: '## Plan\n\nmine', state: 'plan_ready' } })
  t.match(
    recordOf(service, ref),
    new RegExp(
      `\\d+\\. \\S+ plan_edited by=request sha256=${sha256(plan)} hypothesis_sha256=${sha256('## Plan\n\nmine')}\n`,
    ),
  )
  for (const plan_sha256 of [sha256(largest), '0'.repeat(64)])
    t.match(await approve(ref.path, { plan_sha256 }), {
      status: 409,
      json: { code: 'plan_changed' },
    })
  t.match(await approve(ref.path, { plan_sha256: 'x' }), { status: 400 })
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })

  replace(ref, 'echo old', 'echo new')
  t.match(await approve(ref.path, { plan_sha256: sha256(plan) }), { status: 409 }, 'by hand')
  const { plan_sha256, ...shown } = await must(service, 'GET', ref.path)
  t.match(shown, { plan: /echo new/, state: 'plan_ready' })
  const asked = Array.from({ length: 5 }, () => approve(ref.path, { plan_sha256 }))
  const answers = await Promise.all(asked)
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(4).fill(409)])
  t.match(answers.find(({ status }) => status === 200)?.json, { state: 'approved' })
  t.match(answers.find(({ status }) => status === 409)?.json, { code: 'already_active' })
  await reaches(service, ref, 'executing')
  replace(ref, 'echo new', 'echo forged')
  t.match(await edit({ plan: 'x' }), { status: 422, json: { code: 'wrong_state' } })
  t.match(await service.request('DELETE', `/cases/${ref.case_id}`), { status: 409 })
  writeFileSync(join(service.root, 'go'), '')
  await reaches(service, ref, 'complete')
  t.equal(readFileSync(join(service.root, 'ran'), 'utf8'), 'ran\n', 'it ran once')
  const session = await must(service, 'GET', ref.path)
  t.match(printedBy(service, ref), /^new$/m)
  t.match(session, { plan: /echo new/, problems: { length: 0 } })
  t.match(recordOf(service, ref), RegExp(`plan_sha256: ${plan_sha256}\napproved_by: \\S`))
  t.match(await approve(ref.path), { status: 422 })
  t.match(await edit({ plan: 'x' }), { status: 422, json: { code: 'wrong_state' } })
  rmSync(join(service.root, 'go'))
  t.match(await service.request('DELETE', `/cases/${ref.case_id}`), { status: 200 })
})

t.test('what a session cannot be made with', async (t) => {
  const planning = { type: 'planning' }
  const cases: [name: string, fields: object, body: object, expected: object][] = [
    ['no type', {}, {}, { status: 400, json: { errors: [{ path: 'type' }] } }],
    ['an unknown type', {}, { type: 'x' }, { status: 400 }],
    [
      'an unknown provider',
      {},
      { ...planning, provider: 'gpt' },
      { status: 400, json: { code: 'unknown_provider' } },
    ],
    ['a name from Object', {}, { ...planning, provider: 'constructor' }, { status: 400 }],
    [
      'a provider of casefile.md',
      {},
      { ...planning, provider: 'mine' },
      { status: 422, json: { code: 'untrusted_provider' } },
    ],
    ['the same by the case', { provider: 'mine' }, planning, { status: 422 }],
    [
      'a workdir outside',
      { workdir: '..' },
      planning,
      { status: 422, json: { code: 'untrusted_workdir' } },
    ],
    ['a workdir outside, absolute', { workdir: '/etc' }, planning, { status: 422 }],
    ['a workdir that is missing', { workdir: 'nowhere' }, planning, { status: 400 }],
    ['a workdir that is a file', { workdir: 'file' }, planning, { status: 400 }],
  ]
  for (const [name, fields, body, expected] of cases) {
    const { id } = await service.newCase(fields)
    t.match(await service.request('POST', `/cases/${id}/sessions`, body), expected, name)
    t.strictSame(await must(service, 'GET', `/cases/${id}/sessions`), [], name)
    t.notOk(existsSync(service.file(id, 'sessions')), name)
    t.match(await must(service, 'GET', `/cases/${id}`), { state: 'OPEN' }, name)
  }
  const { id } = await service.newCase()
  const refs = await Promise.all([1, 2, 3].map(() => newSession(service, id)))
  for (const ref of refs) await reaches(service, ref, 'plan_ready')
  const numbers = (await must(service, 'GET', `/cases/${id}/sessions`)).map(
    ({ number }: { number: number }) => number,
  )
  t.strictSame(numbers.sort(), [1, 2, 3], 'no number is used twice')
  t.equal(readlinkSync(service.file(id, 'sessions', 'latest.md')), '3.md')
})

t.test('a session that failed needs the operator, and is planned again', async (t) => {
  const lines = `for n in $(seq 400); do echo "line $n of many words"; done; exit 3`
  const needs = async (id: string) => {
    const rows = await must(service, 'GET', '/triage')
    return rows.find((row: { id: string }) => row.id === id).needs?.kind ?? null
  }
  const report = `printf 'TAP version 14\\n1..2\\nok 1 - a\\nnot ok 2 - it adds up\\n'`
  const { ref } = await ran(
    service,
    step(report, 'sh run id=first proof=tap') + step(lines, 'sh run id=it'),
    { type: 'verifying' },
  )
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'VERIFYING' })
  t.equal(await needs(ref.case_id), 'failed')
  await service.restart()
  t.equal(await needs(ref.case_id), 'failed', 'known from the files alone')
  const state = (state: string) => must(service, 'PUT', `/cases/${ref.case_id}/state`, { state })
  await state('IMPLEMENTING')
  t.equal(await needs(ref.case_id), null)
  await state('VERIFYING')
  t.equal(await needs(ref.case_id), 'failed', 'it is as it was when it failed')

  const path = `/cases/${ref.case_id}/sessions`
  const again = await must(service, 'POST', path, { again: ref.id, note: 'Print less.' })
  t.match(again, { number: 2, type: 'verifying', provider: 'runbook' })
  await reaches(service, { ...ref, id: again.id, path: `${path}/${again.id}` }, 'plan_ready')
  t.not(await needs(ref.case_id), 'failed', 'something came after it')
  const [failed, second] = service.service.catalog.folder(ref.case_id)!.sessions
  const created = lastOf(second!.trail, 'session_created')!
  t.match(created.fields, { again: 1, note: 'Print less.' }, 'what the operator said, and no more')
  const history = readFileSync(service.file(ref.case_id, 'history.md'), 'utf8')
  t.match(history, / · started session 2 \(.*\) · again after session 1: Print less\.\n/)
  t.ok(history.split('\n').every((line) => line.length <= 300))
  const { output } = await must(service, 'GET', ref.path)
  const { withTail } = service.service
  const trail = failed!.trail.map((line) => withTail(failed!, line))
  const note = planAgainNote({ ...failed!, trail }, { output }, 'Print less.')
  t.match(
    note,
    /^Print less\.\n\nSession 1 failed: step it exited with 3, expected 0; 1 of 2 tests failed\. |^Print less\.\n\nSession 1 failed: /,
  )
  t.match(
    note,
    /\n\nFailed tests:\n\n- it adds up\n\nThe last lines of step it:\n\nline \d+ of many/,
  )
  t.match(note, /\nline 400 of many words$/)
  t.ok(note.length < 3500, `${note.length}`)
  t.match(await service.request('POST', path, { again: again.id }), {
    status: 422,
    json: { code: 'wrong_state', detail: /Session 2 is plan_ready: only a session that failed/ },
  })
  const elsewhere = (await service.newCase()).id
  t.match(await service.request('POST', `/cases/${elsewhere}/sessions`, { again: ref.id }), {
    status: 404,
  })
  const other = await must(service, 'POST', path, { again: ref.id, type: 'planning' })
  t.equal(other.type, 'planning', 'the type may be another one')
  t.match(await service.request('POST', `${ref.path}/abandon`), { status: 422 }, 'it has ended')
})

t.test('what was changed by hand since', async (t) => {
  const ref = await planned(service, { runbook: ok })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  const approve = () => service.request('POST', `${ref.path}/approve`)
  const read = () => must(service, 'GET', ref.path)
  const { id, plan } = await read()

  const other = service.file(ref.case_id, 'sessions', '2.md')
  writeFileSync(
    other,
    '# Session 2: planning\n\nstate: plan_ready\nprovider: gpt\n\n## Plan\n\nx\n',
  )
  const sessions = await must(service, 'GET', `/cases/${ref.case_id}/sessions`)
  const second = sessions.find(({ number }: { number: number }) => number === 2)
  for (const action of ['approve', 'revise']) {
    const path = `/cases/${ref.case_id}/sessions/${second.id}/${action}`
    const body = action === 'revise' ? { note: 'x' } : undefined
    const unknown = { status: 400, json: { code: 'unknown_provider' } }
    t.match(await service.request('POST', path, body), unknown, action)
  }
  writeFileSync(other, '# Session 2: planning\n\n## Plan\n\nx\n')
  t.match((await must(service, 'GET', `/cases/${ref.case_id}`)).problems, [
    { code: 'missing_state', file: 'sessions/2.md', message: /abandoned/ },
  ])
  rmSync(other)

  writeFileSync(file, text.replace('## Plan\n', '### plan:\n'))
  t.match(await read(), { plan, problems: { length: 0 } }, 'read as meant')
  writeFileSync(file, text.replace(/## Plan\n[\s\S]*?(?=## Execution)/, '## Plan\n\n'))
  const problem = { code: 'invalid_plan', message: /blank/ }
  t.match(await read(), { plan: '', problems: [problem] })
  t.match(await approve(), {
    status: 422,
    json: { code: 'invalid_plan', detail: /The plan is blank.*Write one/ },
  })
  await must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: '..' })
  t.match(await approve(), { status: 422 })
  writeFileSync(file, text)
  t.match(await approve(), { status: 422, json: { code: 'untrusted_workdir' } })
  await must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: 'nowhere' })
  t.match(await approve(), { status: 400 })
  await must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: null })
  writeFileSync(file, `<<<<<<< HEAD\n${text}=======\n>>>>>>> x\n`)
  t.match(await approve(), { status: 409, json: { code: 'unreadable_file' } })

  const changes: [key: string, value: string][] = [
    ['id', 'a81bc81b-dead-4e5d-abff-90865d1e13b1'],
    ['session_type', 'verifying'],
    ['provider', 'claude'],
    ['started_at', '2020-01-01T00:00:00.000Z'],
  ]
  let all = text
  for (const [key, value] of changes) {
    const line = new RegExp(`^${key}: .*$`, 'm')
    writeFileSync(file, text.replace(line, `${key}: ${value}`))
    const session = await read()
    const wrong = { code: 'field_by_hand', file: 'sessions/1.md', message: new RegExp(value) }
    t.match(session, { id, type: 'implementing', provider: 'runbook', problems: [wrong] }, key)
    t.not(session.created_at, value)
    all = all.replace(line, `${key}: ${value}`)
  }
  writeFileSync(file, all)
  await service.restart()
  const session = await read()
  t.match(session, { id, type: 'implementing', provider: 'runbook' }, 'also after a start')
  t.equal(session.problems.length, changes.length)
})

t.test('nothing but a request starts or moves anything', async (t) => {
  const now = '2026-11-20T10:00:00.000Z'
  const forge = (text: string, state: string, line: boolean) =>
    text.replace(/^state: .*$/m, `state: ${state}`) +
    (line ? `90. ${now} session_state_changed old_state=plan_ready new_state=${state}\n` : '')
  const forged = []
  for (const [state, line] of [
    ['approved', false],
    ['executing', true],
  ] as const) {
    const ref = await planned(service, { runbook: step('touch never') })
    const file = service.file(ref.case_id, 'sessions', '1.md')
    writeFileSync(file, forge(readFileSync(file, 'utf8'), state, line))
    forged.push({ ref, line, name: `${state} by hand${line ? ', in the trail too' : ''}` })
    const { problems, ...session } = await must(service, 'GET', ref.path)
    t.match(problems, [{ code: line ? 'trail_changed' : 'state_by_hand' }])
    t.equal(session.state, 'plan_ready')
  }
  const [first] = forged
  const from = recordOf(service, first!.ref).replace(/^state: .*$/m, 'state: plan_ready')
  const id = '0b7f7d0e-0000-4000-8000-000000000001'
  const folder = join(service.memory, 'cases', id)
  mkdirSync(join(folder, 'sessions'), { recursive: true })
  writeFileSync(join(folder, 'case.md'), '# From git\n')
  writeFileSync(
    join(folder, 'sessions/4.md'),
    forge(from, 'executing', true)
      .replaceAll(first!.ref.case_id, id)
      .replace('number: 1', 'number: 4'),
  )
  const foreign = { number: 4, state: 'executing', problems: [{ code: 'foreign_session' }] }
  t.match(await must(service, 'GET', `/cases/${id}/sessions`), [foreign])
  await service.restart()
  for (const { ref, line, name } of forged) {
    const problems = line ? { length: 0 } : [{ code: 'state_by_hand' }]
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready', problems }, name)
    const ended = await must(service, 'POST', `${ref.path}/abandon`, {
      reason: 'no "longer" needed',
    })
    t.match(ended, { state: 'abandoned', problems: { length: 0 } }, name)
    t.match(
      recordOf(service, ref),
      /session_abandoned reason="no \\"longer\\" needed" state=abandoned\n\d+\. \S+ session_sealed sha256=\S+\n\n<\/details>\n$/,
    )
    t.match(await service.request('POST', `${ref.path}/abandon`), {
      status: 422,
      json: { code: 'session_ended' },
    })
  }
  const [session] = await must(service, 'GET', `/cases/${id}/sessions`)
  t.match(session, foreign, 'of another machine, from git')
  const path = `/cases/${id}/sessions/${session.id}`
  t.match(await service.request('POST', `${path}/approve`), { status: 409 })
  t.match(await service.request('POST', `${path}/revise`, { note: 'x' }), { status: 422 })
  await must(service, 'POST', `${path}/abandon`, { reason: 'not mine' })
  t.match(await must(service, 'GET', path), { state: 'abandoned', problems: { length: 0 } })
  t.match(await must(service, 'POST', `/cases/${id}/sessions`, { type: 'planning' }), { number: 5 })
  t.notOk(existsSync(join(service.root, 'never')))

  const made = await newSession(service, (await service.newCase()).id)
  t.match(await service.request('POST', `${made.path}/abandon`), {
    status: 200,
    json: { state: 'abandoned', problems: { length: 0 } },
  })
  const soon = await planned(service, { runbook: step('sleep 30') })
  const [approved, abandoned] = await Promise.all(
    ['approve', 'abandon'].map((what) => service.request('POST', `${soon.path}/${what}`)),
  )
  t.ok([200, 422].includes(approved!.status), `approve: ${approved!.status}`)
  t.match(abandoned, { status: 200, json: { state: 'abandoned', problems: { length: 0 } } })

  const ref = await planned(service, { runbook: step('until test -e go; do sleep 0.02; done') })
  await must(service, 'PUT', `/cases/${ref.case_id}/state`, { state: 'BLOCKED' })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await events.next(({ event }) => event === 'step_started') // the last line before the step ends
  const file = service.file(ref.case_id, 'sessions', '1.md')
  writeFileSync(file, forge(readFileSync(file, 'utf8'), 'complete', true))
  const executing = { state: 'executing', problems: [{ code: 'trail_changed' }] }
  t.match(await must(service, 'GET', ref.path), executing, 'lines added by hand while it runs')
  writeFileSync(join(service.root, 'go'), '')
  await reaches(service, ref, 'complete')
  t.match(await must(service, 'GET', ref.path), { state: 'complete', problems: { length: 0 } })
  t.notMatch(readFileSync(file, 'utf8'), /^90\. /m)
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'BLOCKED' }, 'it stays')
  t.match(await must(service, 'POST', `${ref.path}/abandon`), { state: 'abandoned' })
  t.match(recordOf(service, ref), /session_abandoned state=abandoned\n/)
  t.strictSame(service.log, [])
})

t.test('a plan is made again, its run is the record, and proof seals it', async (t) => {
  git(service.root, 'init', '-q')
  const runbook = `${step('echo a > new.txt; echo said')}${step('echo "TAP version 13"; echo "1..2"; echo ok; echo not ok', 'sh run id=test proof=tap')}`
  const published = listen(t, service)
  const attention = async () =>
    (await published.newEvents())
      .filter(({ event_type }) => event_type === 'attention_needed')
      .map(({ payload }) => `${payload.kind} ${payload.session_id}`)
  const ref = await planned(service, {
    runbook: step('echo one'),
    type: 'investigating',
    note: 'for the record',
  })
  t.strictSame(await attention(), [`plan ${ref.id}`])
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'INVESTIGATING' })
  t.match(await service.request('POST', `${ref.path}/revise`, { note: ' ' }), { status: 400 })
  await must(service, 'PUT', `/cases/${ref.case_id}/memory/runbook.md`, runbook)
  await must(service, 'POST', `${ref.path}/revise`, { note: 'say "two"\nplease' })
  await reachesAgain(service, ref, 'plan_ready')
  t.strictSame(await attention(), [`plan ${ref.id}`], 'the second plan waits too')
  const { session, events } = await finished(service, ref)
  const moves = events.filter((each) => each.event_type === 'session_state_changed')
  t.strictSame(
    moves.map(({ payload }) => [payload.old_state, payload.new_state, payload.reason]),
    [
      ['created', 'planning', undefined],
      ['planning', 'plan_ready', undefined],
      ['plan_ready', 'planning', 'say "two"\nplease'],
      ['planning', 'plan_ready', undefined],
      ['plan_ready', 'approved', undefined],
      ['approved', 'executing', undefined],
      ['executing', 'complete', undefined],
    ],
  )
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'INVESTIGATING' })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  t.match(session, {
    state: 'complete',
    diff: { file: 'new.txt', additions: 1, deletions: 0 },
    tests: { run: 2, passed: 1, failed: 1 },
    proof_attached: false,
    problems: [],
    candidates: [
      { artifact: '1-step-1.log', note: /^exit 0, / },
      { artifact: '1-test.tap', note: '1 of 2 tests failed' },
      { artifact: '1-changes.patch', note: '1 file, +1 −0' },
    ],
  })
  const payloadOf = (type: string) => events.find((each) => each.event_type === type)?.payload
  const ids = { case_id: ref.case_id, session_id: ref.id }
  const [, written = ''] = /\n## Changes\n\n([\s\S]*?)\n\n## Proof/.exec(text) ?? []
  t.equal(written, '```diff\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+a\n```')
  const evidence_sha256 = evidenceHash(session, { ...session, changes: written })
  t.strictSame(payloadOf('evidence_recorded'), { evidence_sha256, ...ids })
  t.strictSame(payloadOf('session_completed'), ids)
  t.match(text, /session_created type=investigating provider=runbook note="for the record"/)
  const patch = readFileSync(service.file(ref.case_id, 'artifacts', '1-changes.patch'), 'utf8')
  t.match(patch, /\+\+\+ b\/new\.txt\n@@ -0,0 \+1 @@\n\+a\n/)

  writeFileSync(file, text.replace('said\n', 'other\n'))
  t.match((await must(service, 'GET', ref.path)).problems, [{ code: 'session_changed' }])
  writeFileSync(file, text)

  const attach = (body: object) => service.request('POST', `/cases/${ref.case_id}/proof`, body)
  const proof = await attach({ type: 'test-log', artifact: '1-test.tap' })
  t.match(proof, { status: 201, json: { session_id: ref.id } })
  const sealed = readFileSync(file, 'utf8')
  const [whole, before = '', hash] =
    /^([\s\S]*\n)\d+\. \S+ session_sealed sha256=([0-9a-f]{64})\n\n<\/details>\n$/.exec(sealed) ??
    []
  t.equal(whole, sealed, 'the seal is the last line of the trail')
  t.equal(hash, createHash('sha256').update(before).digest('hex'))
  t.match(
    before,
    new RegExp(`\\d+\\. \\S+ proof_attached proof_id=${proof.json.id} proof_type=test-log\\n$`),
  )
  t.match(await attach({ type: 'log', content: 'more', session_id: ref.id }), {
    status: 201,
    json: { session_id: ref.id },
  })
  t.equal(readFileSync(file, 'utf8'), sealed, 'a second proof leaves the sealed session alone')
  t.match(await must(service, 'GET', ref.path), { proof_attached: true, problems: { length: 0 } })

  const changes: [string, string, (object | string)?][] = [
    ['PUT', `${ref.path}/plan`, { plan: 'x' }],
    ['POST', `${ref.path}/approve`],
    ['POST', `${ref.path}/revise`, { note: 'x' }],
    ['POST', `${ref.path}/abandon`],
    ['PUT', `/cases/${ref.case_id}/memory/1.md`, sealed],
  ]
  for (const [method, path, body] of changes) {
    const ended = { status: 422, json: { code: 'session_ended' } }
    t.match(await service.request(method, path, body), ended, `${method} ${path}`)
  }
  t.equal(readFileSync(file, 'utf8'), sealed)
  writeFileSync(file, sealed.replace('said', 'Said'))
  t.match((await must(service, 'GET', ref.path)).problems, [
    { code: 'session_changed' },
    { code: 'session_changed' },
  ])
  writeFileSync(file, sealed)
  rmSync(service.file(ref.case_id, 'proof', `${proof.json.id}.md`))
  t.match(await service.request('POST', `${ref.path}/abandon`), { status: 422 }, 'it stays sealed')
  t.equal(readFileSync(file, 'utf8'), sealed)
})
