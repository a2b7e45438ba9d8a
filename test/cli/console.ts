import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FAKE_BIN } from '../fixtures/agents/contract-subjects.ts'
import { cliOn } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { textOf } from '../fixtures/page-text.ts'
import { must, step } from '../fixtures/session-client.ts'

const RUNBOOK = step('echo fine', 'sh run id=say proof=log')

t.test('the whole job is done by commands, with a running service', async (t) => {
  const cli = cliHere(t)
  const { url } = await cli.serve()
  const description = `Mend it.\n\n${RUNBOOK}`
  const made = await cli.runWith(
    { input: description },
    'new',
    'Sign-in fails',
    '--tag',
    'auth,web',
    '-d',
    '-',
    '--json',
  )
  t.match(made, { code: 0, stderr: '' })
  t.match(made.json, { title: 'Sign-in fails', type: 'bug', tags: ['auth', 'web'], description })
  const id: string = made.json.id

  const started = await cli.run('start', 'sign-in')
  t.match(started, { code: 0, stdout: /^▶ echo fine$[\s\S]*^Run by Casefile: say \(sh\)$/m })
  t.match(started.stderr, /casefile approve [0-9a-f]{8} 1 /)

  t.match(await cli.run('list', '--needs', 'plan'), {
    stdout:
      /^[0-9a-f-]{36}\tWaiting for you\tPLANNING\t\tSign-in fails\tbug\tthe plan of session 1 waits .*\t\d{4}-.*Z\n$/,
  })
  t.match(await cli.run('resolve', id.slice(0, 8)), {
    code: 4,
    stderr: /Missing:\n {2}at least one[\s\S]*casefile proof add/,
  })
  const shut = await cli.run('resolve', id, '--json')
  t.match(shut, { code: 4, json: { code: 'proof_gate', missing: [String] } })

  const approved = await cli.run('approve', 'fails', '--yes')
  t.match(approved, { code: 0, stdout: /▶ say {2}sh, step 1 of 1\n +│ fine\n.*✓ say {2}exit 0/ })
  t.match(approved.stderr, /proof add [0-9a-f]{8} --artifact 1-say\.log\n/)
  t.match(await cli.run('approve', 'fails', '--yes'), { code: 1, stderr: /Session 1 is complete/ })

  const tail = await cli.run('tail', id, 'latest', '--json')
  const events = tail.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(tail.code, 0)
  t.strictSame(Object.keys(events[0]), ['event_type', 'timestamp', 'payload'])
  t.equal(events.at(-1).event_type, 'session_completed')

  t.match(await cli.run('gate', id), {
    code: 4,
    stdout: /Proof requirements are not met\. Missing:\n {2}at least/,
  })
  const proof = await cli.run('proof', 'add', id, '--artifact', '1-say.log', '--json')
  t.match(proof, { code: 0, json: { verified: false, type: 'log', content: /fine/ } })
  t.match(await cli.run('proof', 'verify', id, proof.json.id.slice(0, 8)), { code: 0 })
  t.match(await cli.run('proof', 'verify', id, '--all'), { code: 0, stderr: /no proof to verify/ })
  t.match(await cli.run('proof', 'list', id), { stdout: /^[0-9a-f]{8} {2}log {2}verified/ })
  t.match(await cli.run('gate', id, '--json'), { code: 0, json: { open: true } })
  t.match(await cli.run('note', id, 'It', 'was the clock.'), { code: 0 })
  t.match(await cli.run('resolve', id, '--outcome', 'ConfirmedCodeBug'), { stdout: /RESOLVED/ })
  t.match(await cli.run('list'), { stdout: '', stderr: /no open case\n1 closed case, with --all/ })
  t.match(await cli.run('show', id), {
    code: 0,
    stdout: /outcome +ConfirmedCodeBug[\s\S]*notes\.md/,
  })
  t.match(await cli.run('show', id, '1', '--json'), { json: { number: 1, state: 'complete' } })
  t.match(
    readFileSync(join(cli.root, 'memory', 'cases', id, 'notes.md'), 'utf8'),
    /^## \d{4}-\d\d-\d\d\n\nIt was the clock\.\n$/,
  )
  t.match(await cli.run('open', 'sign', '--print'), { stdout: new RegExp(`^${url}/case/`) })
})

