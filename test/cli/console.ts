import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { FAKE_BIN } from '../fixtures/agents/contract-subjects.ts'
import { cliOn } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'

const RUNBOOK = step('echo fine', 'sh run id=say proof=log')

t.test('with a running service', async (t) => {
  const cli = cliHere(t, { tmp: {} })
  const service = await cli.serve()

  await t.test('the whole job is done by commands', async (t) => {
    const description = `Mend it.\n\n${RUNBOOK}`
    const create = ['new', 'Sign-in fails', '--tag', 'auth,web', '-d', '-', '--json']
    const made = await cli.runWith({ input: description }, ...create)
    t.match(made, { code: 0, stderr: '' })
    t.match(made.json, { title: 'Sign-in fails', type: 'bug', tags: ['auth', 'web'], description })
    const id: string = made.json.id
    t.match(await cli.run('session', 'watch', id), {
      code: 3,
      stderr: /no session yet\. Start one/,
    })

    const started = await cli.run('start', 'sign-in')
    t.match(started, { code: 0, stdout: /^▶ echo fine$[\s\S]*^Run by Casefile: say \(sh\)$/m })
    t.match(started.stderr, /casefile approve [0-9a-f]{8} 1\n/)
    t.match((await cli.run('show', id)).stderr, `\nNext: casefile approve ${id.slice(0, 8)} 1\n`)

    t.match(await cli.run('list', '--needs', 'plan'), {
      stderr: '1 needs you\n',
      stdout:
        /^[0-9a-f-]{36}\tNeeds you\tPLANNING\t\tSign-in fails\tbug\tthe plan of session 1 waits .*\t\d{4}-.*Z\n$/,
    })
    t.match(await cli.run('resolve', id.slice(0, 8), '--outcome', 'fixed'), {
      code: 4,
      stderr: /Missing:\n {2}at least one[\s\S]*casefile approve \w{8} 1$/m,
    })
    const shut = await cli.run('resolve', id, '--outcome', 'fixed', '--json')
    t.match(shut, { code: 4, json: { code: 'proof_gate', missing: [String] } })

    const approved = await cli.run('approve', 'fails', '--yes')
    t.match(approved, { code: 0, stdout: /▶ say {2}sh, step 1 of 1\n +│ fine\n.*✓ say {2}exit 0/ })
    t.match(approved.stderr, /prove add [0-9a-f]{8} --artifact 1-say\.log\n/)

    const tail = await cli.run('session', 'watch', id, 'latest', '--json')
    const events = tail.stdout.trimEnd().split('\n')
    t.equal(tail.code, 0)
    t.strictSame(Object.keys(JSON.parse(events[0]!)), ['event_type', 'timestamp', 'payload'])
    t.match(JSON.parse(events.at(-1)!), { event_type: 'session_completed' })
    t.match(await cli.run('session', 'watch', id, '9999'), {
      code: 3,
      stderr: /It has: 1 \(complete\)/,
    })

    t.match(await cli.run('prove', id), {
      code: 4,
      stdout: /Proof requirements are not met\. Missing:\n {2}at least/,
      stderr: /Next: casefile prove add \w{8} --artifact 1-say\.log\n/,
    })
    t.match(await cli.run('session', 'stop', id), { code: 2, stderr: /complete, so nothing runs/ })
    const proof = await cli.run('prove', 'add', id, '--artifact', '1-say.log', '--json')
    t.match(proof, { code: 0, json: { verified: false, type: 'log', content: /fine/ } })
    t.match((await cli.run('show', id)).stderr, /Next:[\s\S]*prove verify/)
    t.match(await cli.run('prove', 'verify', id), { code: 2, stderr: /use --yes/ })
    t.match((await cli.run('prove', 'list', id)).stdout, /not verified/)
    const short = proof.json.id.slice(0, 8)
    t.match(await cli.run('prove', 'verify', id, short, '--yes'), { code: 0 })
    t.match(await cli.run('prove', 'verify', id, '--all'), {
      code: 0,
      stderr: /no proof to verify/,
    })
    t.match(await cli.run('prove', 'list', id), { stdout: /^[0-9a-f]{8} {2}log {2}verified/ })
    t.match(await cli.run('prove', id), {
      code: 0,
      stdout: /the case can be resolved/,
      stderr: `\nProof requirements are met. The case can be resolved.\nNext: casefile resolve ${id.slice(0, 8)}\n`,
    })
    t.match((await cli.run('show', id)).stderr, `\nNext: casefile resolve ${id.slice(0, 8)}\n`)
    t.match(await cli.run('comment', id, 'It', 'was the clock.'), { code: 0 })
    t.match(await cli.run('resolve', id, '--outcome', 'ConfirmedCodeBug', '--reason', 'Mended'), {
      code: 0,
      stdout: /RESOLVED/,
    })
    t.match(await cli.run('list'), {
      stdout: '',
      stderr: /no open case\n1 closed case, with --all/,
    })
    t.match(await cli.run('list', '--state', 'RESOLVED'), { stdout: /^\S+\tDone\t/, stderr: '' })
    const shown = await cli.run('show', id)
    t.match(shown, {
      code: 0,
      stderr: /^\nResolved\. Nothing is left to do\. Mended\n$/,
      stdout: /outcome +ConfirmedCodeBug\nreason +Mended[\s\S]*It was the clock/,
    })
    t.equal((await cli.run('prove', id)).stderr, '\nResolved. Nothing is left to do. Mended\n')
    t.match((await cli.run('show', id, '1', '--json')).json, { number: 1, state: 'complete' })
    t.match(await cli.run('open', 'sign', '--print'), {
      stdout: `${service.url}/case/${id}\n`,
    })
    t.match(await cli.run('open', '--print'), { stdout: `${service.url}/\n` })
  })

  await t.test('a session that fails names the tests that did, and is planned again', async (t) => {
    const report = `not ok 1 - keeps the session\\n  ---\\n  message: got 401\\n  at: test/login.ts:12\\n  ...\\nok 2\\n1..2\\n`
    const description = step(`printf '${report}'; exit 3`, 'sh run id=test proof=tap')
    await cli.runWith({ input: description }, 'new', 'Door', '-d', '-')
    await cli.run('start', 'door', '--note', 'Oil it.')
    const named = / {2}✗ keeps the session {2}test\/login\.ts:12\n {4}got 401\n/.source
    const followed = new RegExp(
      `│ ok 2\n[\\s\\S]*✗ test {2}exit 3[\\s\\S]*! 1 of 2 tests failed\\n${named}.*! failed`,
    )
    t.match(await cli.run('approve', 'door', '--yes'), { code: 5, stdout: followed })
    t.match(await cli.run('session', 'watch', 'door'), {
      code: 5,
      stdout: followed,
      stderr:
        /Session 1 failed: step test exited with 3, expected 0; 1 of 2 tests failed\. The plan came from .*: fix that first\. \(planned .* ran .*\)\nNext: casefile start \w+ --again\n/,
    })
    t.match(await cli.run('list', '--needs', 'failed'), {
      stdout: /session 1 failed: step test exited with 3, expected 0/,
    })
    t.match(await cli.run('show', 'door', '1'), {
      code: 0,
      stdout:
        /│ - `keeps the session` \(`test\/login\.ts:12`\): `got 401`\n[\s\S]*Tests {2}1 of 2 tests failed\n(?! {2}✗)/,
    })
    t.match(await cli.run('show', 'door'), {
      stdout: /failed {2}implementing .*planned .*, waited .*, ran /,
      stderr: /Next: casefile start \w+ --again\n/,
    })
    const again = ['start', 'door', '--again', '--note', 'Oil it.', '--json']
    t.match((await cli.run(...again)).json, { number: 2, state: 'plan_ready' })
    const { stdout } = await cli.run('open', 'door', '--folder')
    t.match(
      readFileSync(join(stdout.trim(), 'sessions/2.md'), 'utf8'),
      /session_created type=implementing provider=runbook again=1 note="Oil it\."/,
    )
    t.match(await cli.run('session', 'stop', 'door'), {
      code: 0,
      stdout: 'session 2 is abandoned\n',
      stderr: /Nothing runs or waits now\. .*\nNext: casefile start \w{8}\n$/,
    })
    t.match(await cli.run('start', 'door', '--again'), {
      code: 1,
      stderr:
        /Session 2 is abandoned: only a session that failed, or that is complete and has comments, can/,
    })
    t.match((await cli.run('start', 'door', '--again', '1', '--json')).json, { number: 3 })
    t.match(await cli.run('session', 'stop', 'door', '3', '--reason', 'Rain'), { code: 0 })
    t.match(await cli.run('session', 'watch', 'door'), { code: 5, stdout: /! abandoned: Rain/ })
    t.match((await cli.run('start', 'door', '--detach', '--json')).json, { number: 4 })
    const latest = await cli.run('show', 'door', 'latest', '--json')
    t.match(latest.json, { number: 4, type: 'implementing' })
    t.match((await cli.run('show', 'door', latest.json.id.slice(0, 8), '--json')).json, {
      number: 4,
    })
    const ref = { path: `/cases/${latest.json.case_id}/sessions/${latest.json.id}` }
    t.match(await must(service, 'GET', ref.path), { number: 4 })
  })

  await t.test('a plan is edited with the editor of the person', async (t) => {
    const ref = await planned(service, { runbook: RUNBOOK, fields: { title: 'Roof' } })
    const TMPDIR = join(cli.root, 'tmp')
    const edit = (EDITOR: string) =>
      cli.runWith({ env: { EDITOR, VISUAL: '', TMPDIR } }, 'session', 'plan', 'roof', '--edit')
    const savedIn = ({ stderr }: { stderr: string }) => /was saved in (\S+)/.exec(stderr)?.[1] ?? ''
    t.match(await edit('true'), { code: 0, stderr: /the plan was not changed/ })
    t.match(await edit('false'), { code: 1, stderr: /The editor \(false\) ended with exit 1/ })
    t.strictSame(readdirSync(TMPDIR), [], 'with nothing written nothing is left')

    const listeners = () => [process.listeners('SIGINT'), process.listeners('SIGQUIT')]
    const before = listeners()
    const keys = `kill -INT ${process.pid}; kill -QUIT ${process.pid}`
    const said = await edit(`${keys}; sed -i 's/fine/better/'`)
    t.match(said, { code: 0, stdout: /▶ echo better/ }, 'Ctrl-C is for the editor alone')
    t.strictSame(listeners(), before)
    t.match(await cli.run('session', 'plan', 'roof', '--diff'), {
      stdout: /^-echo fine\n\+echo better$/m,
    })
    t.match((await cli.run('session', 'plan', 'roof', '--diff', '--json')).json, { length: 2 })
    t.match(await cli.run('session', 'plan', 'roof', '--diff', '--edit'), { code: 2 })

    const failed = await edit('after() { sed -i s/better/best/ "$1"; return 3; }; after')
    t.match(failed, { code: 1, stderr: /ended with exit 3/ })
    t.match(readFileSync(savedIn(failed), 'utf8'), /^echo best$/m)
    const killed = await edit('die() { echo best > "$1.swp"; kill -KILL $$; }; die')
    t.match(killed, { code: 1, stderr: /was stopped by SIGKILL/ })
    t.strictSame(readdirSync(savedIn(killed)).sort(), ['plan.md', 'plan.md.swp'])
    const latin = await edit('die() { printf \'\\374\\n\' > "$1"; }; die')
    t.match(latin, { code: 1, stderr: /did not save UTF-8 text \(line 1\)/ })
    t.equal(readdirSync(dirname(savedIn(latin))).length, 1)
    const wrong = await edit(`sed -i 's/sh run/cobol run/'`)
    t.match(wrong, { code: 1, stderr: /your text was saved in \S+\n.*line 1: .cobol/ })
    t.ok(existsSync(savedIn(wrong)))

    // a save of somebody else in the meantime is not overwritten
    const path = join(cli.root, 'memory/cases', ref.case_id, 'sessions/1.md')
    const both = `both() { sed -i s/better/theirs/ ${path}; sed -i s/better/mine/ "$1"; }; both`
    t.match(await edit(both), { code: 1, stderr: /your text was saved in/ })
    t.match(readFileSync(path, 'utf8'), /^echo theirs$/m)

    const runbook = step('echo other', 'sh run id=say')
    await service.request('PUT', `/cases/${ref.case_id}/memory/runbook.md`, runbook)
    await cli.run('revise', 'roof', '-m', 'One.\nTwo.')
    await reaches(service, ref, 'plan_ready')
    t.match(await cli.run('session', 'plan', 'roof', '--diff'), {
      stdout: /^One\.\nTwo\.\n\n[\s\S]*^\+echo other$/m,
    })
  })

  await t.test('a plan that cannot run is not offered for approval', async (t) => {
    await cli.run('new', 'Odd', '-d', step('true', 'sh run timeout=soon'))
    const odd = await cli.run('start', 'odd')
    t.match(odd.stderr, /1 mistake in its steps\. .*\nNext: casefile session plan \w{8} 1 --edit\n/)
    t.notMatch(odd.stdout + odd.stderr, 'casefile approve')
  })

  await t.test('a plan whose agent acts on files that are not trusted', async (t) => {
    useFakeAgents(t)
    const ref = await planned(service, { runbook: RUNBOOK, fields: { title: 'Pilot' } })
    const sessions = join(cli.root, 'memory/cases', ref.case_id, 'sessions')
    // as another machine planned it
    const text = readFileSync(join(sessions, '1.md'), 'utf8')
      .replaceAll(ref.id, '77777777-7777-4777-8777-777777777777')
      .replace('number: 1', 'number: 2')
      .replaceAll(/provider(: |=)runbook/g, 'provider$1copilot')
      .replace(/^`{4}[\s\S]*?^`{4}$/m, '1. Oil it.')
    writeFileSync(join(sessions, '2.md'), text)
    writeFileSync(join(cli.root, '.mcp.json'), '{}')
    t.match(await cli.run('session', 'plan', 'pilot'), {
      code: 0,
      stderr:
        /The plan can't be approved yet\. The provider copilot .*\nNext: casefile doctor --trust\n/,
      stdout:
        /It cannot be approved yet\. The provider copilot [\s\S]* \.mcp\.json[\s\S]*casefile\s+doctor\s+--trust/,
    })
    t.match(await cli.run('approve', 'pilot', '--yes'), {
      code: 1,
      stderr: /\.mcp\.json \(not trusted\)/,
    })
    const asked = await cli.runWith({ answers: [[/\[y\/N\]/, 'y']] }, 'approve', 'pilot')
    t.match(asked, { code: 1, unasked: [RegExp], stderr: /cannot be approved yet/ })
  })

  await t.test('a case with nothing to plan with', async (t) => {
    t.match(await cli.run('new', 'Bare'), {
      stderr: /write one[\s\S]*Next: casefile open \w+ --edit\n.*casefile start --help/,
    })
    t.match(await cli.run('start', 'bare'), {
      code: 1,
      stderr:
        /nothing to plan with[\s\S]*init --agent[\s\S]*init --tests[\s\S]*--run-tests[\s\S]*open \w{8} --edit/,
    })
    t.match(await cli.run('start', 'bare', '--json'), {
      code: 1,
      json: { code: 'bad_request', status: 400, detail: /nothing to plan with/, plans_from: null },
    })
    t.match(await cli.run('session', 'watch', 'bare'), { code: 3 }, 'no session is made')
    t.match(await cli.run('start', 'bare', '--run-tests'), { code: 1, stderr: /init --tests/ })
    writeFileSync(join(cli.root, 'casefile.md'), '---\ntests: echo tested\n---\n')
    t.match((await cli.run('start', 'bare')).stderr, /start \w{8} --run-tests .*\(echo tested\)/)
    t.match(await cli.run('start', 'bare', '--run-tests'), { code: 0, stdout: /^▶ echo tested$/m })
    // it has a runbook.md now, whose plan waits
    const waits =
      /session 1 waits already.*approve \w{8} 1\..*revise \w{8} 1\..*session stop \w{8} 1\n/
    t.match(await cli.run('start', 'bare'), { code: 1, stderr: waits })
    t.match(await cli.run('start', 'bare', '--type', 'verifying'), { code: 0 })
    t.match(await cli.run('start', 'bare', '--run-tests', '--provider', 'x'), { code: 2 })
    t.match(await cli.run('start', 'bare', '--run-tests', '--again'), { code: 2 })
  })
})

