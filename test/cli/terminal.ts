import { writeFileSync } from 'node:fs'
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
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { needsTmux, openPane } from '../fixtures/tmux.ts'

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

t.test('Ctrl-C ends the watch, and not the session', needsTmux, async (t) => {
  const { service, ref, open } = await waiting(t, step('echo begun; exec sleep 100'))
  await must(service, 'POST', `${ref.path}/approve`)
  const pane = open('session watch door')
  await pane.shows(/step 1 of 1 {2}step-1 {2}0:0\d/)
  pane.press('C-c')
  await pane.shows(/session 1 keeps running[\s\S]*exit=130/)
  t.match(await must(service, 'GET', ref.path), { state: 'executing' })
  await must(service, 'POST', `${ref.path}/abandon`)
})

t.test('a key approves only with Enter, and only what is shown', needsTmux, async (t) => {
  const { service, ref, open } = await waiting(t, step('true'))
  const pane = open('session watch door')
  pane.press('y', 'Enter')
  await pane.shows(/Approve this plan of session 1\? \[y\/N\]/)
  await must(service, 'PUT', `${ref.path}/plan`, { plan: step('echo other') })
  pane.press('y')
  await pane.shows(/echo other[\s\S]*Approve this plan of session 1\? \[y\/N\]/)
  pane.press('n', 'Enter')
  const end = await pane.shows(/nothing was run/)
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' }, end)
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

t.test('a session that dies with its service has failed', async (t) => {
  const { cli, service, ref } = await waitingApart(
    t,
    step('while true; do echo begun; sleep 0.2; done'),
  )
  await must(service, 'POST', `${ref.path}/approve`)
  const watch = cli.start('session', 'watch', 'door')
  await watch.says(/│ begun/)
  await service.restart()
  t.match(await watch.ended, { code: 5, stdout: /! failed: /, stderr: /Session 1 failed: / })
})

t.test('a session that is watched late begins with what it printed before', async (t) => {
  const lines = 'seq 1 20000; while [ ! -e go ]; do sleep 0.05; done; seq 20001 20010'
  const { cli, service, ref } = await waiting(t, step(lines))
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, '\n20000\n')
  const watch = cli.start('session', 'watch', 'door')
  await watch.says(/│ 20000$/m)
  writeFileSync(join(cli.root, 'go'), '')
  const { stdout } = await watch.ended
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
