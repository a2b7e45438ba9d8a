import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { isPlainCommand } from '../../src/hook-settings/hook-command.ts'
import { tryHooks } from '../../src/hook-settings/trial.ts'
import { openScenes } from '../../src/hook-settings/trial-scenes.ts'
import { matches, TRIAL_WORDS } from '../../src/hook-settings/trial-words.ts'
import { SEEN_VERSIONS } from '../../src/runners/agents/agent-version.ts'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { SERVER_SECRET } from '../../src/runners/hooks/hook-script.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { personWithAgents, trusting } from '../fixtures/person-with-agents.ts'

/** Their versions are those that our tests have seen. */
const ALL = {
  claude: '2.1.330',
  codex: '0.171.0',
  gemini: '0.61.0',
  opencode: '1.18.33',
  copilot: '1.0.102',
}
const LOCAL = '.claude/settings.local.json'

/** A person whose agents have hooks and trust them, and a service for them. */
async function personWithHooks(t: Test, agents: Readonly<Record<string, string>> = ALL) {
  const cli = personWithAgents(t, {}, agents)
  const install = () => cli.run('hooks', 'install', '--yes')
  await install()
  if ('codex' in agents) {
    const file = join(cli.home, '.codex', 'hooks.json')
    writeFileSync(join(cli.home, '.codex', 'config.toml'), trusting(file))
  }
  if ('gemini' in agents) {
    const trusted = JSON.stringify({ [cli.root]: 'TRUST_FOLDER' })
    writeFileSync(join(cli.home, '.gemini', 'trustedFolders.json'), trusted)
  }
  const service = cli.start('serve', '--port', '0')
  const [, url = ''] = await service.says(/listening on (\S+)/)
  const test = (...names: string[]) => cli.run('hooks', 'test', '--json', ...names)
  const status = async () => (await cli.run('hooks', 'status', '--json')).json.hooks
  return { ...cli, service, url, install, test, status }
}

t.test('the installed hooks of every agent are tried, and nothing of it is recorded', async (t) => {
  const cli = await personWithHooks(t)
  t.match((await cli.status()).map(levelIn), Array(5).fill('untested'))
  const { code, json } = await cli.test()
  const gated = (agent: string, version: string) => ({
    agent,
    level: 'gated',
    reason: '',
    version,
    version_note: null,
    tested_at: /^20/,
  })
  const expected = Object.entries(ALL).map(([agent, version]) => gated(agent, version))
  t.match(json, { hooks: expected, not_installed: [] })
  t.equal(code, 0)
  t.match(await cli.status(), expected)
  t.strictSame(await (await fetch(`${cli.url}/conversations`)).json(), [])
  t.match(await cli.run('hooks', 'status'), {
    code: 0,
    stdout: /^codex +user +gated +tested just now +never heard +\//m,
  })
  t.match(await cli.run('doctor'), { stdout: /^hooks +claude \(local\): gated, tested 20/m })
  const page = await (await fetch(`${cli.url}/agents`, { headers: { accept: 'text/html' } })).text()
  t.match(page, /Installed hooks.*claude.*>gated</s)
})

const levelIn = ({ level }: { level: string }) => level

t.test(
  'only a service that shows its secret is believed, and only a hook gets to see it',
  async (t) => {
    const cli = await personWithHooks(t, { claude: '2.1.330' })
    const hooks = join(cli.env.CASEFILE_STATE_DIR, 'hooks')
    const [name, sent] = readFileSync(join(hooks, 'headers'), 'utf8').trim().split(': ')
    const [pid, secret] = readFileSync(join(hooks, 'service'), 'utf8').trim().split(' ')
    t.equal(Number(pid), cli.service.pid)
    const answer = async (headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', ...headers }
      const body = '{"hook_event_name":"Stop"}'
      const reply = await fetch(`${cli.url}/hooks/claude`, { method: 'POST', headers: all, body })
      return reply.headers.get(SERVER_SECRET)
    }
    t.equal(await answer({ [name!]: sent! }), secret)
    for (const other of [{}, { [name!]: '' }, { [name!]: secret! }, { [name!]: 'x'.repeat(64) }]) {
      t.equal(await answer(other), null)
    }
  },
)

