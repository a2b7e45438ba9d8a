import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { commandsHere } from '../fixtures/cli-here.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { personHere, trusting } from '../fixtures/person-with-agents.ts'

const LOCAL = '.claude/settings.local.json'

/** The command of an event's last hook. */
function commandOf(settings: string, event: string): string {
  return JSON.parse(settings).hooks[event].at(-1).hooks[0].command
}

async function runHook(command: string, cwd: string, body: object = {}): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { cwd, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => {}) // one that denies at once reads nothing
  child.stdin.end(JSON.stringify(body))
  return text(child.stdout)
}

t.test('install shows what it writes, and writes nothing without a yes', async (t) => {
  const cli = personHere(t)
  const asked = await cli.run('agent', 'install', 'claude')
  t.match(asked, { code: 2, stderr: /needs a terminal.*--yes/ })
  t.match(asked.stdout, /settings\.local\.json \(new\)/)
  t.notOk(existsSync(cli.path('.claude')))

  const done = await cli.run('agent', 'install', 'claude', '--yes')
  t.match(done, {
    code: 0,
    stdout: /^\+ +"PreToolUse": \[$/m,
    stderr: /Wrote .*casefile serve.*casefile agent test/s,
  })
  t.match(await cli.run('agent', 'install', 'claude', '--yes', '--json'), {
    code: 0,
    json: { changes: [{ agent: 'claude', place: 'local', change: 'none' }] },
  })
  t.match(await cli.run('agent', 'remove', '--yes'), { code: 0 })
  t.notOk(existsSync(cli.path('.claude')), 'what was new is gone')
})

t.test('a person answers in their terminal, and is told what git would commit', async (t) => {
  const cli = personHere(t)
  spawnSync('git', ['init', '--quiet'], { cwd: cli.root })
  const hint = /keep it out of git: add \.claude\/settings\.local\.json to \.gitignore/
  const install = (key: string) =>
    cli.runWith({ answers: [[/Write this\? \[y\/N\]/, key]] }, 'agent', 'install', 'claude')
  t.match(await install('n'), { code: 6, unasked: [] })
  t.notOk(existsSync(cli.path(LOCAL)))
  t.match((await install('y')).stderr.replace(/\s+/g, ' '), hint)
  t.ok(existsSync(cli.path(LOCAL)))
  await cli.run('agent', 'remove', '--yes')
  writeFileSync(cli.path('.gitignore'), '.claude/settings.local.json\n')
  t.notMatch((await cli.run('agent', 'install', 'claude', '--yes')).stderr, hint)
})

t.test('the hooks reach the service wherever it listens, and deny without it', async (t) => {
  const cli = personHere(t)
  await cli.run('agent', 'install', 'claude', '--yes')
  const settings = cli.read(LOCAL)
  const gate = commandOf(settings, 'PreToolUse')
  t.match(await runHook(gate, cli.root), /"deny".*casefile serve/, 'before the first start')
  const address = join(cli.env.CASEFILE_STATE_DIR, 'hooks', 'url')
  const service = await cli.serve()
  t.equal(readFileSync(address, 'utf8'), `${service.url}\n`)
  t.equal(statSync(address).mode & 0o777, 0o600)
  t.equal(statSync(dirname(address)).mode & 0o777, 0o700)
  await service.close()
  t.notOk(existsSync(address), 'another program may get the port')
  await cli.run('new', 'One', '--json')
  t.notOk(existsSync(address), 'a command that runs its own service gates nobody')
})

t.test('a link to the settings stays one', async (t) => {
  const cli = personHere(t, {
    dotfiles: { 'claude.json': '{ "model": "opus" }\n' },
    '.claude': {},
  })
  symlinkSync(cli.path('dotfiles/claude.json'), cli.path(LOCAL))
  const { stdout } = await cli.run('agent', 'install', 'claude', '--yes')
  t.match(stdout, `(a link to ${realpathSync(cli.path('dotfiles/claude.json'))})`)
  t.ok(lstatSync(cli.path(LOCAL)).isSymbolicLink())
  t.match(JSON.parse(cli.read('dotfiles/claude.json')), { model: 'opus', hooks: {} })
  await cli.run('agent', 'remove', '--yes')
  t.ok(lstatSync(cli.path(LOCAL)).isSymbolicLink())
  t.equal(cli.read('dotfiles/claude.json'), '{ "model": "opus" }\n')

  symlinkSync(cli.path('dotfiles/nowhere.json'), cli.path('.claude/settings.json'))
  t.match(await cli.run('agent', 'install', 'claude', '--project', '--yes'), {
    code: 1,
    stderr: /symbolic link/,
  })
  t.notOk(existsSync(cli.path('dotfiles/nowhere.json')))
})

t.test('status says what is installed, and what keeps it from working', async (t) => {
  const cli = personHere(t)
  t.match(await cli.run('agent', 'status'), {
    code: 1,
    stdout:
      /^No hooks are installed\.\nNo service runs.*casefile serve\nclaude: has no hooks; casefile agent install claude gates it\ncodex: has no hooks/,
  })
  await cli.run('agent', 'install', '--yes', '--strict')
  const narrow = await cli.runWith({ answers: [], columns: 60 }, 'agent', 'status')
  t.match(narrow.stdout, `  ${cli.path(LOCAL)}\n`, 'the whole path')
  t.match(
    narrow.stdout,
    /so installed hooks deny every tool\. Start\n {2}one with: casefile serve$/m,
  )
  const status = async () => (await cli.run('agent', 'status', '--json')).json
  t.match(await status(), {
    hooks: [
      { agent: 'claude', place: 'local', installed: 'current', is_strict: true, warnings: [] },
      { agent: 'codex', place: 'user', installed: 'current', warnings: [/none of its hooks/] },
    ],
    missing: [],
    service: null,
  })

  const hooksFile = join(cli.home, '.codex', 'hooks.json')
  writeFileSync(join(cli.home, '.codex', 'config.toml'), trusting(hooksFile))
  t.match((await status()).hooks[1], { installed: 'current', warnings: [] })
  const changed = readFileSync(hooksFile, 'utf8').replace('"timeout": 30', '"timeout": 31')
  writeFileSync(hooksFile, changed)
  t.match((await status()).hooks[1], { installed: 'changed', warnings: [/only 6 of its 7/] })

  const installed = cli.read(LOCAL)
  writeFileSync(cli.path(LOCAL), installed.replace('{', '{ "disableAllHooks": true,'))
  t.match((await status()).hooks[0], { installed: 'current', warnings: [/disableAllHooks/] })
  writeFileSync(cli.path(LOCAL), `${installed}}`)
  t.match((await status()).hooks[0], { installed: 'unreadable', warnings: [/line/] })
  writeFileSync(cli.path(LOCAL), installed)
  t.match(await cli.run('agent', 'status'), {
    stdout: /^claude +local +not tested, strict +never heard +\/.*local\.json$/m,
  })
  t.match(await cli.run('doctor'), { stdout: /^hooks +claude \(local\): not tested; codex/m })
})

t.test('status lists what a hook sent that cannot be read', async (t) => {
  const cli = personHere(t)
  await cli.run('agent', 'install', 'claude', '--yes')
  const gate = commandOf(cli.read(LOCAL), 'PreToolUse')
  await cli.serve()
  const sent = { workspace_roots: [cli.root], hook_event_name: 'preToolUse', tool_name: 'Shell' }
  t.equal(await runHook(gate, cli.root, { ...sent, cursor_version: '3' }), '')
  await cli.run('new', 'Raise the limit', '--use')
  const said = JSON.parse(await runHook(gate, cli.root, { ...sent, cursor_version: '3' }))
  t.match(said, { permission: 'deny', agent_message: /no conversation_id/ })
  t.match(JSON.parse(await runHook(gate, cli.root)), {
    hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: /no input/ },
  })
  const { stdout } = await cli.run('agent', 'status')
  t.match(
    stdout.replaceAll(/\s+/g, ' '),
    /Claude Code sent something that Casefile cannot read: it has no input\. It was denied\. Heard .* Cursor through the hooks of claude sent preToolUse that Casefile cannot read: it has no conversation_id\. It was denied\. Heard 2 times, last /,
  )
  t.match((await cli.run('agent', 'status', '--json')).json, {
    not_understood: [{ sender: 'claude' }, { sender: 'cursor', count: 2 }],
  })
})

