import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { CLI, cliOn } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { must, step } from '../fixtures/session-client.ts'
import { needsTmux, openPane } from '../fixtures/tmux.ts'

t.test('a case is edited', async (t) => {
  const cli = cliHere(t)
  const { json: made } = await cli.run('new', 'Door', '--tag', 'old', '--json')
  const { json: parent } = await cli.run('new', 'House', '--json')
  t.test('by options', async (t) => {
    const args = ['--title', 'Red door', '--type', 'feature', '--tag', 'a,b', '--parent', 'house']
    t.match(await cli.run('edit', 'door', ...args), { code: 0, stdout: /OPEN {2}Red door\n$/ })
    const { json } = await cli.run('show', made.id, '--json')
    t.match(json, { title: 'Red door', type: 'feature', tags: ['a', 'b'], parent: parent.id })
    t.match(await cli.run('edit', 'red', '--parent', '', '--tag', '', '--json'), {
      json: { parent: null, tags: [] },
    })
  })
  t.test('with a description from standard input', async (t) => {
    const input = 'It sticks.\n'
    t.match(await cli.runWith({ input }, 'edit', 'red', '-d', '-', '--json'), {
      json: { description: input.trimEnd() },
    })
  })
  t.test('in the editor', async (t) => {
    const env = { EDITOR: 'change() { echo "It creaks." > "$1"; }; change', VISUAL: '' }
    t.match(await cli.runWith({ env }, 'edit', 'red', '--json'), {
      json: { description: 'It creaks.' },
    })
    t.match(await cli.runWith({ env: { ...env, EDITOR: 'true' } }, 'edit', 'red'), {
      stderr: /the description was not changed/,
    })
  })
  t.test('not with what is wrong', async (t) => {
    t.match(await cli.run('edit', 'red', '--title', ''), { code: 1, stderr: /title/ })
    t.match(await cli.run('edit', 'nothing', '--title', 'x'), { code: 3 })
  })
})

t.test('a new case says what would prove it, and is planned', async (t) => {
  const cli = cliHere(t)
  const proved = ['--prove', 'All tests pass', '--prove', 'Looks right (screenshot, optional)']
  const { json: made } = await cli.run('new', 'Door', ...proved, '--json')
  t.match(await cli.run('gate', 'door', '--json'), {
    json: {
      open: false,
      items: [
        { description: 'All tests pass', type: 'test-log', required: true },
        { description: 'Looks right', type: 'screenshot', required: false },
      ],
    },
  })
  t.match(await cli.run('show', made.id, '--json'), { json: { sessions: [] } })
  t.test('--plan starts a session and waits for its plan', async (t) => {
    const plan = ['-d', step('echo fine', 'sh run id=say'), '--plan']
    const said = await cli.run('new', 'Red door', ...plan, '--prove', 'It opens (log)')
    t.match(said, { code: 0, stdout: /^[0-9a-f-]{36} {2}Red door\n[\s\S]*echo fine/ })
    t.match(await cli.run('show', 'red', '--json'), {
      json: { state: 'PLANNING', sessions: [{ state: 'plan_ready', type: 'implementing' }] },
    })
  })
  t.test('with --json, stdout is what start prints', async (t) => {
    const plan = ['-d', step('echo fine', 'sh run id=say'), '--plan', '--json']
    const said = await cli.run('new', 'Blue door', ...plan)
    t.match(said, { code: 0, json: { state: 'plan_ready' }, stderr: /Blue door/ })
  })
  t.test('an empty requirement adds no item', async (t) => {
    t.match(await cli.run('new', 'Open door', '--prove', ' '), { code: 0 })
    t.strictSame((await cli.run('gate', 'open door', '--json')).json.items, [])
  })
})

t.test('a case is deleted by who says so', async (t) => {
  const cli = cliHere(t)
  const { json: made } = await cli.run('new', 'Door', '--json')
  t.match(await cli.run('delete', 'door'), { code: 2, stderr: /--yes/ })
  t.match(await cli.run('delete', 'door', '--yes', '--json'), { code: 0, json: { deleted: true } })
  t.match(await cli.run('show', made.id), { code: 3 })
})

