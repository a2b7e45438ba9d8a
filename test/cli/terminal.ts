import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { CLI } from '../fixtures/cli.ts'
import { type CliHere, cliHere } from '../fixtures/cli-here.ts'
import {
  type Client,
  must,
  planned,
  type Ref,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { needsTmux, openPane } from '../fixtures/tmux.ts'

const QUICK = step('echo quick', 'sh run id=say')

interface Scene<S extends Client> {
  cli: CliHere
  service: S
  ref: Ref
  /** The session's file. */
  file: string
  open(commandLine: string): ReturnType<typeof openPane>
}

/** A service whose case "Door" has a session that waits for approval. */
async function waiting(t: Test, runbook: string): Promise<Scene<Client>> {
  const cli = cliHere(t)
  return scene(t, cli, await cli.serve(), runbook)
}

/** The same, with a service that can be stopped and started again. */
async function waitingApart(t: Test, runbook: string): Promise<Scene<BuiltService>> {
  const cli = cliHere(t)
  const folders = { root: cli.root, stateDir: cli.env.CASEFILE_STATE_DIR }
  return scene(t, cli, await startBuilt(t, folders), runbook)
}

async function scene<S extends Client>(
  t: Test,
  cli: CliHere,
  service: S,
  runbook: string,
): Promise<Scene<S>> {
  const ref = await planned(service, { runbook, fields: { title: 'Door' } })
  const env = { ...cli.env, NO_COLOR: '', TERM: 'xterm-256color' }
  return {
    cli,
    service,
    ref,
    file: join(cli.root, 'memory', 'cases', ref.case_id, 'sessions', '1.md'),
    open: (line) => openPane(t, `'${process.execPath}' '${CLI}' ${line}`, { cwd: cli.root, env }),
  }
}

t.test('in a terminal', needsTmux, async (t) => {
  t.test('a proof is shown before it is verified, and only if the answer is yes', async (t) => {
    const cli = cliHere(t)
    await cli.run('new', 'Door')
    await cli.run('item', 'door', 'All tests pass', '--type', 'test-log', '--required')
    const report = `TAP version 13\n1..20\n${Array.from({ length: 20 }, (_, n) => `ok ${n + 1} - t\n`).join('')}`
    await cli.run('proof', 'add', 'door', '--text', report)
    const env = { ...cli.env, NO_COLOR: '', TERM: 'xterm-256color' }
    const open = () =>
      openPane(t, `'${process.execPath}' '${CLI}' proof verify door`, { cwd: cli.root, env })
    const first = open()
    const asked = await first.shows(/Verify it\? \[y\/N\]/)
    t.match(asked, /test-log, not verified, 20 of 20 tests passed\nwould meet: All tests pass\n/)
    t.match(asked, /│ TAP version 13\n[\s\S]*… 10 more lines: casefile proof show/)
    first.press('n', 'Enter')
    await first.shows(/exit=6/)
    t.match((await cli.run('proof', 'list', 'door', '--json')).json, [{ verified: false }])
    const second = open()
    await second.shows(/Verify it\?/)
    second.press('y', 'Enter')
    t.match(await second.shows(/exit=0/), /Proof requirements are met/)
  })

  t.test('a report shows what a terminal would not', async (t) => {
    const cli = cliHere(t)
    await cli.run('new', 'Door', '--description', 'a\x1b]0;b\x07\u202e 10\u00a0000')
    t.match((await cli.run('report', 'door', '--md')).stdout, '10\u00a0000')
    const env = { ...cli.env, NO_COLOR: '', TERM: 'xterm-256color' }
    const line = `'${process.execPath}' '${CLI}' report door --md`
    const pane = openPane(t, line, { cwd: cli.root, env })
    t.match(await pane.shows(/exit=0/), 'a␛]0;b␇[U+202E] 10\\u{a0}000')
  })

  t.test('a plan is approved at the prompt, and its run is told', async (t) => {
    const { service, ref, open } = await waiting(t, QUICK)
    const pane = open('approve door')
    t.match(await pane.shows(/Approve this plan of session 1\? \[y\/N\]/), /▶ echo quick/)
    pane.press('y', 'Enter')
    const shown = await pane.shows(/exit=\d/)
    t.match(shown, /▶ say {2}sh, step 1 of 1\n +│ quick\n.*✓ say {2}exit 0[\s\S]*exit=0/)
    t.match(await must(service, 'GET', ref.path), { state: 'complete' })
  })

  t.test('anything but yes is no', async (t) => {
    const { service, ref, open } = await waiting(t, QUICK)
    const pane = open('approve door')
    await pane.shows(/\[y\/N\]/)
    pane.press('n', 'Enter')
    await pane.shows(/not approved; nothing was run\s+exit=6/)
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
  })

  t.test('a plan that changed meanwhile is shown and asked for anew', async (t) => {
    const { service, ref, file, open } = await waiting(t, QUICK)
    const pane = open('approve door')
    await pane.shows(/\[y\/N\]/)
    writeFileSync(file, readFileSync(file, 'utf8').replace('echo quick', 'echo other'))
    pane.press('y', 'Enter')
    const asked = await pane.shows(/was not approved; this is the new one[\s\S]*\[y\/N\]/)
    t.match(asked, /-echo quick\n\+echo other[\s\S]*▶ echo other/)
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
    pane.press('y', 'Enter')
    t.match(await pane.shows(/exit=\d/), /│ other\n[\s\S]*exit=0/)
  })

  t.test('tail goes on over a restart of the service', async (t) => {
    const { service, ref, open } = await waitingApart(t, QUICK)
    const pane = open('tail door')
    await pane.shows(/waits for your approval\. Next: casefile approve/)
    await service.stop()
    await pane.shows(/service unreachable, retrying…/)
    await service.restart()
    await pane.shows(/the service is back/)
    await must(service, 'POST', `${ref.path}/approve`)
    const shown = await pane.shows(/exit=\d/)
    t.match(shown, /│ quick\n[\s\S]*✓ complete\nsession 1 is complete\nexit=0/)
    t.equal(shown.match(/session created/g)?.length, 1, 'nothing is told twice')
  })

  t.test('Ctrl-C ends the tail, and not the session', async (t) => {
    const { service, ref, open } = await waiting(t, step('echo begun; exec sleep 100'))
    await must(service, 'POST', `${ref.path}/approve`)
    const pane = open('tail door')
    await pane.shows(/step 1 of 1 {2}step-1 {2}0:0\d/)
    pane.press('C-c')
    await pane.shows(/session 1 keeps running[\s\S]*exit=130/)
    t.match(await must(service, 'GET', ref.path), { state: 'executing' })
    await must(service, 'POST', `${ref.path}/abandon`)
  })
})

t.test('without a service, an interrupted run ends as at the stop of one', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door', '-d', step('echo begun; exec sleep 100'))
  await cli.run('start', 'door')
  const run = cli.apart.start('approve', 'door', '--yes')
  await run.says(/│ begun/)
  run.signal('SIGINT')
  t.match(await run.ended, { code: 130, stderr: /interrupted; sessions that this command ran/ })
  t.match((await cli.run('show', 'door', '1', '--json')).json, { state: 'failed' })
})

