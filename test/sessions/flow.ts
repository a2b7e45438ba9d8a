import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { evidenceHash } from '../../src/markdown/session-texts.ts'
import { lastOf } from '../../src/model/trail.ts'
import { planAgainNote } from '../../src/sessions/plan-history.ts'
import {
  finished,
  git,
  must,
  newSession,
  planned,
  ran,
  reaches,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ok = step('echo done')

/** Holds what `readPlan` gets: each plan source in its own working folder. */
const project = {
  node: { 'package.json': '{"scripts":{"test":"node --test"}}', Makefile: 'test:\n\ttrue\n' },
  tap: { 'package.json': '{"scripts":{"test":"node --test --test-reporter=tap"}}' },
  none: {
    'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
    Makefile: 'all:\n\ttrue\ncheck:\n\ttrue\n',
  },
  broken: { 'package.json': '{"scripts":', 'go.mod': 'module x\n' },
  make: { Makefile: 'check:\n\ttrue\ntest: all\n\ttrue\n' },
  variable: { Makefile: 'test := x\n', 'Cargo.toml': '[package]\n' },
  python: { 'pyproject.toml': '[project]\n' },
  empty: { 'README.md': 'nothing\n' },
}

t.jobs = 2

t.test('where the plan comes from', async (t) => {
  const service = await openTestService(t, { files: project })
  const { root } = service
  const described = `Fix it.\n\n${step('echo from the description', 'sh run id=mine timeout=5s')}\nand not\n\n\`\`\`sh\nrm -rf x\n\`\`\`\n`
  const plans: [name: string, wanted: { runbook?: string; fields?: object }, expected: RegExp][] = [
    [
      'runbook.md before all',
      { runbook: ok, fields: { description: described, workdir: 'node' } },
      /^`+sh run\necho done\n`+$/,
    ],
    [
      'the run fences of the description, and no others',
      { fields: { description: described, workdir: 'node' } },
      /^Run the steps that the description gives\.\n\n```sh run id=mine timeout=5s\necho from the description\n```$/,
    ],
    [
      'an indented example keeps its indentation',
      { runbook: '\ufeff\n    ```sh run id=a\n    echo a\n    ```\n' },
      /^ {4}```sh run id=a\n {4}echo a\n {4}```$/,
    ],
    [
      'a blank runbook.md does not count',
      { runbook: ' \n', fields: { description: described } },
      /from the description/,
    ],
    [
      'nothing to plan with: no tests run unasked',
      { fields: { workdir: 'node' } },
      /^Nothing to plan with: [^`]*`run`[^`]*`steps`[\s\S]*--run-tests`\.$/,
    ],
    [
      'nothing to plan with, and no tests that are known',
      {},
      /^Nothing to plan with: [\s\S]*say how with `casefile init --tests "make check"`, then/,
    ],
  ]
  for (const [name, wanted, expected] of plans) {
    await t.test(name, async (t) => {
      const ref = await planned(service, wanted)
      const { plan, plan_sha256, state, problems } = await must(service, 'GET', ref.path)
      t.match(plan, expected)
      t.equal(plan_sha256, sha256(plan))
      t.equal(state, 'plan_ready')
      t.strictSame(problems, [])
    })
  }
  await t.test('a description with what is nearly a step, as it is', async (t) => {
    const ref = await planned(service, { fields: { description: '```SH RUN\necho a\n```' } })
    const { plan, problems } = await must(service, 'GET', ref.path)
    t.equal(plan, '```SH RUN\necho a\n```')
    t.match(problems, [{ code: 'invalid_plan', message: /"SH RUN" is nearly a step/ }])
  })
  await t.test('steps of casefile.md', async (t) => {
    writeFileSync(join(root, 'casefile.md'), "---\nsteps: ['make a', 'echo ```']\n---\n")
    const ref = await planned(service, { fields: { workdir: 'node' } })
    const { plan } = await must(service, 'GET', ref.path)
    t.equal(
      plan,
      'Run the steps from casefile.md.\n\n```sh run id=step-1\nmake a\n```\n\n````sh run id=step-2\necho ```\n````',
    )
    const own = await planned(service, { fields: { description: described } })
    t.match((await must(service, 'GET', own.path)).plan, /from the description/)
    rmSync(join(root, 'casefile.md'))
  })
})

t.test('the tests of a project', async (t) => {
  const service = await openTestService(t, { files: project })
  const folders: [name: string, workdir: string, expected: RegExp][] = [
    [
      'package.json',
      'node',
      /\(package\.json\)\.\n\n```sh run id=npm-test proof=tap\nnpm test --silent -- --test-reporter=tap\n```\n\n## Hypothesis\n\nNone: this plan only runs the tests, with the command found in package\.json\.\n$/,
    ],
    ['package.json that prints TAP', 'tap', /id=npm-test proof=tap/],
    ['npm init writes a test that is none', 'none', /id=make-check proof=test\nmake check/],
    ['a package.json that does not parse', 'broken', /proof=go\ngo test -json \.\/\.\.\./],
    ['Makefile', 'make', /make test/],
    ['a variable of a Makefile is no target; Cargo.toml', 'variable', /proof=test\ncargo test/],
    [
      'pyproject.toml',
      'python',
      /proof=junit\npython3 -m pytest --junitxml=\/dev\/fd\/3 3>&1 >&2\n/,
    ],
  ]
  const testsIn = async (workdir: string) => {
    const { id } = await service.newCase({ workdir })
    return (await must(service, 'GET', `/cases/${id}/setup`)).tests
  }
  for (const [name, workdir, expected] of folders) {
    await t.test(name, async (t) => t.match((await testsIn(workdir)).runbook, expected))
  }
  t.equal(await testsIn('empty'), null)
  writeFileSync(join(service.root, 'casefile.md'), '---\ntests: npm test\n---\n')
  t.match(
    await testsIn('tap'),
    { command: 'npm test', source: 'casefile.md', report: 'tap' },
    'the setting is the command, and the report is known from the file',
  )
  t.match((await testsIn('empty')).runbook, /id=tests proof=test\nnpm test/)
})

t.test('where the hypothesis comes from', async (t) => {
  const service = await openTestService(t)
  const stated = '## Hypothesis\n\nThe pool is small.\n\nTruly.\n\n### Why\n\nx\n\n## Steps\n\ny'
  const hypothesis = 'The pool is small.\n\nTruly.\n\n### Why\n\nx'
  const none = 'None: there is nothing to plan with.'
  const cases: [name: string, description: string, runbook: string, expected: string][] = [
    ['the heading of the description', `Intro.\n\n${stated}`, '', hypothesis],
    [
      'the heading of runbook.md before that',
      stated,
      `## Hypothesis\n\nMine.\n\n## Do\n\n${ok}`,
      'Mine.',
    ],
    ['an empty heading is none', '## Hypothesis\n\n## Steps\n\nFirst.', '', none],
    ['a heading in a fence is none', '```\n## Hypothesis\n\nno\n```\n\nYes.', '', none],
    [
      'never the first words of the description',
      'It is slow.',
      ok,
      'No hypothesis: the plan comes from runbook.md.',
    ],
    [
      'never the title',
      `# A\n\n${step('true')}`,
      '',
      "No hypothesis: the plan comes from the case's description.",
    ],
  ]
  for (const [name, description, runbook, expected] of cases) {
    await t.test(name, async (t) => {
      const fields = { title: 'It is odd', description }
      const ref = await planned(service, runbook === '' ? { fields } : { fields, runbook })
      const session = await must(service, 'GET', ref.path)
      t.equal(session.hypothesis, expected)
      t.notMatch(session.plan, /Mine\./, 'it is not in the plan too')
    })
  }
})

t.test('a plan that does not fit', async (t) => {
  const service = await openTestService(t)
  const made = await service.newCase()
  await must(service, 'PUT', `/cases/${made.id}/memory/runbook.md`, 'x\n'.repeat(140 * 1024))
  const ref = await newSession(service, made.id)
  await reaches(service, ref, 'failed')
  const session = await must(service, 'GET', ref.path)
  t.match(session, { state: 'failed', plan: '', problems: { length: 0 } })
  t.match(
    readFileSync(service.file(made.id, 'sessions', '1.md'), 'utf8'),
    /reason="The plan has 286719 bytes/,
  )
})

t.test('the plan is edited before approval only', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: step('sleep 0.3') })
  const edit = (body: object) => service.request('PUT', `${ref.path}/plan`, body)
  for (const [name, body, expected] of [
    ['blank', { plan: ' \n' }, { status: 400, json: { errors: [{ path: 'plan' }] } }],
    ['missing', { hypothesis: 'x' }, { status: 400, json: { errors: [{ path: 'plan' }] } }],
    [
      'a step that is not understood',
      { plan: `a\n\n${step('x', 'sh run foo=1')}` },
      { status: 422, json: { errors: [{ path: 'plan line 3' }] } },
    ],
    ['over 256 KiB', { plan: 'x'.repeat(256 * 1024 + 1) }, { status: 413 }],
    ['over 256 KiB in bytes', { plan: 'ü'.repeat(128 * 1024 + 1) }, { status: 413 }],
    [
      'a hypothesis over 256 KiB',
      { plan: 'x', hypothesis: 'x'.repeat(256 * 1024 + 1) },
      { status: 413 },
    ],
    ['a lone surrogate', { plan: '\ud800' }, { status: 400 }],
  ] as const) {
    await t.test(name, async (t) => t.match(await edit(body), expected))
  }
  const largest = 'x\n'.repeat(128 * 1024)
  t.match((await edit({ plan: largest })).json, { plan: largest, plan_sha256: sha256(largest) })
  const plan = `## Plan\n\n${step('sleep 0.3; echo "## Audit trail"')}`
  const edited = await edit({ plan, hypothesis: '## Plan\n\nmine' })
  t.match(edited, {
    status: 200,
    json: { plan, hypothesis: '## Plan\n\nmine', state: 'plan_ready' },
  })
  const trail = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
  t.match(
    trail,
    new RegExp(`\\d+\\. \\S+ plan_edited by=request sha256=${sha256(plan)} hypothesis_sha256=`),
  )
  await must(service, 'POST', `${ref.path}/approve`)
  t.match(await edit({ plan: 'x' }), { status: 422, json: { code: 'wrong_state' } })
  await reaches(service, ref, 'complete')
  t.match(await edit({ plan: 'x' }), { status: 422, json: { code: 'wrong_state' } })
})