t.test('webhooks are managed', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  let status = 204
  const receiver = createServer((_, response) => response.writeHead(status).end())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.teardown(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await cli.run('new', 'Door')

  const added = await cli.run('webhook', 'add', url, '--json')
  t.match(added, { code: 0, json: { url, events: ['*'], active: true, secret: String } })
  const name = added.json.id.slice(0, 8)
  t.match(await cli.run('webhook', 'list'), { stdout: new RegExp(`^${name} {2}active {2}`) })
  t.match(await cli.run('webhook', 'test', name), { code: 0, stdout: /^delivered: status 204/ })
  status = 500
  t.match(await cli.run('webhook', 'test', name), { code: 1, stdout: /^not delivered: status 500/ })
  t.match(await cli.run('webhook', 'deliveries', name), { code: 0 })
  t.match(await cli.run('webhook', 'edit', name, '--pause', '--event', 'case_created'), {
    stdout: /events +case_created\nstatus +paused/,
  })
  t.notMatch(await cli.run('webhook', 'show', name, '--json'), { json: { secret: String } })
  t.match(await cli.run('webhook', 'remove', name), { stdout: /^removed/ })
  t.match(await cli.run('webhook', 'list'), { stdout: '', stderr: /casefile webhook add/ })
  t.match(await cli.run('webhook', 'show', name), { code: 3, stderr: /There is none/ })

  const input = 'a secret\n'
  const ofCase = ['--case', 'door', '--secret', '-', '--json']
  const own = await cli.runWith({ input }, 'webhook', 'add', url, ...ofCase)
  t.notMatch(own.json, { secret: String }, 'a secret that was given is not shown')
  t.match(await cli.run('webhook', 'list', '--case', 'door', '--json'), { json: [{ url }] })
})

t.test('without a case', async (t) => {
  const cli = cliHere(t)
  const service = await cli.serve()
  t.match(await cli.run('approve'), { code: 2, stderr: /No case has a plan to approve/ })
  for (const title of ['Red door', 'Blue door']) {
    await cli.run('new', title, '-d', step('echo fine', 'sh run id=say'))
    await cli.run('start', title)
  }
  t.test('what waits is listed, and how to name it', async (t) => {
    for (const args of [['approve'], ['plan']]) {
      const said = await cli.run(...args)
      t.match(said, { code: 2, stderr: new RegExp(`casefile ${args[0]} <case>`) })
      t.match(said.stderr, /^ {2}[0-9a-f]{8} {2}\w+ {2}Red door$/m)
    }
    t.match(await cli.run('tail'), { code: 2, stderr: /No case has a running session/ })
  })
  t.test('a person chooses in the terminal', needsTmux, async (t) => {
    const env = { ...cli.env, TERM: 'xterm-256color' }
    const command = `'${process.execPath}' '${CLI}' approve`
    const pane = await openPane(t, command, { cwd: cli.root, env })
    const screen = await pane.shows(/Which one\? \[1-2\]/)
    const [, number = ''] = /(\d) {2}[0-9a-f]{8} .*Red door/.exec(screen) ?? []
    pane.press(number, 'Enter')
    await pane.shows(/Approve this plan of session 1\?/)
    pane.press('y', 'Enter')
    await pane.shows(/session 1 is complete/)
    t.match(await must(service, 'GET', '/triage?named=red door'), [{ state: 'VERIFYING' }])
  })
})