t.test('and by processes of their own, with the files alone', inLongLane, async (t) => {
  const cli = cliOn(t)
  await cli.run('new', 'Sign-in fails', '-d', RUNBOOK)
  t.match(await cli.run('start', 'sign'), { code: 0, stdout: /^▶ echo fine$/m })
  t.match(await cli.run('approve', 'sign', '--yes'), { code: 0, stdout: /✓ say {2}exit 0/ })
  const proof = ['proof', 'add', 'sign', '--text', 'I saw it', '--type', 'note', '--verify']
  t.match(await cli.run(...proof), { code: 0, stdout: /note, verified/ })
  t.match(await cli.run('resolve', 'sign'), { code: 0, stdout: /RESOLVED/ })
})

t.test('a report with failures is verified by no option, and accepted with a reason', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Sign-in fails')
  const report = join(cli.root, 'report.tap')
  writeFileSync(report, 'TAP version 13\n1..2\nok 1 - out\nnot ok 2 - in\n')
  const added = await cli.run('proof', 'add', 'sign', report, '--verify')
  t.match(added, {
    code: 1,
    stdout: /not verified, does not support its claim: 1 of 2 tests failed: in\n$/,
    stderr: /Next: casefile proof show [\s\S]*--accept "<reason>"[\s\S]*attached, but not verified/,
  })
  const id = added.stdout.slice(0, 8)
  t.match(await cli.run('proof', 'show', 'sign', id), {
    stdout: 'TAP version 13\n1..2\nok 1 - out\nnot ok 2 - in\n',
    stderr: / {2}failed: in/,
  })
  t.match(await cli.run('proof', 'show', 'sign'), { stdout: /^TAP version 13\n[\s\S]* - in\n$/ })
  t.match(await cli.run('proof', 'verify', 'sign', '--all'), {
    code: 1,
    stdout: '',
    stderr: /is not verified: 1 of 2 tests failed: in/,
  })
  t.match(await cli.run('proof', 'verify', 'sign', id), {
    code: 0,
    stdout: /verified, does not support its claim/,
  })
  t.match(await cli.run('gate', 'sign'), { code: 4, stdout: /1 of 2 tests failed: in/ })
  t.match(await cli.run('resolve', 'sign'), { code: 4, stderr: /1 of 2 tests failed: in/ })
  t.match(await cli.run('list'), { stdout: /doesn't count: 1 of 2 tests failed: in/ })
  t.match(await cli.run('proof', 'verify', 'sign', '--all', '--accept', 'x'), { code: 2 })
  t.match(await cli.run('proof', 'verify', 'sign', id, '--accept', ' '), { code: 1 })
  const accepted = await cli.run('proof', 'verify', 'sign', id, '--accept', 'It is flaky.')
  t.match(accepted, { code: 0, stdout: /verified, 1 of 2 tests passed, accepted: It is flaky\./ })
  t.match(await cli.run('proof', 'list', 'sign'), { stdout: /accepted: It is flaky\./ })
  t.match(await cli.run('resolve', 'sign'), { code: 0 })
  t.match(await cli.run('export'), { stdout: /"content":"TAP.*"accepted":"It is flaky\."/ })
})

t.test('without its name, all proofs are shown, newest last', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door')
  t.match(await cli.run('proof', 'show', 'door'), { code: 0, stderr: /^no proof yet\nNext: / })
  for (const text of ['first', 'second']) await cli.run('proof', 'add', 'door', '--text', text)
  t.match(await cli.run('proof', 'show', 'door'), { code: 0, stdout: 'first\n\nsecond\n' })
  const { json } = await cli.run('proof', 'show', 'door', '--json')
  t.match(json, [{ content: /first/ }, { content: /second/ }])
})

t.test('the type of a case decides what a session does', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door', '-d', RUNBOOK)
  await cli.run('new', 'Window', '--type', 'investigation', '-d', RUNBOOK)
  t.match((await cli.run('start', 'door', '--json')).json, { type: 'implementing' })
  t.match((await cli.run('start', 'window', '--json')).json, { type: 'investigating' })
})

t.test('what needs a service is refused without one', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door', '-d', RUNBOOK)
  t.match(await cli.run('start', 'door', '--detach'), { code: 2, stderr: /running service/ })
  t.match(await cli.run('open', 'door', '--print'), { code: 1, stderr: /casefile serve/ })
  t.match(await cli.run('open', 'door', '--folder'), { code: 0, stdout: /memory\/cases\// })
})

t.test('a workspace is found', async (t) => {
  const cli = cliHere(t, { src: { deep: {} }, elsewhere: { memory: { cases: {} } } })
  t.test('from a folder below it', async (t) => {
    const cwd = join(cli.root, 'src', 'deep')
    t.match(await cli.runWith({ cwd }, 'list'), {
      code: 0,
      stderr: /no cases yet\nNext: casefile new/,
    })
  })
  t.test('by its cases alone, and the nearest one', async (t) => {
    const elsewhere = join(cli.root, 'elsewhere')
    await cli.runWith({ cwd: elsewhere }, 'new', 'There')
    t.match(await cli.run('list', '--root', elsewhere), { stdout: /There/ })
    t.match(await cli.run('list'), { stdout: '' })
  })
  t.test('or the command says how to make one, and makes nothing', async (t) => {
    const cwd = join(cli.root, '..')
    const before = readdirSync(cwd, { recursive: true })
    for (const args of [['list'], ['new', 'x'], ['list', '--root', cwd]]) {
      const said = await cli.runWith({ cwd }, ...args)
      t.match(said, { code: 1, stdout: '', stderr: /casefile\.md.*casefile init/ })
    }
    t.strictSame(readdirSync(cwd, { recursive: true }), before)
  })
})

t.test('a case with nothing to plan with', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  await cli.run('new', 'Red door')
  t.match(await cli.run('start', 'door'), {
    code: 1,
    stderr:
      /nothing to plan with[\s\S]*init --agent[\s\S]*init --tests[\s\S]*--run-tests[\s\S]*runbook\.md/,
  })
  t.match(await cli.run('start', 'door', '--json'), {
    code: 1,
    json: { code: 'bad_request', status: 400, detail: /nothing to plan with/, plans_from: null },
  })
  t.match(await cli.run('tail', 'door'), { code: 3 }, 'no session is made')
  t.match(await cli.run('start', 'door', '--run-tests'), { code: 1, stderr: /init --tests/ })
  writeFileSync(join(cli.root, 'casefile.md'), '---\ntests: echo tested\n---\n')
  t.match(await cli.run('start', 'door', '--run-tests'), { code: 0, stdout: /^▶ echo tested$/m })
  t.match(await cli.run('start', 'door'), { code: 0 }, 'it has a runbook.md now')
  t.match(await cli.run('start', 'door', '--run-tests', '--provider', 'x'), { code: 2 })
})

t.test('a name that fits', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  await cli.run('new', 'Red door')
  await cli.run('new', 'Red window', '-d', RUNBOOK)
  t.test('several cases lists them', async (t) => {
    const said = await cli.run('show', 'red')
    t.match(said, { code: 3, stderr: /"red" matches 2 cases[\s\S]*OPEN {2}Red/ })
    const { code, json } = await cli.run('show', 'red', '--json')
    t.match({ code, json }, { code: 3, json: { status: 404, candidates: [Object, Object] } })
  })
  t.test('none says where to look', async (t) => {
    t.match(await cli.run('gate', 'blue'), { code: 3, stderr: /casefile list --all/ })
    const id = 'c12d54ae-1933-4631-a05f-aecf75428827'
    t.match(await cli.run('gate', id), { code: 3 })
  })
  t.test('no session', async (t) => {
    t.match(await cli.run('tail', 'window'), { code: 3, stderr: /casefile start/ })
    await cli.run('start', 'window')
    t.match(await cli.run('tail', 'window', 'seventh'), {
      code: 3,
      stderr: /It has: 1 \(plan_ready\)/,
    })
    t.match(await cli.run('proof', 'verify', 'window', 'abc'), { code: 3, stderr: /proof add/ })
  })
})