t.test('a revision plans again from the files, with the note on record', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: step('echo one') })
  t.match(await service.request('POST', `${ref.path}/revise`, { note: ' ' }), { status: 400 })
  await must(service, 'PUT', `/cases/${ref.case_id}/memory/runbook.md`, step('echo two'))
  await must(service, 'POST', `${ref.path}/revise`, { note: 'say "two"\nplease' })
  const { session, events } = await (async () => {
    const again = { ...ref }
    for (;;) {
      const present = await must(service, 'GET', ref.path)
      if (present.state === 'plan_ready' && /two/.test(present.plan)) break
    }
    return finished(service, again)
  })()
  t.match(session, { state: 'complete', output: /two/ })
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
})

t.test('an approval counts once, and for the text that was shown', async (t) => {
  const service = await openTestService(t, { files: { a: {}, b: {}, c: {}, d: {}, e: {} } })
  const approve = (path: string, body?: object) => service.request('POST', `${path}/approve`, body)

  await t.test('twenty at once', async (t) => {
    const ref = await planned(service, {
      runbook: step('echo x >> ran'),
      fields: { workdir: 'a' },
    })
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(ref.path)))
    t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)])
    t.match(answers.find(({ status }) => status === 200)?.json, { state: 'approved' })
    await reaches(service, ref, 'complete')
    t.equal(readFileSync(join(service.root, 'a', 'ran'), 'utf8'), 'x\n')
    t.match(await approve(ref.path), { status: 422 })
  })

  await t.test('with the hash of another text, nothing runs', async (t) => {
    const ref = await planned(service, { runbook: step('touch never'), fields: { workdir: 'b' } })
    const wrong = await approve(ref.path, { plan_sha256: '0'.repeat(64) })
    t.match(wrong, { status: 409, json: { code: 'plan_changed' } })
    t.match(await approve(ref.path, { plan_sha256: 'x' }), { status: 400 })
    const { state, plan_sha256 } = await must(service, 'GET', ref.path)
    t.equal(state, 'plan_ready')
    t.match(await approve(ref.path, { plan_sha256 }), { status: 200 })
    await reaches(service, ref, 'complete')
  })

  const replace = (ref: { case_id: string }, from: string, to: string) => {
    const file = service.file(ref.case_id, 'sessions', '1.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  }
  await t.test(
    'after a hand edit the old hash is refused, and the new one runs the new text',
    async (t) => {
      const ref = await planned(service, { runbook: step('echo old'), fields: { workdir: 'c' } })
      const { plan_sha256 } = await must(service, 'GET', ref.path)
      replace(ref, 'echo old', 'echo new')
      t.match(await approve(ref.path, { plan_sha256 }), { status: 409 })
      const shown = await must(service, 'GET', ref.path)
      t.match(shown, { plan: /echo new/, state: 'plan_ready' })
      t.match(await approve(ref.path, { plan_sha256: shown.plan_sha256 }), { status: 200 })
      await reaches(service, ref, 'complete')
      const session = await must(service, 'GET', ref.path)
      t.match(session.output, /^new$/m)
      t.match(
        readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8'),
        `plan_sha256: ${shown.plan_sha256}`,
      )
    },
  )

  await t.test('without a hash it is for the text that stands there', async (t) => {
    const ref = await planned(service, { runbook: step('echo old'), fields: { workdir: 'd' } })
    replace(ref, 'echo old', 'echo new')
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', output: /^new$/m })
  })

  await t.test('a plan that cannot run, or says nothing', async (t) => {
    const ref = await planned(service, {
      runbook: step('touch never', 'sh run foo=1'),
      fields: { workdir: 'e' },
    })
    t.match((await must(service, 'GET', ref.path)).problems, [{ code: 'invalid_plan' }])
    t.match(await approve(ref.path), {
      status: 422,
      json: { code: 'invalid_plan', errors: [{ path: 'plan line 1' }] },
    })
    replace(ref, step('touch never', 'sh run foo=1'), '')
    t.match(await approve(ref.path), { status: 422, json: { code: 'invalid_plan' } })
    t.notOk(existsSync(join(service.root, 'e/never')))
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
  })

  await t.test(
    'an edit of the file while it runs changes neither the run nor the record',
    async (t) => {
      const ref = await planned(service, {
        runbook: step('until test -e go; do sleep 0.02; done; echo approved'),
        fields: { workdir: 'e' },
      })
      await must(service, 'POST', `${ref.path}/approve`)
      await reaches(service, ref, 'executing')
      replace(ref, 'echo approved', 'echo forged')
      writeFileSync(join(service.root, 'e/go'), '')
      await reaches(service, ref, 'complete')
      const session = await must(service, 'GET', ref.path)
      t.match(session, { output: /^approved$/m, plan: /echo approved/, problems: { length: 0 } })
    },
  )
})