t.test('a service waits for a command that is at work', inLongLane, async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door', '-d', step('echo begun; while [ ! -e go ]; do sleep 0.1; done'))
  await cli.run('start', 'door')
  const approve = cli.start('approve', 'door', '--yes')
  await approve.says(/│ begun/)
  const serve = cli.apart.start('serve', '--port', '0')
  await serve.says(/waiting for a command that is using this workspace/)
  writeFileSync(join(cli.root, 'go'), '')
  t.match(await approve.ended, { code: 0 })
  await serve.says(/Casefile is listening on/)
  serve.signal('SIGTERM')
  t.match(await serve.ended, { code: 0 })
})

t.test('a reader that has read enough is no error', inLongLane, async (t) => {
  const cli = cliHere(t)
  await cli.runWith({ input: 'Long.\n'.repeat(10_000) }, 'new', 'Door', '-d', '-')
  const show = cli.apart.start('show', 'door')
  await show.says(/Long/)
  show.closeOutput()
  t.match(await show.ended, { code: 0, stderr: /^\nThere is nothing .*\nNext: \S/ })
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

/** Agents without a model, in the place of those that are installed. */
function useFakeAgents(t: Test): void {
  const path = process.env.PATH
  process.env.PATH = `${FAKE_BIN}:${path}`
  t.teardown(() => {
    process.env.PATH = path
  })
}