t.test('what is wrong is told, with a code for it', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  const { json: made } = await cli.run('new', 'Door', '--json')
  const wrong: [args: string[], code: number, stderr: RegExp][] = [
    [['list', '--wrong'], 2, /unknown option '--wrong'/],
    [['start'], 2, /missing required argument 'case'/],
    [['approve', 'door'], 2, /--yes.*--sha/],
    [['proof', 'verify', 'door', 'a', '--all'], 2, /--all/],
    [['proof', 'add', 'door'], 2, /--artifact/],
    [
      ['proof', 'add', 'door', 'gone.txt'],
      1,
      /gone\.txt cannot be attached: the file does not exist/,
    ],
    [['note', 'door', ' '], 2, /blank/],
    [['list', '--needs', 'love'], 1, /needs: expected any, or some of plan/],
    [['state', 'door', 'shut'], 1, /state: got "SHUT", expected one of OPEN/],
    [['new', ''], 1, /title: expected a text, not only white space/],
    [['list', '--root', 'gone'], 1, /is not a folder/],
  ]
  for (const [args, code, stderr] of wrong) {
    t.test(args.join(' '), async (t) => {
      const { json, ...said } = await cli.run(...args, '--json')
      t.match({ ...said, json }, { code, stderr, json: { status: Number, detail: String } })
    })
  }
  t.equal((await cli.run('state', 'door', 'blocked', '--reason', 'Rain')).code, 0)
  t.match((await cli.run('show', made.id, '--json')).json, { state: 'BLOCKED', reason: 'Rain' })
})