t.test('one session executes in a working folder at a time', async (t) => {
  const service = await openTestService(t, { files: { a: {}, b: {} } })
  const wait = step('until test -e go; do sleep 0.02; done')
  const first = await planned(service, { runbook: wait, fields: { workdir: 'a' } })
  const second = await planned(service, { runbook: ok, fields: { workdir: './b/../a' } })
  const elsewhere = await planned(service, { runbook: ok, fields: { workdir: 'b' } })
  await must(service, 'POST', `${first.path}/approve`)
  t.match(await service.request('POST', `${second.path}/approve`), {
    status: 409,
    json: {
      code: 'folder_busy',
      detail: /Session 1/,
      running: { case_id: first.case_id, session_id: first.id },
    },
  })
  t.match(await service.request('POST', `${first.path}/approve`), {
    status: 409,
    json: { code: 'already_active' },
  })
  t.match(await service.request('DELETE', `/cases/${first.case_id}`), { status: 409 })
  t.match((await finished(service, elsewhere)).session, { state: 'complete' })
  writeFileSync(join(service.root, 'a/go'), '')
  await reaches(service, first, 'complete')
  t.match(
    (await finished(service, second)).session,
    { state: 'complete' },
    'at once after the first',
  )
  t.match(await service.request('DELETE', `/cases/${second.case_id}`), { status: 200 })
})