t.test('a test counts until the hooks, the script or the agent change', async (t) => {
  const cli = await personWithHooks(t, { claude: '2.1.330', opencode: '1.18.33' })
  t.match(await cli.test('codex'), { code: 1, json: { hooks: [], not_installed: ['codex'] } })
  t.match(await cli.test('claude'), { code: 0 })
  const claude = async () => (await cli.status())[0]
  t.match(await claude(), { level: 'gated' })

  cli.installAgent('claude', '2.2.0')
  t.match(await claude(), {
    level: 'untested',
    reason: 'since its program changed (2.1.330, now 2.2.0)',
    tested_at: null,
    version_note: '2.2.0: not seen by our tests; seen: 2.1.330, 2.1.332',
  })
  const note = /^claude: 2\.2\.0: not seen by our tests; seen: 2\.1\.330, 2\.1\.332$/gm
  for (const command of [['hooks', 'status'], ['doctor']]) {
    t.equal((await cli.run(...command)).stdout.match(note)?.length, 1, command.join(' '))
  }
  cli.installAgent('claude', '2.1.330')
  t.match(await claude(), { level: 'gated' }, 'another file with the same version')

  const script = join(cli.env.CASEFILE_STATE_DIR, 'hooks', 'hook')
  const whole = readFileSync(script, 'utf8')
  writeFileSync(script, `${whole}\n`)
  t.match(await claude(), { level: 'untested', reason: "since Casefile's script changed" })
  writeFileSync(script, whole)

  const settings = cli.read(LOCAL)
  writeFileSync(cli.path(LOCAL), settings.replaceAll('"timeout": 30', '"timeout": 31'))
  t.match(await claude(), { level: 'untested', reason: 'since its hooks changed' })
  t.match(await cli.run('hooks', 'status'), { code: 1, stdout: /claude: not tested since its/ })
  writeFileSync(cli.path(LOCAL), settings.replace('{', '{ "disableAllHooks": true,'))
  t.match(await claude(), { level: 'switched_off', reason: /disableAllHooks/ })
  writeFileSync(cli.path(LOCAL), `${settings}}`)
  t.match(await claude(), { level: 'not_installed' })
  writeFileSync(cli.path(LOCAL), settings)

  const case_id: string = (await cli.run('new', 'Raise the limit', '--json')).json.id
  const agent = hookedAgent({ root: cli.root, url: cli.url }, { case_id })
  await agent.tell('UserPromptSubmit', { prompt: 'One' })
  await agent.tell('UserPromptSubmit', { prompt: 'Two' })
  t.match(await claude(), { level: 'not_heard', reason: /^since 20/ })
  await agent.call('Write', { file_path: cli.path('a') })
  t.match(await claude(), { level: 'gated' }, 'a hook that can deny was heard')

  cli.service.signal('SIGTERM')
  await cli.service.ended
  t.match(await cli.test(), { code: 1, stderr: /No service runs.*casefile serve/ })
  const inRun = { env: { CASEFILE_RUN: 'one' } }
  t.match(await cli.runWith(inRun, 'hooks', 'test'), { code: 1, stderr: /CASEFILE_RUN/ })
})

interface Changed {
  name: string
  agent: keyof typeof ALL
  change(found: string): string
  level: string
  reason: RegExp
}

const GATE = /(?<= gate (?:user )?(?:event=preToolUse )?\$PPID) \|\| printf '%s' '(?:[^'\\]|\\.)*'/
const changed = (name: string, agent: Changed['agent'], change: Changed['change']) => ({
  to: (level: string, reason: RegExp): Changed => ({ name, agent, change, level, reason }),
})
/** Changes the group of the event that gates tools. */
const gate =
  (change: (group: { matcher?: string; hooks: Record<string, unknown>[] }) => void) =>
  (found: string) => {
    const groups = JSON.parse(found)
    for (const { event, group } of groups) if (/^(Pre|Before)Tool/.test(event)) change(group)
    return JSON.stringify(groups)
  }
const ungated = (found: string) =>
  JSON.stringify(
    JSON.parse(found).filter(({ event }: { event: string }) => !/^(Pre|Before)Tool/.test(event)),
  )
const WITHOUT =
  /^when no service runs, the service hangs, another program answers, Casefile's script is missing or curl is missing$/