t.test('a plan that cannot run is not offered for approval', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  await cli.run('new', 'Door', '-d', step('true', 'sh run timeout=soon'))
  const { stdout, stderr } = await cli.run('start', 'door')
  t.match(`${stdout}${stderr}`, /has a plan that cannot run\. Next, one of:/)
  t.notMatch(`${stdout}${stderr}`, 'run exactly this plan')
})

t.test('a session that fails gives its code', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  await cli.run('new', 'Door', '-d', step('echo no; exit 3'))
  await cli.run('start', 'door')
  t.match(await cli.run('approve', 'door', '--yes'), {
    code: 5,
    stdout: /✗ step-1 {2}exit 3[\s\S]*! failed/,
  })
  t.match(await cli.run('tail', 'door'), {
    code: 5,
    stdout: /│ no\n/,
    stderr:
      /session 1 failed: step step-1 exited with 3, expected 0 \(planned .* ran .*\)\. Next, one of:\n {2}casefile start \w+ --again 1 +plan again; once its steps are right\n/,
  })
  t.match(await cli.run('list', '--needs', 'failed'), {
    stdout: /session 1 failed: step step-1 exited with 3, expected 0/,
  })
  t.match(await cli.run('show', 'door'), {
    stdout: /failed {2}implementing .*planned .*, waited .*, ran /,
    stderr: /Next: casefile start \w+ --again\n/,
  })
  t.match(await cli.run('start', 'door', '--again', '--note', 'Oil it.', '--json'), { code: 0 })
  const { stdout: id } = await cli.run('open', 'door', '--folder')
  t.match(
    readFileSync(join(id.trim(), 'sessions/2.md'), 'utf8'),
    /session_created type=implementing provider=runbook again=1 note="Oil it\."/,
  )
  await cli.run('abandon', 'door')
  t.match(await cli.run('start', 'door', '--again'), {
    code: 1,
    stderr:
      /Session 2 is abandoned: only a session that failed, or that is complete and has comments, can/,
  })
  await cli.run('start', 'door')
  t.match(await cli.run('abandon', 'door', '3', '--reason', 'Rain'), { code: 0 })
  t.match(await cli.run('tail', 'door'), { code: 5, stdout: /! abandoned: Rain/ })
})