t.test('what a session cannot be made with', async (t) => {
  const files = {
    'casefile.md': '---\nproviders: { mine: { kind: command, plan: [touch, owned] } }\n---\n',
    file: 'x',
  }
  const service = await openTestService(t, { files })
  const cases: [name: string, fields: object, body: object, expected: object][] = [
    ['no type', {}, {}, { status: 400, json: { errors: [{ path: 'type' }] } }],
    ['an unknown type', {}, { type: 'x' }, { status: 400 }],
    [
      'an unknown provider',
      {},
      { type: 'planning', provider: 'gpt' },
      { status: 400, json: { code: 'unknown_provider' } },
    ],
    ['a name from Object', {}, { type: 'planning', provider: 'constructor' }, { status: 400 }],
    [
      'a provider of casefile.md',
      {},
      { type: 'planning', provider: 'mine' },
      { status: 422, json: { code: 'untrusted_provider' } },
    ],
    ['the same by the case', { provider: 'mine' }, { type: 'planning' }, { status: 422 }],
    [
      'a workdir outside',
      { workdir: '..' },
      { type: 'planning' },
      { status: 422, json: { code: 'untrusted_workdir' } },
    ],
    ['a workdir outside, absolute', { workdir: '/etc' }, { type: 'planning' }, { status: 422 }],
    ['a workdir that is missing', { workdir: 'nowhere' }, { type: 'planning' }, { status: 400 }],
    ['a workdir that is a file', { workdir: 'file' }, { type: 'planning' }, { status: 400 }],
  ]
  for (const [name, fields, body, expected] of cases) {
    await t.test(name, async (t) => {
      const { id } = await service.newCase(fields)
      t.match(await service.request('POST', `/cases/${id}/sessions`, body), expected)
      t.strictSame(await must(service, 'GET', `/cases/${id}/sessions`), [])
      t.notOk(existsSync(service.file(id, 'sessions')))
      t.match(await must(service, 'GET', `/cases/${id}`), { state: 'OPEN' })
    })
  }
})

