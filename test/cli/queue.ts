import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CLI } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { git, must, planned, reaches, step } from '../fixtures/session-client.ts'
import { needsTmux, openPane } from '../fixtures/tmux.ts'

t.test('approve --queue waits in line, and casefile queue shows and empties it', async (t) => {
  const cli = cliHere(t, { '.gitignore': 'go\n', 'code.txt': 'one\n' })
  const { root } = cli
  git(root, 'init', '-q')
  git(root, 'add', '.gitignore', 'code.txt')
  git(root, 'commit', '-qm', 'begin')
  mkdirSync(join(root, 'here'))
  const service = await cli.serve()
  const fields = { workdir: 'here', title: 'The first' }
  const runbook = step('until test -e go; do sleep 0.02; done; echo new > file.txt')
  const first = await planned(service, { runbook, fields })
  const second = await planned(service, {
    runbook: step('true'),
    fields: { ...fields, title: 'The second' },
  })
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')

  t.match(await cli.run('queue'), { code: 0, stdout: '', stderr: 'No session waits in line.\n' })
  t.match(await cli.run('approve', 'second', '--yes'), {
    code: 1,
    stderr: /Session 1 of “The first” works in this working folder\. [\s\S]*--queue/,
  })
  t.match(await cli.run('approve', 'second', '--yes', '--queue', '--detach'), {
    code: 0,
    stdout:
      /session 1 waits in line, after session 1 of “The first”\. Follow it with: casefile tail/,
  })
  t.match(await cli.run('queue'), {
    code: 0,
    stdout:
      /^The second {2}\w{8} {2}session 1 {2}place 1 {2}here {2}after session 1 of “The first”\n$/,
  })
  const listed = await cli.run('queue', '--json')
  t.match(JSON.parse(listed.stdout), [{ session_id: second.id, position: 1 }])
  t.match(await cli.run('queue', 'cancel', 'second'), {
    code: 0,
    stdout: 'session 1 is out of the line; nothing was run\n',
    stderr: /^Its plan waits: casefile approve \w{8} 1\n$/,
  })
  t.match(await cli.run('queue', 'cancel', 'second'), { code: 1, stderr: /not in line/ })

  const approving = cli.start('approve', 'second', '--yes', '--queue')
  await approving.says(/waits in line, after session 1 of “The first”/)
  writeFileSync(join(root, 'here/go'), '')
  const { code, stdout, stderr } = await approving.ended
  t.equal(code, 6)
  t.match(
    stdout,
    /the plan needs your approval: .*file\.txt changed while session 1 of “The first” worked\./,
  )
  t.match(stderr, /nothing was run: read the plan again/)
})

t.test(
  'approve asks whether to wait in line where the folder is not free',
  needsTmux,
  async (t) => {
    const cli = cliHere(t, { '.gitignore': 'go\n', 'code.txt': 'one\n' })
    git(cli.root, 'init', '-q')
    git(cli.root, 'add', '.gitignore', 'code.txt')
    git(cli.root, 'commit', '-qm', 'begin')
    const service = await cli.serve()
    const runbook = step('until test -e go; do sleep 0.02; done')
    const first = await planned(service, { runbook, fields: { title: 'Door' } })
    const second = await planned(service, { runbook: step('true'), fields: { title: 'Window' } })
    await must(service, 'POST', `${first.path}/approve`)
    await reaches(service, first, 'executing')
    const open = () =>
      openPane(t, `sleep 0.5; '${process.execPath}' '${CLI}' approve window`, {
        cwd: cli.root,
        env: { ...cli.env, NO_COLOR: '', TERM: 'xterm-256color' },
      })

    const refusing = open()
    await refusing.shows(/Approve this plan of session 1\? \[y\/N\]/)
    refusing.press('y', 'Enter')
    await refusing.shows(/Session 1 of “Door” works in[\s\S]*wait in line\?[\s\S]*\[y\/N\]/)
    refusing.press('n', 'Enter')
    await refusing.shows(/not approved; nothing was run[\s\S]*exit=6/)
    t.match(await must(service, 'GET', second.path), { state: 'plan_ready', queue: null })

    const waiting = open()
    await waiting.shows(/Approve this plan of session 1\? \[y\/N\]/)
    waiting.press('y', 'Enter')
    await waiting.shows(/wait in line\?[\s\S]*\[y\/N\]/)
    waiting.press('y', 'Enter')
    await waiting.shows(/waits in line, after session 1 of “Door”/)
    writeFileSync(join(cli.root, 'go'), '')
    await waiting.shows(/session 1 is complete[\s\S]*exit=0/)
    t.match(await must(service, 'GET', second.path), { state: 'complete' })
  },
)
