import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { CommandSpec } from '../../src/runners/agents/agent.ts'
import { isLoggedIn } from '../../src/runners/agents/login.ts'
import { createNoteQueue, createRepeatFilter } from '../../src/runners/agents/note-queue.ts'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { createRetryLimit } from '../../src/runners/agents/retry-limit.ts'
import { abortable, withTimeout } from '../../src/runners/agents/timeouts.ts'
import type { AgentNote } from '../../src/runners/contract.ts'

const command = (id: string): CommandSpec => KNOWN_AGENTS.find((each) => each.id === id)!

t.test('an agent that plans is started so that it cannot write', async (t) => {
  const READ_ONLY: Record<string, (string | RegExp)[]> = {
    claude: ['--permission-mode default', '--tools Read,Grep,Glob', '--strict-mcp-config'],
    codex: [/--sandbox read-only|sandbox_mode="read-only"/, '-c projects={untrusted_projects}'],
    gemini: ['--policy {folder}/policy.toml', '--approval-mode default'],
    opencode: ['--agent build'],
    copilot: ['--available-tools view grep glob', '--no-ask-user'],
  }
  for (const [id, words] of Object.entries(READ_ONLY)) {
    const { plan, resume, work } = command(id)
    for (const { argv } of [plan, resume!])
      for (const word of words) t.match(argv.join(' '), word, id)
    t.notMatch(work!.argv.join(' '), /read-only|--tools /, `${id} works otherwise`)
  }
  for (const line of ['plan', 'resume', 'work'] as const)
    t.match(command('claude')[line]!.argv.join(' '), /--setting-sources user( |$)/, line)
  t.match(
    command('claude').work!.argv.join(' '),
    '--permission-mode acceptEdits --allowedTools Bash,',
  )
  t.match(command('codex').work!.argv.join(' '), '--sandbox workspace-write')
  const { files } = command('gemini').plan
  t.match(files!['policy.toml'], /toolName = "\*"\ndecision = "deny"\npriority = 998/)
  t.match(files!['policy.toml'], /"read_file".*\ndecision = "allow"\npriority = 999/)
  t.notMatch(files!['policy.toml'], /shell|write|replace/)
  const rules = JSON.parse(command('opencode').plan.env!.OPENCODE_PERMISSION!)
  const denied = ['*', 'bash', 'edit', 'webfetch', 'task', 'external_directory']
  for (const name of denied) t.equal(rules[name], 'deny', name)
  t.equal(rules.read, 'allow')
})

t.test('what the agents must not do for a project holds whatever the user has set', async (t) => {
  const safe: [command: string, env: Record<string, string>][] = [
    ['copilot', { COPILOT_ALLOW_ALL: 'false' }],
    ['gemini', { GEMINI_CLI_TRUST_WORKSPACE: 'false' }],
    ['claude', { CLAUDE_CODE_DISABLE_CRON: '1' }],
    ['opencode', { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }],
  ]
  for (const [id, env] of safe) {
    for (const line of [command(id).plan, command(id).resume, command(id).work])
      t.match(line!.env, env, id)
  }
})

t.test('what an agent needs of the home folder', async (t) => {
  const HOME = '/home/ada'
  const at = (id: string, env: Record<string, string> = {}) =>
    KNOWN_AGENTS.find((each) => each.id === id)!.ownPlaces!({ HOME, ...env })
  const rows: [id: string, env: Record<string, string>, paths: string[], files: string[]][] = [
    ['claude', {}, [`${HOME}/.claude`, `${HOME}/.claude.json`], [`${HOME}/.claude.json`]],
    ['claude', { CLAUDE_CONFIG_DIR: '/c' }, ['/c'], []],
    ['codex', {}, [`${HOME}/.codex`], []],
    ['codex', { CODEX_HOME: '/x' }, ['/x'], []],
    ['codex', { CODEX_HOME: 'relative' }, [`${HOME}/.codex`], []],
    ['gemini', {}, [`${HOME}/.gemini`], []],
    ['gemini', { GEMINI_CLI_HOME: '/g' }, ['/g/.gemini'], []],
    ['copilot', { COPILOT_HOME: '/p' }, ['/p', `${HOME}/.cache/copilot`], []],
    [
      'opencode',
      { XDG_CACHE_HOME: '/cache' },
      [
        `${HOME}/.local/share/opencode`,
        `${HOME}/.config/opencode`,
        '/cache/opencode',
        `${HOME}/.local/state/opencode`,
      ],
      [],
    ],
  ]
  for (const [id, env, paths, files] of rows) t.match(at(id, env), { paths, files }, id)
  t.strictSame(at('copilot', { XDG_RUNTIME_DIR: '/run/1' }).seen, [`${HOME}/.config/gh`, '/run/1'])
})

t.test('docs/agents.md has the newest versions that tests have seen', async (t) => {
  const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8')
  for (const { id, seen } of KNOWN_AGENTS)
    t.ok(
      page
        .split('\n')
        .some((row) => row.startsWith(`\`${id}\` |`) && row.endsWith(` ${seen.at(-1)}`)),
      id,
    )
})

