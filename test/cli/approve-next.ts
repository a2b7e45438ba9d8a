import t, { type Test } from 'tap'
import { CLI } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'
import { needsTmux, openPane } from '../fixtures/tmux.ts'

const QUICK = step('echo quick', 'sh run id=say')

async function scene(t: Test) {
  const cli = cliHere(t)
  const service = await cli.serve()
  const env = { ...cli.env, NO_COLOR: '', TERM: 'xterm-256color' }
  return {
    cli,
    service,
    plan: (title: string) => planned(service, { runbook: QUICK, fields: { title } }),
    open: (line: string, more = {}) =>
      openPane(t, `sleep 0.5; '${process.execPath}' '${CLI}' ${line}`, {
        cwd: cli.root,
        env: { ...env, ...more },
      }),
  }
}

t.test('in a terminal', needsTmux, async (t) => {
  t.test('plan after plan is asked about, and signalled when it comes', async (t) => {
    const { service, plan, open } = await scene(t)
    const first = await plan('Door')
    const pane = open('approve --next --bell')
    const written = pane.record()
    await pane.shows(/Door[\s\S]*Approve this plan of session 1\? \[y\/N\]/)
    pane.press('y', 'Enter')
    await pane.shows(/│ quick[\s\S]*Waiting for the next plan/)
    t.match(await must(service, 'GET', first.path), { state: 'complete' })
    t.notMatch(written(), /Door: The plan/, 'what waited before is no news')

    const second = await plan('Window')
    await pane.shows(/Window[\s\S]*\[y\/N\]/)
    t.match(written(), '\u001b]9;Casefile: Window: The plan of session 1 is ready\u0007\u0007')
    pane.press('n', 'Enter')
    await pane.shows(/not approved; nothing was run[\s\S]*Waiting for the next plan/)
    t.match(await must(service, 'GET', second.path), { state: 'plan_ready' })

    const third = await plan('Roof')
    await pane.shows(/Roof[\s\S]*\[y\/N\]/)
    pane.press('y', 'Enter')
    await reaches(service, third, 'complete')
    const shown = await pane.shows(/Waiting[\s\S]*Waiting[\s\S]*Waiting for the next plan/)
    t.equal(
      shown.match(/ {2}Window\n/g)?.length,
      1,
      'a plan that was not approved is not asked again',
    )
    pane.press('C-c')
    await pane.shows(/exit=130/)
  })

  t.test('tail signals what begins to wait, and a plain terminal gets no sequence', async (t) => {
    const { service, plan, open } = await scene(t)
    const ref = await plan('Door')
    const panes = [open('tail door'), open('tail door', { NO_COLOR: '1' })]
    const written = panes.map((pane) => pane.record())
    await Promise.all(panes.map((pane) => pane.shows(/waits for your approval/)))
    await Promise.all(panes.map((pane) => pane.shows(/plan written|plan_ready|plan is ready/)))
    await must(service, 'POST', `${ref.path}/approve`)
    await Promise.all(panes.map((pane) => pane.shows(/exit=0/)))
    const [rich, plain] = written.map((read) => read())
    t.match(rich, /\u001b\]9;Casefile: Door: Session 1 finished[^\u0007]*\u0007/)
    t.notMatch(rich, /The plan of session 1 is ready/)
    t.notMatch(plain, '\u001b]9;')
  })
})

t.test('without a terminal, or with the answer given, --next is a usage error', async (t) => {
  const { cli } = await scene(t)
  for (const [words, message] of [
    [['--next'], /--next asks about each plan, which needs a terminal/],
    [['--next', '--json'], /which needs a terminal/],
    [['--next', '--yes'], /cannot be used with --yes or --sha/],
    [['door', '--next'], /name no case/],
    [['--bell'], /--bell needs --next/],
  ] as const) {
    const { code, stdout, stderr } = await cli.run('approve', ...words)
    t.equal(code, 2)
    t.match(stdout + stderr, message)
  }
})
