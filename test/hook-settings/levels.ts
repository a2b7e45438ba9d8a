import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { SERVER_SECRET } from '../../src/runners/agents/hooks/hook-script.ts'
import { isPlainCommand } from '../../src/runners/agents/install/hook-command.ts'
import { type HeardConversation, leveledReport } from '../../src/runners/agents/install/levels.ts'
import { matches } from '../../src/runners/agents/install/trial-calls.ts'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { openServer } from '../../src/serve.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { trusting } from '../fixtures/person-with-agents.ts'

/** Their versions are those that our tests have seen. */
const ALL = {
  claude: '2.1.330',
  codex: '0.171.0',
  gemini: '0.61.0',
  opencode: '1.18.33',
  copilot: '1.0.102',
}
const LOCAL = '.claude/settings.local.json'
const PLUGIN = '.opencode/plugins/casefile.js'

/** A person whose agents have hooks, and a service for them; all in this process. */
async function personWithHooks(t: Test) {
  t.teardown(() => {}) // tap removes the folder before all handlers, but for one that was there first
  const cli = cliHere(t, { 'casefile.md': 'Be brief.\n' })
  const { root } = cli
  const home = join(dirname(root), 'home')
  const bin = join(home, 'bin')
  mkdirSync(bin, { recursive: true })
  const installAgent = (name: string, version: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${version}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const [name, version] of Object.entries(ALL)) installAgent(name, version)
  const env = { ...cli.env, HOME: home, PATH: `${bin}:${process.env.PATH}` }
  const environment = { ...process.env, ...env, CASEFILE_RUN: undefined }
  const stateDir = cli.env.CASEFILE_STATE_DIR
  const run = (...args: string[]) => cli.runWith({ env }, ...args)
  await run('agent', 'install', '--yes')
  const levels = async (heard: HeardConversation[] = []) =>
    (await leveledReport({ root, stateDir, environment }, heard)).hooks
  const serve = () => openServer({ root, stateDir, port: 0, mount: false, environment, log() {} })
  const path = (name: string) => join(root, name)
  const read = (name: string) => readFileSync(path(name), 'utf8')
  const write = (name: string, text: string) => writeFileSync(path(name), text)
  const test = (...names: string[]) => run('agent', 'test', '--json', ...names)
  return { root, home, env, stateDir, cli, run, levels, serve, read, write, test, installAgent }
}

type Person = Awaited<ReturnType<typeof personWithHooks>>