t.test('status tells of conversations without a case', async (t) => {
  const cli = personHere(t)
  await cli.run('agent', 'install', 'claude', '--yes')
  const { url } = await cli.serve()
  const killed = spawn('sleep', ['600'])
  for (const [session, pid] of [
    ['goes-on', process.pid],
    ['killed', killed.pid],
  ] as const) {
    const app = { root: cli.root, url }
    const agent = hookedAgent(app, { session, headers: { 'x-casefile-pid': `${pid}` } })
    await agent.tell('SessionStart')
    await agent.tell('UserPromptSubmit', { prompt: 'Do it' })
    t.equal(await agent.call('Write', { file_path: cli.path('a') }), null)
  }
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  const { stdout } = await cli.run('agent', 'status')
  const [told = '', ...more] = stdout.match(/^claude: conversation .*$/gm) ?? []
  t.match(told, /in the workspace, begun just now, has no case: nothing of it is recorded/)
  t.match(told, /casefile agent adopt [0-9a-f]{8} <case> changes that\.$/)
  t.strictSame(more, [], 'one that was killed is not told')
})

t.test('an older version of the hooks is told, and replaced', async (t) => {
  const cli = personHere(t)
  await cli.run('agent', 'install', 'claude', '--yes')
  const records = join(cli.env.CASEFILE_STATE_DIR, 'hooks', 'installed.json')
  writeFileSync(cli.path(LOCAL), cli.read(LOCAL).replaceAll('/bin/sh ', 'sh '))
  const hooks = async () => (await cli.run('agent', 'status', '--json')).json.hooks[0]
  const { installed, hooks_sha256 } = await hooks()
  t.equal(installed, 'changed')
  const record = readFileSync(records, 'utf8')
  writeFileSync(records, record.replace(/(?<="hooks_sha256": ?")[^"]+/, hooks_sha256))
  t.match(await cli.run('agent', 'status'), { stdout: /its hooks are of an older version/ })
  writeFileSync(records, '{}')
  t.match(await cli.run('agent', 'status'), {
    stdout: /changed by hand.*agent install claude --local/s,
  })
  await cli.run('agent', 'install', 'claude', '--yes')
  t.match(await hooks(), { installed: 'current' })
  t.notMatch(cli.read(LOCAL), / sh '|"sh '/)
})