t.test('a session that failed is planned again, with the failure in the prompt', async (t) => {
  const service = await openTestService(t)
  const lines = `for n in $(seq 400); do echo "line $n of many words"; done; exit 3`
  const { ref } = await ran(
    service,
    step('true', 'sh run id=first') + step(lines, 'sh run id=it'),
    {
      type: 'verifying',
    },
  )
  const path = `/cases/${ref.case_id}/sessions`
  const again = await must(service, 'POST', path, { again: ref.id, note: 'Print less.' })
  t.match(again, { number: 2, type: 'verifying', provider: 'runbook' })
  await reaches(service, { ...ref, id: again.id, path: `${path}/${again.id}` }, 'plan_ready')
  const sessionsOf = (id: string) => service.service.catalog.folder(id)!.sessions
  const [failed, second] = sessionsOf(ref.case_id)
  const created = lastOf(second!.trail, 'session_created')!
  t.match(created.fields, { again: 1, note: 'Print less.' }, 'what the operator said, and no more')
  const history = readFileSync(service.file(ref.case_id, 'history.md'), 'utf8')
  t.match(history, / · session 2 started \(.*\) · again after session 1: Print less\.\n/)
  t.ok(history.split('\n').every((line) => line.length <= 300))
  const { output } = await must(service, 'GET', ref.path)
  const note = planAgainNote(failed!, { output }, 'Print less.')
  t.match(note, /^Print less\.\n\nSession 1 failed: step it exited with 3, expected 0\. /)
  t.match(
    note,
    /The last lines of step it:\n\nline \d+ of many words\n[\s\S]*\nline 400 of many words$/,
  )
  t.ok(note.length < 3500, `${note.length}`)
  t.match(await service.request('POST', path, { again: again.id }), {
    status: 422,
    json: { code: 'wrong_state', detail: /Session 2 is plan_ready: only a session that failed/ },
  })
  const elsewhere = (await service.newCase()).id
  t.match(await service.request('POST', `/cases/${elsewhere}/sessions`, { again: ref.id }), {
    status: 404,
  })
  const report = 'TAP version 14\\n1..2\\nok 1 - a\\nnot ok 2 - it adds up\\n'
  const tap = await ran(service, step(`printf '${report}'; exit 1`, 'sh run id=test proof=tap'))
  const tests = `/cases/${tap.ref.case_id}/sessions`
  await must(service, 'POST', tests, { again: tap.ref.id })
  t.match(
    planAgainNote(sessionsOf(tap.ref.case_id)[0]!, { output: '' }),
    /1 of 2 tests failed\. .*\n\nFailed tests:\n\n- it adds up\n\nThe last/,
  )
  const other = await must(service, 'POST', path, { again: ref.id, type: 'planning' })
  t.equal(other.type, 'planning', 'the type may be another one')
})

t.test('a failed session needs the operator until something comes after it', async (t) => {
  const service = await openTestService(t)
  const needs = async (id: string) => {
    const rows = await must(service, 'GET', '/triage')
    return rows.find((row: { id: string }) => row.id === id).needs?.kind ?? null
  }
  const { ref } = await ran(service, step('exit 3'))
  t.equal(await needs(ref.case_id), 'failed')
  await service.restart()
  t.equal(await needs(ref.case_id), 'failed', 'known from the files alone')
  const state = (state: string) => must(service, 'PUT', `/cases/${ref.case_id}/state`, { state })
  await state('VERIFYING')
  t.equal(await needs(ref.case_id), null)
  await state('IMPLEMENTING')
  t.equal(await needs(ref.case_id), 'failed', 'it is as it was when it failed')
  const file = service.file(ref.case_id, 'case.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace('state: IMPLEMENTING', 'state: OPEN'))
  t.equal(await needs(ref.case_id), null, 'a state set by hand counts too')
})

t.test('what was changed by hand since, and cannot run', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: ok })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  const approve = () => service.request('POST', `${ref.path}/approve`)

  const other = service.file(ref.case_id, 'sessions', '2.md')
  writeFileSync(
    other,
    '# Session 2: planning\n\nstate: plan_ready\nprovider: gpt\n\n## Plan\n\nx\n',
  )
  const sessions = await must(service, 'GET', `/cases/${ref.case_id}/sessions`)
  const { id } = sessions.find(({ number }: { number: number }) => number === 2)
  for (const action of ['approve', 'revise']) {
    const path = `/cases/${ref.case_id}/sessions/${id}/${action}`
    const body = action === 'revise' ? { note: 'x' } : undefined
    t.match(await service.request('POST', path, body), {
      status: 400,
      json: { code: 'unknown_provider' },
    })
  }
  rmSync(other)
  await must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: '..' })
  t.match(await approve(), { status: 422, json: { code: 'untrusted_workdir' } })
  await must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: 'nowhere' })
  t.match(await approve(), { status: 400 })
  await must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: null })
  writeFileSync(file, `<<<<<<< HEAD\n${text}=======\n>>>>>>> x\n`)
  t.match(await approve(), { status: 409, json: { code: 'unreadable_file' } })
  writeFileSync(file, text)
  t.match((await finished(service, ref)).session, { state: 'complete', problems: { length: 0 } })
})