t.test('the hooks of every agent, from their installation on', async (t) => {
  const person = await personWithHooks(t)
  const { run, levels, home, root } = person
  const levelOf = async (agent: string, heard?: HeardConversation[]) =>
    (await levels(heard)).find((each) => each.agent === agent)

  await t.test('an agent that does not trust its hooks or folder runs none', async (t) => {
    for (const agent of ['codex', 'gemini'])
      t.match(await levelOf(agent), { level: 'not_trusted', reason: /trust/ }, agent)
    const folders = join(home, '.gemini', 'trustedFolders.json')
    const isTrusted = async (trusted: object) => {
      writeFileSync(folders, JSON.stringify(trusted))
      return (await levelOf('gemini'))?.level !== 'not_trusted'
    }
    t.notOk(await isTrusted({ [root]: 'DO_NOT_TRUST' }))
    t.notOk(await isTrusted({ [`${root}-beside`]: 'TRUST_FOLDER' }))
    t.ok(await isTrusted({ [join(dirname(root), 'beside')]: 'TRUST_PARENT' }), 'of a parent')
    t.notOk(await isTrusted({ [join(dirname(root), 'beside')]: 'TRUST_FOLDER' }))
    t.ok(await isTrusted({ [dirname(root)]: 'TRUST_FOLDER' }))
    const file = join(home, '.codex', 'hooks.json')
    const config = join(home, '.codex', 'config.toml')
    const table = trusting(file)
    writeFileSync(config, table.slice(table.indexOf('[hooks', 1)))
    t.match(await levelOf('codex'), { level: 'not_trusted', reason: /only 6 of its 7 hooks/ })
    writeFileSync(config, table)
    t.match(
      (await levels()).map(({ level }) => level),
      Array(5).fill('untested'),
    )
  })

  const served = await person.serve()
  await t.test('they are tried, and nothing of it is recorded', async (t) => {
    const { code, json } = await person.test('claude', 'codex')
    const expected = Object.entries({ claude: ALL.claude, codex: ALL.codex }).map(
      ([agent, version]) => ({
        agent,
        level: 'gated',
        reason: '',
        version,
        version_note: null,
        tested_at: /^20/,
      }),
    )
    t.match(json, { hooks: expected, not_installed: [] })
    t.equal(code, 0)
    t.strictSame(await (await fetch(`${served.url}/conversations`)).json(), [])
    t.match(await run('agent', 'status'), {
      code: 0,
      stdout: /^codex +user +gated +tested just now +never heard +\//m,
    })
    t.match(await run('doctor'), { stdout: /^hooks +claude \(local\): gated, tested 20/m })
    const headers = { accept: 'text/html' }
    const page = await (await fetch(`${served.url}/agents`, { headers })).text()
    t.match(page, /Installed hooks.*claude.*>gated</s)
  })

  await t.test('only a service that shows its secret is believed, to a hook alone', async (t) => {
    const hooks = join(person.stateDir, 'hooks')
    const [name, sent] = readFileSync(join(hooks, 'headers'), 'utf8').trim().split(': ')
    const [pid, secret] = readFileSync(join(hooks, 'service'), 'utf8').trim().split(' ')
    t.equal(Number(pid), process.pid)
    const answer = async (headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', ...headers }
      const body = '{"hook_event_name":"Stop"}'
      const reply = await fetch(`${served.url}/hooks/claude`, {
        method: 'POST',
        headers: all,
        body,
      })
      return reply.headers.get(SERVER_SECRET)
    }
    t.equal(await answer({ [name!]: sent! }), secret)
    for (const other of [{}, { [name!]: '' }, { [name!]: secret! }, { [name!]: 'x'.repeat(64) }])
      t.equal(await answer(other), null)
  })

  await t.test('a test counts until the hooks, the script or the agent change', async (t) => {
    const claude = () => levelOf('claude')
    person.installAgent('claude', '2.2.0')
    t.match(await claude(), {
      level: 'untested',
      reason: 'since its program changed (2.1.330, now 2.2.0)',
      tested_at: null,
      version_note: '2.2.0: not seen by our tests; seen: 2.1.330, 2.1.332',
    })
    const note = /^claude: 2\.2\.0: not seen by our tests; seen: 2\.1\.330, 2\.1\.332$/gm
    t.equal((await run('agent', 'status')).stdout.match(note)?.length, 1)
    person.installAgent('claude', '2.1.330')
    t.match(await claude(), { level: 'gated' }, 'another file with the same version')

    const script = join(person.stateDir, 'hooks', 'hook')
    const whole = readFileSync(script, 'utf8')
    writeFileSync(script, `${whole}\n`)
    t.match(await claude(), { level: 'untested', reason: "since Casefile's script changed" })
    writeFileSync(script, whole)

    const settings = person.read(LOCAL)
    person.write(LOCAL, settings.replaceAll('"timeout": 30', '"timeout": 31'))
    t.match(await claude(), { level: 'untested', reason: 'since its hooks changed' })
    person.write(LOCAL, settings.replace('{', '{ "disableAllHooks": true,'))
    t.match(await claude(), { level: 'switched_off', reason: /disableAllHooks/ })
    person.write(LOCAL, `${settings}}`)
    t.match(await claude(), { level: 'not_installed' })
    person.write(LOCAL, settings)
    t.match(await claude(), { level: 'gated' })
  })

  await t.test('the newest conversation of a case says whether hooks are heard', async (t) => {
    const [earlier, later] = ['2100-01-01T00:00:00.000Z', '2100-01-02T00:00:00.000Z']
    const silent: HeardConversation = {
      agent: 'claude',
      case_id: 'c',
      is_gated: false,
      started_at: later,
      last_heard_at: later,
      ended_at: null,
      prompts: 2,
    }
    const gated = { ...silent, is_gated: true }
    const heard = async (...all: HeardConversation[]) => (await levelOf('claude', all))?.level
    t.equal(await heard(silent), 'not_heard')
    t.equal(await heard({ ...silent, started_at: earlier }, gated), 'gated')
    t.equal(await heard({ ...gated, started_at: earlier }, silent), 'not_heard')
    t.equal(await heard(gated, { ...silent, started_at: earlier }), 'gated', 'in any order')
    t.equal(await heard({ ...silent, agent: 'codex' }), 'gated', 'of another agent')
    t.equal(await heard({ ...silent, case_id: null }), 'gated', 'without a case none is denied')
    t.equal(await heard({ ...silent, started_at: '2000' }), 'gated', 'before the test')
    t.equal(await heard({ ...silent, ended_at: later }), 'gated', 'one that has ended')
  })

  await t.test('commands of a project that nobody trusted are not run', (t) => isNotRun(t, person))

  await t.test('what cannot be tried is an error', async (t) => {
    await run('agent', 'remove', 'codex', '--yes')
    const none = await person.test('codex')
    t.match(none, { code: 1, json: { hooks: [], not_installed: ['codex'] } })
    await served.close()
    t.match(await person.test(), { code: 1, stderr: /No service runs.*casefile serve/ })
    const inRun = { env: { ...person.env, CASEFILE_RUN: 'one' } }
    const denied = await person.cli.runWith(inRun, 'agent', 'test')
    delete process.env.CASEFILE_RUN
    t.match(denied, { code: 1, stderr: /CASEFILE_RUN/ })
  })
})