t.test("a user's settings serve every workspace, and removal leaves the others", async (t) => {
  const one = personHere(t)
  const elsewhere = mkdtempSync(join(tmpdir(), 'casefile-hooks-'))
  t.teardown(() => rmSync(elsewhere, { recursive: true, force: true }))
  mkdirSync(join(elsewhere, 'root', 'memory', 'cases'), { recursive: true })
  const env = { ...one.env, CASEFILE_STATE_DIR: join(elsewhere, 'state') }
  const two = commandsHere(t, { root: join(elsewhere, 'root'), env })
  await one.run('agent', 'install', 'claude', '--user', '--yes')
  await two.run('agent', 'install', 'claude', '--user', '--yes')
  const file = join(one.home, '.claude', 'settings.json')
  const gates = () =>
    JSON.parse(readFileSync(file, 'utf8')).hooks.PreToolUse.map(
      ({ hooks: [{ command }] }: { hooks: [{ command: string }] }) => command,
    )
  const denied = async (cwd: string) => {
    const said = await Promise.all(gates().map((gate: string) => runHook(gate, cwd)))
    return said.filter((each) => each !== '').length
  }
  t.equal(await denied(one.root), 1)
  t.equal(await denied(one.home), 0)
  await one.run('agent', 'remove', '--yes')
  t.equal(gates().length, 1)
  t.equal(await denied(two.root), 1)
  t.match(await two.run('agent', 'status', '--json'), {
    json: { hooks: [{ installed: 'current' }] },
  })
})

t.test('hooks that would run twice, not at all, or nowhere are told', async (t) => {
  const cli = personHere(t)
  await cli.run('agent', 'install', 'claude', '--yes')
  t.match(await cli.run('agent', 'install', 'claude', '--user', '--yes'), {
    code: 0,
    stderr: /claude: each hook runs twice\. Keep one place: casefile agent remove claude --user/,
  })
  t.match(await cli.run('agent', 'install', 'codex', '--yes'), {
    code: 0,
    stderr: /codex: you have trusted none of its hooks/,
  })
  t.match((await cli.run('agent', 'remove', '--user', '--yes')).code, 0)
  t.match(await cli.run('agent', 'status', '--json'), { json: { hooks: [{ warnings: [] }] } })
  t.match(await cli.run('agent', 'install', 'codex', '--local', '--yes'), {
    code: 2,
    stderr: /Codex has no --local settings\. Use --user or --project/,
  })
  t.match(await cli.run('agent', 'install', 'emacs'), { code: 2 })
})