const CHANGES: Changed[] = [
  ...(['claude', 'codex', 'gemini'] as const).flatMap((agent) => [
    changed('|| true', agent, (found) => found.replace(GATE, ' || true')).to('fails_open', WITHOUT),
    changed('no event that gates', agent, ungated).to('recorded_only', /and mcp_.* would have run/),
    changed(
      'another matcher',
      agent,
      gate((group) => {
        group.matcher = 'Read'
      }),
    ).to('recorded_only', /./),
  ]),
  changed(
    'some tools',
    'claude',
    gate((group) => {
      group.matcher = 'Write|Edit'
    }),
  ).to('fails_open', /^when it calls Bash and mcp__test__write$/),
  changed(
    'no matcher',
    'claude',
    gate((group) => {
      delete group.matcher
    }),
  ).to('gated', /^$/),
  changed('a second line that fails open', 'claude', (found) => {
    const groups = JSON.parse(found)
    const gate = groups.find(({ event }: { event: string }) => event === 'PreToolUse')
    const second = structuredClone(gate)
    gate.group.matcher = 'Write|Edit|Read'
    second.group.matcher = 'Bash|mcp__.*'
    second.group.hooks[0].command = second.group.hooks[0].command.replace(GATE, ' || true')
    return JSON.stringify([...groups, second])
  }).to('fails_open', WITHOUT),
  changed(
    'a short limit',
    'claude',
    gate((group) => {
      group.hooks[0]!.timeout = 4 // seconds; the script waits for five
    }),
  ).to('fails_open', /^when the service hangs$/),
  changed(
    'not waited for',
    'claude',
    gate((group) => {
      group.hooks[0]!.async = true
    }),
  ).to('recorded_only', /./),
  changed('only the denial', 'claude', (found) =>
    found.replace(/\/bin\/sh [^|]* gate \$PPID \|\| /, ''),
  ).to('denies_all', /^Read and Bash would not/),
  // a failure denies, so only what ends well lets the tool run
  changed('|| true', 'copilot', (found) => found.replace(GATE, ' || true')).to(
    'fails_open',
    WITHOUT,
  ),
  changed('no event that gates', 'copilot', (found) =>
    found.replace('"preToolUse"', '"postTool"'),
  ).to('recorded_only', /./),
  changed('no error', 'opencode', (found) =>
    found.replace(/(?<=catch \{\s+)throw new Error\(noAnswer\)/, 'return'),
  ).to('fails_open', /^when no service runs, the service hangs or another program answers$/),
  changed('no look at who answers', 'opencode', (found) =>
    found.replace(/if \(response\.headers\.get.*/, ''),
  ).to('fails_open', /^when another program answers$/),
  changed('no hook before a tool', 'opencode', (found) =>
    found.replace("'tool.execute.before'", "'tool.before'"),
  ).to('recorded_only', /./),
]

t.test('hooks that were changed are seen', async (t) => {
  const cli = await personWithHooks(t)
  const found = async (agent: string) => {
    const [{ file }] = (await cli.status()).filter(
      (each: { agent: string }) => each.agent === agent,
    )
    const text = readFileSync(file, 'utf8')
    if (agent === 'opencode' || agent === 'copilot') return text
    const { hooks } = JSON.parse(text)
    const groups = Object.entries<object[]>(hooks)
    return JSON.stringify(groups.flatMap(([event, all]) => all.map((group) => ({ event, group }))))
  }
  const texts = Object.fromEntries(
    await Promise.all(Object.keys(ALL).map(async (agent) => [agent, await found(agent)])),
  )
  const environment = { ...process.env, ...cli.env, CASEFILE_RUN: undefined }
  const places = { root: cli.root, stateDir: cli.env.CASEFILE_STATE_DIR, environment }
  const scenes = await openScenes(places)
  t.teardown(() => scenes.close())
  const tried = async ({ name, agent, change, level, reason }: Changed) => {
    const after = change(texts[agent])
    t.not(after, texts[agent], `${agent}: ${name} is a change`)
    const result = await tryHooks({ agent, root: cli.root, found: after }, scenes)
    t.match(result, { level, reason }, `${agent}: ${name}`)
  }
  // by itself: beside all others an answer can take longer than the limit
  const isLimited = ({ name }: Changed) => name === 'a short limit'
  for (const each of CHANGES.filter(isLimited)) await tried(each)
  await Promise.all(CHANGES.filter((each) => !isLimited(each)).map(tried))
})

t.test('commands of a project that nobody trusted are not run', async (t) => {
  const cli = await personWithHooks(t, { claude: '2.1.330' })
  const trap = join(dirname(cli.root), 'trap')
  const settings = cli.read(LOCAL)
  writeFileSync(cli.path(LOCAL), settings.replace(GATE, ` || touch ${trap}`))
  t.match(await cli.test(), {
    code: 1,
    json: { hooks: [{ level: 'untested' }] },
    stderr: /commands that you have not trusted.*casefile trust/,
  })
  t.throws(() => readFileSync(trap), { code: 'ENOENT' })
  await cli.run('trust', '--yes')
  t.match((await cli.test()).json.hooks, [{ level: 'fails_open' }])
})

t.test('a line is plain only if it runs nothing else', async (t) => {
  const script = "/it's/state/hooks/hook"
  const call = String.raw`/bin/sh '/it'\''s/state/hooks/hook' claude gate strict user $PPID`
  for (const end of [
    '',
    ' || true',
    ' || :',
    ' ; exit 0',
    ' 2> /dev/null || true',
    ` || printf '%s' 'a'\\''b'`,
  ]) {
    t.ok(isPlainCommand(call + end, script), end)
    t.ok(isPlainCommand(call.replace('/bin/', '') + end, script), 'of an earlier version')
    t.ok(isPlainCommand(`[ -n "$CASEFILE_RUN" ] || ${call}${end}`, script), end)
  }
  for (const end of [
    ' || evil',
    '; reboot',
    '\nreboot',
    ' $(reboot)',
    ' `a`',
    ' & reboot',
    ' > a',
    ` || printf '%s' 'a'; b`,
    ` || printf '%s' "$(b)"`,
  ]) {
    t.notOk(isPlainCommand(call + end, script), end)
  }
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
  t.ok(Object.keys(TRIAL_WORDS).every((id) => KNOWN_AGENTS.some((agent) => agent.id === id)))
  for (const [name, version] of Object.entries(pinned)) {
    const agents = KNOWN_AGENTS.filter(({ install }) => install.split(' ').includes(name))
    t.ok(agents.length > 0, name)
    for (const { program } of agents) t.ok(SEEN_VERSIONS[program]?.includes(version), program)
  }
})