t.test('what a session was created with is not changed by hand', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: ok })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  const id = ref.path.split('/').at(-1)!
  const changes: [key: string, value: string][] = [
    ['id', randomUUID()],
    ['session_type', 'verifying'],
    ['provider', 'claude'],
    ['started_at', '2020-01-01T00:00:00.000Z'],
  ]
  for (const [key, value] of changes) {
    writeFileSync(file, text.replace(new RegExp(`^${key}: .*$`, 'm'), `${key}: ${value}`))
    const session = await must(service, 'GET', ref.path)
    const problem = { code: 'field_by_hand', file: 'sessions/1.md', message: new RegExp(value) }
    t.match(session, { id, type: 'implementing', provider: 'runbook', problems: [problem] }, key)
    t.not(session.started_at, value)
  }
  let all = text
  for (const [key, value] of changes)
    all = all.replace(new RegExp(`^${key}: .*$`, 'm'), `${key}: ${value}`)
  writeFileSync(file, all)
  await service.restart()
  const session = await must(service, 'GET', ref.path)
  t.match(session, { id, type: 'implementing', provider: 'runbook' }, 'also after a start')
  t.equal(session.problems.length, changes.length)
  await finished(service, ref)
  t.match(
    readFileSync(file, 'utf8'),
    /session_started .*provider=runbook/,
    'the record names the true provider',
  )
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'VERIFYING' })
})

t.test('a plan that somebody emptied, or whose heading they changed', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: ok })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  const { plan } = await must(service, 'GET', ref.path)
  writeFileSync(file, text.replace('## Plan\n', '### plan:\n'))
  t.match(await must(service, 'GET', ref.path), { plan, problems: { length: 0 } }, 'read as meant')
  writeFileSync(file, text.replace(/## Plan\n[\s\S]*?(?=## Execution)/, '## Plan\n\n'))
  const problem = { code: 'invalid_plan', message: /blank/ }
  t.match(await must(service, 'GET', ref.path), { plan: '', problems: [problem] })
  t.match(await service.request('POST', `${ref.path}/approve`), {
    status: 422,
    json: { code: 'invalid_plan', detail: /The plan is blank.*Write one/ },
  })
  const other = service.file(ref.case_id, 'sessions', '2.md')
  writeFileSync(other, '# Session 2: planning\n\n## Plan\n\nx\n')
  const { problems } = await must(service, 'GET', `/cases/${ref.case_id}`)
  t.match(problems, [{ code: 'missing_state', file: 'sessions/2.md', message: /abandoned/ }])
})

t.test('a session moves its case', async (t) => {
  const service = await openTestService(t)
  const cases: [
    type: string,
    from: string,
    created: string,
    approved: string,
    completed: string,
  ][] = [
    ['investigating', 'OPEN', 'INVESTIGATING', 'INVESTIGATING', 'INVESTIGATING'],
    ['planning', 'OPEN', 'PLANNING', 'IMPLEMENTING', 'IMPLEMENTING'],
    ['implementing', 'OPEN', 'PLANNING', 'IMPLEMENTING', 'VERIFYING'],
    ['verifying', 'OPEN', 'PLANNING', 'VERIFYING', 'VERIFYING'],
    ['implementing', 'BLOCKED', 'BLOCKED', 'BLOCKED', 'BLOCKED'],
    ['verifying', 'WATCHLIST', 'WATCHLIST', 'WATCHLIST', 'WATCHLIST'],
    ['implementing', 'NEEDS_USER_INPUT', 'NEEDS_USER_INPUT', 'NEEDS_USER_INPUT', 'VERIFYING'],
  ]
  for (const [type, from, ...expected] of cases) {
    await t.test(`${type}, from ${from}`, async (t) => {
      const { id } = await service.newCase()
      if (from !== 'OPEN') await must(service, 'PUT', `/cases/${id}/state`, { state: from })
      await must(service, 'PUT', `/cases/${id}/memory/runbook.md`, ok)
      const state = async () => (await must(service, 'GET', `/cases/${id}`)).state
      const ref = await newSession(service, id, { type })
      const seen = [await state()]
      await reaches(service, ref, 'plan_ready')
      await must(service, 'POST', `${ref.path}/approve`)
      seen.push(await state())
      await reaches(service, ref, 'complete')
      seen.push(await state())
      t.strictSame(seen, expected)
    })
  }
})