t.test('whether an agent is logged in', async (t) => {
  const HOME = t.testdir({ bin: {} })
  const login = (id: string, env: Record<string, string> = {}) =>
    isLoggedIn(KNOWN_AGENTS.find((each) => each.id === id)!.login!, {
      HOME,
      PATH: `${HOME}/bin:/usr/bin:/bin`,
      ...env,
    })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(HOME, path)), { recursive: true })
    writeFileSync(join(HOME, path), text)
  }
  const program = (name: string, script: string) => {
    write(`bin/${name}`, `#!/bin/sh\n${script}\n`)
    chmodSync(`${HOME}/bin/${name}`, 0o755)
  }
  for (const id of ['claude', 'codex', 'copilot', 'opencode'])
    t.equal(await login(id), null, `${id}: not known without its program`)
  t.equal(await login('gemini'), false)

  t.equal(await login('claude', { ANTHROPIC_API_KEY: 'k' }), true)
  t.equal(await login('claude', { ANTHROPIC_API_KEY: '' }), null)
  program('claude', `[ "$*" = 'auth status' ] && echo '{"loggedIn":false}'`)
  t.equal(await login('claude'), false)
  t.equal(
    await login('claude', { CLAUDE_CODE_USE_BEDROCK: '1' }),
    null,
    'models of another service',
  )
  program('claude', `echo '{"loggedIn":true}'`)
  t.equal(await login('claude'), true)
  program('claude', 'echo no JSON')
  write('.claude/.credentials.json', '{}')
  t.equal(await login('claude'), true, 'by its file')

  t.equal(await login('codex', { CODEX_API_KEY: 'k' }), true)
  program('codex', '[ "$*" = "login status" ]')
  t.equal(await login('codex'), true)
  program('codex', 'exit 1')
  t.equal(await login('codex'), false)
  program('codex', 'exit 2')
  t.equal(await login('codex'), null, 'it failed')
  program('codex', 'exit 1')
  write('.codex/config.toml', 'model_provider = "mine"\n')
  t.equal(await login('codex'), null, 'a provider of the own needs none')

  write('.gemini/settings.json', '{"security":{"auth":{"selectedType":"gemini-api-key"}}}')
  t.equal(await login('gemini'), null)
  t.equal(await login('gemini', { GOOGLE_API_KEY: 'k' }), true)
  write('.gemini/oauth_creds.json', '{}')
  t.equal(await login('gemini'), true)

  write('.copilot/config.json', '{"loggedInUsers": []}')
  t.equal(await login('copilot'), null)
  write('.copilot/config.json', '// mine\n{"loggedInUsers": [{"login":"ada"}]}')
  t.equal(await login('copilot'), true)
  t.equal(await login('copilot', { COPILOT_HOME: '/none', GH_TOKEN: 'k' }), true)

  write('.local/share/opencode/auth.json', '{}')
  t.equal(await login('opencode'), null)
  write('.local/share/opencode/auth.json', '{"openai":{}}')
  t.equal(await login('opencode'), true)
})

t.test('an agent that only retries is ended, one that makes progress is not', async (t) => {
  let now = 0
  let reached = 0
  const limit = createRetryLimit(
    60_000,
    () => reached++,
    () => now,
  )
  limit.retry('busy')
  now = 59_999
  limit.retry('busy')
  t.equal(limit.reached(), null)
  limit.progress()
  now = 100_000
  limit.retry('busy')
  now = 159_999
  limit.retry('busy')
  t.equal(reached, 0, 'since its progress')
  now = 160_000
  limit.retry('status 500')
  t.equal(
    limit.reached(),
    'was ended: for 60 s it only retried its model request (3 times). Last error: status 500',
  )
  limit.retry('later')
  t.equal(reached, 1, 'once')
  const often = createRetryLimit(
    1e9,
    () => reached++,
    () => now,
  )
  for (let count = 1; count < 100; count++) often.retry('x')
  often.progress()
  for (let count = 1; count < 100; count++) often.retry('x')
  t.equal(often.reached(), null)
  often.retry('x')
  t.match(often.reached(), /\(100 times\)/)
})

t.test('notes are written in order, and repeated ones once', async (t) => {
  const written: string[] = []
  const failures: string[] = []
  const note = (agent_session: string): AgentNote => ({
    event: 'agent_session',
    fields: { agent_session },
  })
  const queue = createNoteQueue(
    async ({ fields }) => {
      const { agent_session } = fields as { agent_session: string }
      await new Promise(setImmediate)
      if (agent_session === 'bad') throw new Error('disk full')
      written.push(agent_session)
    },
    () => failures.push('failed'),
  )
  for (const name of ['a', 'b', 'bad', 'c']) queue.add(note(name))
  await t.rejects(queue.idle(), { message: 'disk full' })
  t.strictSame(written, ['a', 'b'], 'nothing behind the one that was not written')
  t.ok(failures.length > 0)

  const isNew = createRepeatFilter('one')
  const plan = (status: string): AgentNote => ({
    event: 'agent_plan',
    fields: { entries: [{ content: 'x', status }] },
  })
  const all = [
    note('one'),
    note('two'),
    note('two'),
    plan('pending'),
    plan('pending'),
    plan('completed'),
    note('one'),
  ]
  t.strictSame(all.map(isNew), [false, true, false, true, false, true, true])

  const crowded = createNoteQueue(
    () => new Promise(() => {}),
    () => {},
  )
  for (let count = 1; count < 50; count++) crowded.add(note('x'))
  t.equal(
    await withTimeout(
      1000,
      crowded.room().then(() => 'room'),
    ),
    'room',
  )
  crowded.add(note('x'))
  t.equal(
    await withTimeout(
      20,
      crowded.room().then(() => 'room'),
    ),
    undefined,
    'fifty wait',
  )
})

t.test('a wait ends with its signal, at once or after a grace', async (t) => {
  const never = new Promise<string>(() => {})
  const abort = new AbortController()
  t.equal(await abortable(abort.signal, Promise.resolve('done')), 'done')
  const stopped = abortable(abort.signal, never)
  abort.abort(new Error('stopped'))
  await t.rejects(stopped, { message: 'stopped' })
  await t.rejects(abortable(abort.signal, never, 1), { message: 'stopped' })
  t.equal(
    await abortable(abort.signal, new Promise((done) => setImmediate(done, 'done')), 60_000),
    'done',
  )
})