t.test('approving by a hash', async (t) => {
  const { cli, service, ref, file } = await waiting(t, QUICK)
  const { plan_sha256 } = await must(service, 'GET', ref.path)
  t.test('of another text is refused', async (t) => {
    const { code, json } = await cli.run('approve', 'door', '--sha', 'a'.repeat(64), '--json')
    t.match({ code, json }, { code: 1, json: { code: 'plan_changed' } })
    t.match(readFileSync(file, 'utf8'), /^state: plan_ready$/m)
  })
  t.test('of this text runs, and may be left alone', async (t) => {
    const said = await cli.run('approve', 'door', '--sha', plan_sha256, '--detach')
    t.match(said, { code: 0, stdout: /session 1 is running\. Follow it with: casefile tail/ })
    await reaches(service, ref, 'complete')
  })
})

t.test('a session that dies with its service is told to have failed', async (t) => {
  const { cli, service, ref } = await waitingApart(
    t,
    step('while true; do echo begun; sleep 0.2; done'),
  )
  await must(service, 'POST', `${ref.path}/approve`)
  const tail = cli.start('tail', 'door')
  await tail.says(/│ begun/)
  await service.restart()
  t.match(await tail.ended, { code: 5, stdout: /! failed: /, stderr: /session 1 failed: / })
})

t.test('a session that is followed late is told with what it printed before', async (t) => {
  const lines = 'seq 1 20000; while [ ! -e go ]; do sleep 0.05; done; seq 20001 20010'
  const { cli, service, ref } = await waiting(t, step(lines))
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, '\n20000\n')
  const tail = cli.start('tail', 'door')
  await tail.says(/│ 20000$/m)
  writeFileSync(join(cli.root, 'go'), '')
  const { stdout } = await tail.ended
  t.match(
    stdout,
    /step 1 of 1\n +│ … \d+\.\d KiB omitted; full output in artifacts\/1-step-1\.log\n/,
  )
  const reported = [...stdout.matchAll(/│ (\d+)$/gm)].map(([, line]) => Number(line))
  const first = reported[0] ?? 0
  t.strictSame(
    reported,
    Array.from({ length: 20_011 - first }, (_, index) => first + index),
  )
  t.ok(reported.length > 5000 && reported.length < 20_000)
  events.close()
})