/** The lines of claude, and the plugin of opencode, which runs in the process of a test. */
async function isNotRun(t: Test, person: Person) {
  const trap = join(person.home, 'trap')
  const settings = person.read(LOCAL)
  const plugin = person.read(PLUGIN)
  person.write(LOCAL, settings.replace(/ \|\| printf '%s' '(?:[^'\\]|\\.)*'/, ` || touch ${trap}`))
  const opened = `import { writeFileSync } from 'node:fs'\nwriteFileSync('${trap}', '')\n`
  person.write(PLUGIN, plugin.replace('\n', `\n${opened}`))
  for (const agent of ['claude', 'opencode']) {
    t.match(await person.test(agent), {
      code: 1,
      json: { hooks: [{ level: 'untested' }] },
      stderr: /commands that you have not trusted.*casefile doctor --trust/,
    })
    t.notOk(existsSync(trap), agent)
  }
  person.write(PLUGIN, plugin)
  await person.run('doctor', '--trust', '--yes')
  t.match(await person.test('claude', 'codex'), {
    code: 1,
    json: { hooks: [{ level: 'fails_open' }, { level: 'gated' }] },
  })
  t.ok(existsSync(trap), 'what is trusted is run')
  person.write(LOCAL, settings)
}

t.test('a line is plain only if it runs nothing else', async (t) => {
  const script = "/it's/state/hooks/hook"
  const call = String.raw`/bin/sh '/it'\''s/state/hooks/hook' claude gate strict user $PPID`
  const none = ['', ' || true', ' || :', ' ; exit 0', ' 2> /dev/null || true']
  for (const end of [...none, ` || printf '%s' 'a'\\''b'`]) {
    t.ok(isPlainCommand(call + end, script), end)
    t.ok(isPlainCommand(call.replace('/bin/', '') + end, script), 'of an earlier version')
    t.ok(isPlainCommand(`[ -n "$CASEFILE_RUN" ] || ${call}${end}`, script), end)
  }
  const more = [' || evil', '; reboot', '\nreboot', ' $(reboot)', ' `a`', ' & reboot', ' > a']
  for (const end of [...more, ` || printf '%s' 'a'; b`, ` || printf '%s' "$(b)"`])
    t.notOk(isPlainCommand(call + end, script), end)
  t.notOk(isPlainCommand("/bin/sh '/tmp/hooks/hook' claude gate", script), 'another script')
  t.notOk(isPlainCommand(`evil; ${call}`, script))
})

t.test('a matcher is read as the agents read it', async (t) => {
  const tools = ['Write', 'NotebookEdit', 'mcp__a__b']
  const found = (matcher: string | undefined) => tools.filter((tool) => matches(matcher, tool))
  for (const all of [undefined, '', '*', '.*']) t.strictSame(found(all), tools)
  t.strictSame(found('Write|Edit'), ['Write'], 'whole names')
  t.strictSame(found('^mcp__.*'), ['mcp__a__b'])
  t.strictSame(found('('), [], 'not a regular expression')
})

t.test('the versions that are pinned for tests are those that were seen', async (t) => {
  const file = new URL('../real-agents/package.json', import.meta.url)
  const { dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8'))
  const pinned: Record<string, string> = { ...dependencies, ...devDependencies }
  for (const [name, version] of Object.entries(pinned)) {
    const agents = KNOWN_AGENTS.filter(({ install }) => install.split(' ').includes(name))
    t.ok(agents.length > 0, name)
    for (const { id, seen } of agents) t.ok(seen.includes(version), id)
  }
})