t.test('nothing but a request starts or moves anything', async (t) => {
  const service = await openTestService(t)
  const now = '2026-11-20T10:00:00.000Z'
  const forge = (text: string, state: string, line: boolean) =>
    text.replace(/^state: .*$/m, `state: ${state}`) +
    (line ? `90. ${now} session_state_changed old_state=plan_ready new_state=${state}\n` : '')
  for (const state of ['approved', 'executing']) {
    for (const [name, line] of [
      ['in the frontmatter', false],
      ['in the trail too', true],
    ] as const) {
      await t.test(`${state} by hand, ${name}`, async (t) => {
        const ref = await planned(service, { runbook: step('touch never') })
        const file = service.file(ref.case_id, 'sessions', '1.md')
        writeFileSync(file, forge(readFileSync(file, 'utf8'), state, line))
        const session = await must(service, 'GET', ref.path)
        t.match(session.problems, [{ code: line ? 'trail_changed' : 'state_by_hand' }])
        t.equal(session.state, 'plan_ready')
        await service.restart()
        const again = await must(service, 'GET', ref.path)
        t.match(again, {
          state: 'plan_ready',
          problems: line ? { length: 0 } : [{ code: 'state_by_hand' }],
        })
        t.notOk(existsSync(join(service.root, 'never')))
        t.match(await service.request('POST', `${ref.path}/abandon`), {
          status: 200,
          json: { state: 'abandoned' },
        })
        t.strictSame((await must(service, 'GET', ref.path)).problems, [])
      })
    }
  }
  await t.test('a session of another machine, from git', async (t) => {
    const ref = await planned(service, { runbook: step('touch never') })
    const from = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
    const id = '0b7f7d0e-0000-4000-8000-000000000001'
    const folder = join(service.memory, 'cases', id)
    mkdirSync(join(folder, 'sessions'), { recursive: true })
    writeFileSync(join(folder, 'case.md'), '# From git\n')
    writeFileSync(
      join(folder, 'sessions/4.md'),
      forge(from, 'executing', true).replaceAll(ref.case_id, id).replace('number: 1', 'number: 4'),
    )
    const [session] = await must(service, 'GET', `/cases/${id}/sessions`)
    t.match(session, { number: 4, state: 'executing', problems: [{ code: 'foreign_session' }] })
    const path = `/cases/${id}/sessions/${session.id}`
    t.match(await service.request('POST', `${path}/approve`), { status: 409 })
    t.match(await service.request('POST', `${path}/revise`, { note: 'x' }), { status: 422 })
    t.match(await service.request('POST', `${path}/abandon`, { reason: 'not mine' }), {
      status: 200,
    })
    t.match(await must(service, 'GET', path), { state: 'abandoned', problems: { length: 0 } })
    t.notOk(existsSync(join(service.root, 'never')))
    t.match(await must(service, 'POST', `/cases/${id}/sessions`, { type: 'planning' }), {
      number: 5,
    })
  })
  await t.test('lines added by hand while it runs', async (t) => {
    const ref = await planned(service, { runbook: step('until test -e go; do sleep 0.02; done') })
    const events = await stream(service, ref)
    await must(service, 'POST', `${ref.path}/approve`)
    await events.next(({ event }) => event === 'step_started') // the last line before the step ends
    const file = service.file(ref.case_id, 'sessions', '1.md')
    writeFileSync(file, forge(readFileSync(file, 'utf8'), 'complete', true))
    const session = await must(service, 'GET', ref.path)
    t.equal(session.state, 'executing')
    t.match(
      session.problems.map(({ code }: { code: string }) => code),
      ['trail_changed'],
    )
    writeFileSync(join(service.root, 'go'), '')
    await reaches(service, ref, 'complete')
    t.match(await must(service, 'GET', ref.path), { state: 'complete', problems: { length: 0 } })
    t.notMatch(readFileSync(file, 'utf8'), /^90\. /m)
  })
})