t.test('commands at once without a service all do their work, once', inLongLane, async (t) => {
  const cli = cliOn(t)
  const titles = ['five', 'four', 'one', 'six', 'three', 'two']
  const said = await Promise.all(titles.map((title) => cli.run('new', title)))
  t.strictSame(
    said.map(({ code, stderr }) => [code, /Next:/.test(stderr)]),
    titles.map(() => [0, true]),
    said.map(({ stderr }) => stderr).join(''),
  )
  const { json } = await cli.run('list', '--json')
  t.strictSame(json.map(({ title }: { title: string }) => title).sort(), titles)
})

t.test('a service waits for a command that is at work', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door', '-d', step('echo begun; while [ ! -e go ]; do sleep 0.05; done'))
  await cli.run('start', 'door')
  const approve = cli.apart.start('approve', 'door', '--yes')
  await approve.says(/│ begun/)
  const serve = cli.apart.start('serve', '--port', '0')
  await serve.says(/waiting for a command that is using this workspace/)
  writeFileSync(join(cli.root, 'go'), '')
  t.match(await approve.ended, { code: 0 })
  await serve.says(/Casefile is listening on/)
  serve.signal('SIGTERM')
  t.match(await serve.ended, { code: 0 })
})

t.test('a plan is edited with the editor of the person', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  await cli.run('new', 'Door', '-d', RUNBOOK)
  await cli.run('start', 'door')
  const edit = (EDITOR: string) =>
    cli.runWith({ env: { EDITOR, VISUAL: '' } }, 'plan', 'door', '--edit')
  t.match(await edit('true'), { code: 0, stderr: /the plan was not changed/ })
  t.match(await edit('false'), { code: 1, stderr: /The editor \(false\) ended with exit 1/ })
  t.match(await edit("sed -i 's/fine/better/'"), { code: 0, stdout: /▶ echo better/ })
  t.match(await cli.run('plan', 'door', '--diff'), { stdout: /^-echo fine\n\+echo better$/m })
  const wrong = await edit(`sed -i 's/sh run/cobol run/'`)
  t.match(wrong, { code: 1, stderr: /your text was saved in \S+\n.*line 3: .cobol/ })
  const [, kept = ''] = /was saved in (\S+)/.exec(wrong.stderr) ?? []
  t.ok(existsSync(kept))
})

t.test('a reader that has read enough is no error', async (t) => {
  const cli = cliHere(t)
  await cli.runWith({ input: 'Long.\n'.repeat(10_000) }, 'new', 'Door', '-d', '-')
  const show = cli.apart.start('show', 'door')
  await show.says(/Long/)
  show.closeOutput()
  t.match(await show.ended, { code: 0, stderr: /^\nNext: \S/ })
})

t.test('a checklist item, and the end of a case', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  const { json: made } = await cli.run('new', 'Door', '--json')
  t.match(await cli.run('item', 'door', 'It opens', '--required'), {
    code: 0,
    stdout: /✗ It opens \(test-log\)\nProof requirements are not met/,
  })
  const seen = ['item', 'door', 'Seen', '--type', 'screenshot', '--json']
  t.match((await cli.run(...seen)).json, { type: 'screenshot', required: false })
  t.match(
    readFileSync(join(cli.root, `memory/cases/${made.id}/case.md`), 'utf8'),
    '## Proof checklist\n\n- [ ] It opens (test-log, required)\n- [ ] Seen (screenshot)\n',
  )
  t.match(await cli.run('item', 'window', 'x'), { code: 3 })
  t.match(await cli.run('delete', 'door'), { code: 2, stderr: /which needs a terminal.*--yes/ })
  t.match(await cli.run('delete', 'door', '--json'), { code: 2 })
  t.match(await cli.run('list'), { stdout: /Door/ })
  t.match(await cli.run('delete', 'door', '--yes'), {
    code: 0,
    stdout: /^deleted {2}\w{8} {2}Door/,
  })
  t.notOk(existsSync(join(cli.root, `memory/cases/${made.id}`)))
  t.match(await cli.run('delete', 'door', '--yes'), { code: 3 })
})