t.test('the list', async (t) => {
  const cli = cliOn(t)
  const titles = Array.from({ length: 33 }, (_, index) => `Door ${index}`)
  const cases = join(cli.root, 'memory', 'cases')
  t.match(await cli.run('import', '-', '--json').catch(() => ({})), {})
  const issues = titles.map((title, index) => ({
    number: index + 1,
    title,
    url: `https://github.com/ada/shop/issues/${index + 1}`,
  }))
  writeFileSync(join(cli.root, 'issues.json'), JSON.stringify(issues))
  t.test('an import of many is summed up', async (t) => {
    const said = await cli.run('import', 'issues.json')
    t.match(said, {
      code: 0,
      stdout: '33  OPEN\n',
      stderr: /33 cases were created\nNext: casefile list/,
    })
    t.equal(readdirSync(cases).length, 33)
  })
  t.test('is whole when piped, with tabs', async (t) => {
    const { stdout } = await cli.run('list')
    const lines = stdout.trimEnd().split('\n')
    t.equal(lines.length, 33)
    for (const line of lines) t.equal(line.split('\t').length, 8)
    t.equal((await cli.run('list', '--limit', '2')).stdout.split('\n').length, 3)
    t.match(await cli.run('list', '--limit', 'x'), { code: 2, stderr: /whole number/ })
  })
  t.test('is short in a terminal, with a header', needsTmux, async (t) => {
    const env = { ...cli.env, TERM: 'xterm-256color' }
    const pane = await openPane(t, `'${process.execPath}' '${CLI}' list --limit 3`, {
      cwd: cli.root,
      env,
    })
    const screen = await pane.shows(/Showing 3 of 33\./)
    t.match(screen, /CASE +STATUS +TITLE/)
    t.match(screen, /^[0-9a-f]{8} {2}Open +Door \d+/m)
  })
})

t.test('what only reads writes nothing, and owns nothing', async (t) => {
  const cli = cliHere(t, {})
  await cli.run('new', 'Door', '-d', step('echo fine', 'sh run id=say'))
  await cli.run('start', 'door')
  const url = 'http://127.0.0.1:9999/hook'
  const name = (await cli.run('webhook', 'add', url, '--json')).json.id.slice(0, 8)
  const before = readdirSync(cli.env.CASEFILE_STATE_DIR, { recursive: true }).map(String).sort()
  const fresh = join(cli.root, 'fresh')
  const env = { CASEFILE_STATE_DIR: fresh }
  for (const args of [
    ['search', 'door'],
    ['plan', 'door'],
    ['plan', 'door', '--diff'],
    ['open', 'door', '--folder'],
    ['history', 'door'],
    ['export'],
    ['webhook', 'list'],
  ]) {
    const said = await cli.runWith({ env }, ...args)
    t.match(said, { code: 0 }, args.join(' '))
    t.notOk(existsSync(fresh), `${args.join(' ')} makes no state folder`)
    t.match(await cli.run(...args), { code: 0 }, args.join(' '))
  }
  const shown = { code: 0, stdout: /^url +http:\/\/127\.0\.0\.1:9999\/hook$/m }
  t.match(await cli.run('webhook', 'show', name), shown)
  t.match(await cli.run('webhook', 'deliveries', name), { code: 0, stderr: /nothing was sent yet/ })
  t.match(await cli.run('webhook', 'show', 'ffff'), { code: 3 })
  t.match(await cli.run('search', 'fine'), { stdout: /Door\n {2}memory\/cases\/.*fine/ })
  t.strictSame(
    readdirSync(cli.env.CASEFILE_STATE_DIR, { recursive: true }).map(String).sort(),
    before,
  )
})

t.test('reading commands answer while a command owns the workspace', inLongLane, async (t) => {
  const cli = cliOn(t)
  await cli.run('new', 'Door', '-d', step('echo begun; exec sleep 200', 'sh run id=long'))
  await cli.run('start', 'door')
  const running = cli.start('approve', 'door', '--yes')
  await running.says(/begun/)
  for (const args of [['list'], ['search', 'door'], ['show', 'door', '1'], ['plan', 'door', '1']]) {
    t.match(await cli.run(...args), { code: 0, stdout: /[Dd]oor|sleep 200/ }, args.join(' '))
  }
  t.match(await cli.run('list', '--needs', 'running', '--json'), { json: [{ running: true }] })
  running.signal('SIGINT')
  t.match(await running.ended, { code: 130, stderr: /interrupted/ })
})