t.test('a complete session is the record of what ran, and proof seals it', async (t) => {
  const service = await openTestService(t)
  git(service.root, 'init')
  const { ref, session, events } = await ran(
    service,
    `${step('echo a > new.txt; echo said')}${step('echo "TAP version 13"; echo "1..2"; echo ok; echo not ok', 'sh run id=test proof=tap')}`,
    { note: 'for the record', type: 'implementing' },
  )
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  t.match(session, {
    state: 'complete',
    diff: { file: 'new.txt', additions: 1, deletions: 0 },
    tests: { run: 2, passed: 1, failed: 1 },
    proof_attached: false,
    problems: [],
    candidates: [
      { artifact: '1-step-1.log', note: /^exit 0 after/ },
      { artifact: '1-test.tap', note: '1 of 2 tests failed' },
      { artifact: '1-changes.patch', note: 'new.txt: +1 -0' },
    ],
  })
  const payloadOf = (type: string) => events.find((each) => each.event_type === type)?.payload
  const ids = { case_id: ref.case_id, session_id: ref.id }
  const evidence_sha256 = evidenceHash(session, session)
  t.strictSame(payloadOf('evidence_recorded'), { evidence_sha256, ...ids })
  t.strictSame(payloadOf('session_completed'), ids)
  t.match(text, /session_created type=implementing provider=runbook note="for the record"/)
  t.equal(readlinkSync(service.file(ref.case_id, 'sessions', 'latest.md')), '1.md')
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
    /^([\s\S]*\n)\d+\. \S+ session_sealed sha256=([0-9a-f]{64}) evidence_sha256=[0-9a-f]{64}\n$/.exec(
      sealed,
    ) ?? []
  t.equal(whole, sealed, 'the seal is the last line')
  t.ok(sealed.endsWith(` evidence_sha256=${evidence_sha256}\n`))
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
    t.match(
      await service.request(method, path, body),
      { status: 422, json: { code: 'session_ended' } },
      `${method} ${path}`,
    )
  }
  t.equal(readFileSync(file, 'utf8'), sealed)
  writeFileSync(file, sealed.replace('said', 'Said'))
  t.match((await must(service, 'GET', ref.path)).problems, [
    { code: 'session_changed' },
    { code: 'session_changed' },
  ])
})

t.test('abandon ends a session in each state', async (t) => {
  const service = await openTestService(t)
  const abandon = (path: string, body?: object) => service.request('POST', `${path}/abandon`, body)
  const file = (ref: { case_id: string }) =>
    readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')

  await t.test('plan_ready, with a reason', async (t) => {
    const ref = await planned(service, { runbook: ok })
    t.match(await abandon(ref.path, { reason: 'no longer needed' }), {
      status: 200,
      json: { state: 'abandoned', problems: { length: 0 } },
    })
    t.match(
      file(ref),
      /new_state=abandoned reason="no longer needed"\n\d+\. \S+ session_sealed sha256=\S+\n$/,
    )
    t.match(await abandon(ref.path), { status: 422, json: { code: 'session_ended' } })
  })
  await t.test('complete, without one', async (t) => {
    const { ref } = await ran(service, ok)
    t.match(await abandon(ref.path), {
      status: 200,
      json: { state: 'abandoned', problems: { length: 0 } },
    })
    t.match(file(ref), /old_state=complete new_state=abandoned\n/)
  })
  await t.test('failed is ended already', async (t) => {
    const { ref, session } = await ran(service, step('exit 3'))
    t.equal(session.state, 'failed')
    t.match(await abandon(ref.path), { status: 422 })
  })
  await t.test('just made', async (t) => {
    const { id } = await service.newCase()
    const ref = await newSession(service, id)
    t.match(await abandon(ref.path, { reason: 'oops' }), {
      status: 200,
      json: { state: 'abandoned', problems: { length: 0 } },
    })
  })
  await t.test('approved a moment ago', async (t) => {
    const ref = await planned(service, { runbook: step('sleep 30') })
    const [approved, abandoned] = await Promise.all([
      service.request('POST', `${ref.path}/approve`),
      abandon(ref.path),
    ])
    t.ok([200, 422].includes(approved.status), `approve: ${approved.status}`)
    t.match(abandoned, { status: 200, json: { state: 'abandoned', problems: { length: 0 } } })
    t.strictSame(service.log, [])
  })
})