t.test('the tests that failed are named below their count', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  const report = `not ok 1 - keeps the session\\n  ---\\n  message: got 401\\n  at: test/login.ts:12\\n  ...\\nok 2\\n1..2\\n`
  const description = step(`printf '${report}'; exit 1`, 'sh run id=test proof=tap')
  await cli.runWith({ input: description }, 'new', 'Sign-in fails', '-d', '-')
  await cli.run('start', 'sign-in')
  const named = / {2}✗ keeps the session {2}test\/login\.ts:12\n {4}got 401\n/.source
  const followed = new RegExp(`! 1 of 2 tests failed\\n${named}.*! failed`)
  t.match(await cli.run('approve', 'sign-in', '--yes'), { code: 5, stdout: followed })
  t.match(await cli.run('tail', 'sign-in'), { code: 5, stdout: followed })
  t.match(await cli.run('show', 'sign-in', '1'), {
    code: 0,
    stdout: new RegExp(`Tests {2}1 of 2 tests failed\\n${named}`),
  })
})

/** Agents without a model, in the place of those that are installed. */
function useFakeAgents(t: Test): void {
  const path = process.env.PATH
  process.env.PATH = `${FAKE_BIN}:${path}`
  t.teardown(() => {
    process.env.PATH = path
  })
}

t.test(
  'of an agent: the steps of its plan are counted, and what it was denied is shown',
  async (t) => {
    const cli = cliHere(t)
    useFakeAgents(t)
    const client = await cli.serve()
    const marks = '[[fake-plan good]] [[fake-work exit-0-denied]]'
    await cli.run('new', 'Door', '-d', marks)
    t.match(await cli.run('start', 'door', '--provider', 'claude'), {
      code: 0,
      stdout: /claude will carry out this plan\./,
    })
    const plan = `1. Oil it.\n\n${step('echo one', 'sh run id=one proof=log')}\n${step('echo two', 'sh run id=two proof=log')}`
    const { case_id, id } = (await cli.run('show', 'door', '1', '--json')).json
    await must(client, 'PUT', `/cases/${case_id}/sessions/${id}/plan`, { plan })
    const followed = await cli.run('approve', 'door', '--yes')
    const tail = await cli.run('tail', 'door')
    for (const { code, stdout } of [followed, tail]) {
      t.equal(code, 0)
      t.match(stdout, /▶ agent\n/, 'its own run is no step of the plan')
      t.match(stdout, /▶ one {2}sh, step 1 of 2\n[\s\S]*▶ two {2}sh, step 2 of 2\n/)
      t.match(stdout, /! denied: touch x: \S/)
    }
    t.match(tail.stdout, /▶ plan-agent\n/)
    t.match(
      tail.stdout,
      / used claude-opus-5-5, 1,200 tokens in \(200 cached\), 30 out, about \$0\.0046\n/,
    )

    const refused = /Denied {2}1 action was denied\n {2}✗ Bash touch x\n {4}\S/
    t.match(await cli.run('show', 'door', '1'), { code: 0, stdout: refused })
    const shown = await cli.run('show', 'door', '1', '--json')
    t.match(shown.json.refused, {
      plan: 0,
      work: 1,
      first: [{ mode: 'work', tool: 'Bash', action: 'touch x' }],
    })
    const page = `/case/${case_id}/session/1`
    const html = await (await fetch(client.url + page, { headers: { accept: 'text/html' } })).text()
    t.match(textOf(html, 'status'), /^Completed, but 1 action was denied\./)
    t.match(
      textOf(html, 'refused-actions'),
      /^Denied actions 1 action was denied ?\. Bash touch x \S/,
    )
  },
)

t.test('a plan whose agent acts on files that are not trusted', async (t) => {
  const cli = cliHere(t)
  useFakeAgents(t)
  await cli.serve()
  await cli.run('new', 'Door')
  await cli.run('start', 'door', '--provider', 'copilot')
  writeFileSync(join(cli.root, '.mcp.json'), '{}')
  t.match(await cli.run('plan', 'door'), {
    code: 0,
    stderr: /session 1 cannot be approved yet\. Next, one of:\n {2}casefile trust /,
    stdout:
      /It cannot be approved yet\. The provider copilot [\s\S]* \.mcp\.json[\s\S]*casefile\s+trust/,
  })
  t.match(await cli.run('approve', 'door', '--yes'), {
    code: 1,
    stderr: /\.mcp\.json \(not trusted\)/,
  })
})
