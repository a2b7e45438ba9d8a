import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commandsHere } from '../fixtures/cli-here.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const LOGGED_IN = `#!/bin/sh
case "$*" in
  --version) echo '2.1.330 (Claude Code)' ;;
  'auth status') [ -t 0 ] && exit 9; echo '{ "loggedIn": true, "email": "secret@example.com" }' ;;
esac
`
const PACKAGE = JSON.stringify({ scripts: { test: 'node --test' } })

/** A service whose PATH has these scripts, and whose user has an empty home. */
async function opened(
  t: Test,
  files: Record<string, string>,
  programs: Record<string, string> = {},
): Promise<TestService> {
  const bin = join(t.testdirName, 'root', 'bin')
  const environment = { PATH: `${bin}:/usr/bin:/bin`, HOME: join(t.testdirName, 'root', 'home') }
  const service = await openTestService(t, {
    files: { ...files, home: {}, bin: programs },
    environment,
  })
  for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755)
  return service
}

const app = await opened(
  t,
  { 'package.json': PACKAGE },
  {
    claude: LOGGED_IN,
    codex: '#!/bin/sh\ncase "$1" in --version) echo codex-cli 0.169.0 ;; *) exit 1 ;; esac\n',
    copilot: '#!/bin/sh\necho 1.0.102\n',
  },
)
const settings = join(app.root, 'casefile.md')
t.beforeEach(() => {
  for (const name of ['casefile.md', '.claude', 'home/.gemini'])
    rmSync(join(app.root, name), { recursive: true, force: true })
})

/** As the page of the setup shows it. */
const present = async () => {
  const { setup } = app.service
  return setup.status(await setup.findAgents())
}

t.test('what is set up and which agents can be used', async (t) => {
  const found = await present()
  t.match(found, { configured: false, provider: 'runbook', checklist: [], hooks: [] })
  t.strictSame(found.tests, { command: 'npm test --silent', source: 'package.json', report: 'tap' })
  const agents = Object.fromEntries(found.agents.map((agent) => [agent.id, agent]))
  t.strictSame(agents.claude, {
    id: 'claude',
    title: 'Claude Code',
    kind: 'command',
    status: 'ready',
    version: '2.1.330',
    advice: null,
    can_hook: true,
  })
  t.match(agents.codex, { status: 'not_logged_in', advice: 'codex login' })
  t.match(agents.copilot, { status: 'unknown_login', advice: 'copilot login' })
  t.match(agents.gemini, {
    status: 'not_installed',
    advice: 'npm install -g @google/gemini-cli',
  })
  t.notMatch(JSON.stringify(found), /secret@/, 'nothing about the account')
})

t.test('a session does not begin with an agent that is known to be logged out', async (t) => {
  const { id } = await app.newCase()
  const start = (provider: string) =>
    app.request('POST', `/cases/${id}/sessions`, { type: 'planning', provider })
  t.match(await start('codex'), {
    status: 422,
    json: { code: 'provider_unavailable', detail: /not logged in.* Log in with: codex login\./ },
  })
  t.match(await start('codex-acp'), {
    status: 400,
    json: {
      code: 'unknown_provider',
      detail: /Use "codex": Casefile runs this agent by its command/,
    },
  })
  t.notOk(existsSync(app.file(id, 'sessions')), 'nothing was made')
  t.match(await must(app, 'GET', `/cases/${id}`), { state: 'OPEN' })
})

t.test('changes settings and leaves the rest of the file', async (t) => {
  const before = '---\n# mine\nprovider: runbook   # who plans\n---\n\nMind the gap.\n'
  writeFileSync(settings, before)
  const checklist = ['All tests pass (test-log, required)']
  const body = { provider: 'claude', tests: 'make check', checklist }
  const { wrote } = await must(app, 'PUT', '/setup', body)
  t.strictSame(wrote, ['casefile.md'])
  const setup = await present()
  t.match(setup, { configured: true, provider: 'claude', checklist })
  t.strictSame(setup.tests, { command: 'make check', source: 'casefile.md', report: null })
  t.equal(
    readFileSync(settings, 'utf8'),
    '---\n# mine\nprovider: claude   # who plans\ntests: make check\nchecklist: ["All tests pass (test-log, required)"]\n---\n\nMind the gap.\n',
  )
  t.strictSame((await must(app, 'PUT', '/setup', body)).wrote, [], 'the same again writes nothing')

  const hooked = await must(app, 'PUT', '/setup', { in_terminal: true })
  t.strictSame(hooked.wrote, ['.claude/settings.local.json'])
  t.match((await present()).hooks, [{ agent: 'claude', place: 'local', installed: 'current' }])

  await must(app, 'PUT', '/setup', { tests: null, checklist: [] })
  t.match(await present(), { tests: { source: 'package.json' }, checklist: [] })
  t.equal(
    readFileSync(settings, 'utf8'),
    '---\n# mine\nprovider: claude   # who plans\nchecklist: []\n---\n\nMind the gap.\n',
  )
})

t.test(
  'If-Match: a casefile.md that was made or changed meanwhile is not overwritten',
  async (t) => {
    const etag = async () =>
      String((await app.request('PUT', '/setup?dry_run=true', { provider: 'claude' })).headers.etag)
    const put = (ifMatch: string) =>
      app.request('PUT', '/setup', { provider: 'claude' }, { 'if-match': ifMatch })
    const first = await etag()
    const mine = '---\nprovider: codex # mine\n---\n'
    writeFileSync(settings, mine)
    t.match(await put(first), {
      status: 412,
      json: { code: 'precondition_failed', detail: /casefile\.md is not what you read/ },
    })
    t.equal(readFileSync(settings, 'utf8'), mine)
    const second = await etag()
    t.not(second, first)
    const saved = await put(second)
    t.equal(saved.status, 200, saved.text)
    t.equal(saved.headers.etag, await etag())
    t.equal(readFileSync(settings, 'utf8'), '---\nprovider: claude # mine\n---\n')
  },
)

t.test('a dry run says what would be written, and what comes next', async (t) => {
  const dry = (body: object) => must(app, 'PUT', '/setup?dry_run=true', body)
  t.match(await dry({ provider: 'claude', in_terminal: true }), {
    wrote: ['.claude/settings.local.json', 'casefile.md'],
    next: ['casefile new "What is wrong" --type bug', 'claude'],
  })
  t.match(await dry({ provider: 'claude' }), {
    next: [/^casefile new/, 'casefile start "what is"'],
  })
  t.match(await dry({ provider: 'runbook' }), {
    next: [/^casefile new/, 'casefile open "what is"'],
  })
  t.notOk(readdirSync(app.root).some((name) => ['casefile.md', '.claude'].includes(name)))
})

t.test('what it writes is what casefile init writes', async (t) => {
  const cli = commandsHere(t, {
    root: app.root,
    env: {
      PATH: `${join(app.root, 'bin')}:/usr/bin:/bin`,
      HOME: join(app.root, 'home'),
      CASEFILE_STATE_DIR: app.stateDir,
      XDG_STATE_HOME: app.stateDir,
    },
  })
  const changes = [
    [{ provider: 'claude', tests: 'make check' }, '--agent claude --tests make\\ check'],
    [
      { provider: 'claude', tests: null, in_terminal: true },
      '--agent claude --tests none --in-terminal',
    ],
  ] as const
  for (const [body, options] of changes) {
    const words = options.split(/(?<!\\) /).map((word) => word.replace('\\', ''))
    const dry = await cli.run('init', '--dry-run', '--no-hook', '--json', ...words)
    const { wrote } = await must(app, 'PUT', '/setup?dry_run=true', body)
    t.match(dry, { code: 0, json: { wrote } })
    t.match(wrote, ['casefile.md'].slice(body.tests === null ? 1 : 0))
  }
  await must(app, 'PUT', '/setup', changes[0][0])
  const text = readFileSync(settings, 'utf8')
  t.match(text, /^checklist: \["All tests pass \(test-log, required\)"\]/m)
  rmSync(settings)
  await cli.run('init', '--yes', '--no-hook', '--agent', 'claude', '--tests', 'make check')
  t.equal(readFileSync(settings, 'utf8'), text)
  await must(app, 'PUT', '/setup', { checklist: ['A picture (image)'] })
  await must(app, 'PUT', '/setup', { tests: 'make' })
  t.match(await present(), { checklist: ['A picture (image)'] }, 'it stays')
})

t.test('errors of a change', async (t) => {
  const put = async (body: object) => (await app.request('PUT', '/setup', body)).json
  t.match(await put({}), { status: 400 })
  t.match(await put({ provider: 'nobody' }), { status: 400, code: 'unknown_provider' })
  t.match(await put({ checklist: ['  '] }), { status: 400, errors: [{ path: 'checklist[0]' }] })
  t.match(await put({ tests: 'x'.repeat(1001) }), {
    status: 400,
    errors: [{ path: 'tests', message: /^expected at most 1000 characters/ }],
  })
  t.match(await put({ tests: 'a\nb' }), { status: 400, errors: [{ path: 'tests' }] })
  t.match(await put({ provider: 'runbook', in_terminal: true }), {
    status: 400,
    errors: [{ path: 'in_terminal' }],
  })
  t.notOk(readdirSync(app.root).includes('casefile.md'), 'nothing is written')
  writeFileSync(settings, '---\nprovider: [\n---\n')
  t.match(await put({ tests: 'make' }), {
    code: 'unreadable_file',
    detail: /^casefile\.md cannot be changed: line 2: /,
  })
})

t.test('a new case gets the checklist of casefile.md unless it has its own', async (t) => {
  const checklist = '[Looks right (screenshot), "Faster (benchmark, optional)"]'
  writeFileSync(settings, `---\nchecklist: ${checklist}\n---\n`)
  const checklistOf = async (fields: object) => {
    const { id } = await app.newCase(fields)
    return (await must(app, 'GET', `/cases/${id}/gate`)).items
  }
  t.match(await checklistOf({}), [
    { description: 'Looks right', type: 'screenshot', required: true },
    { description: 'Faster', type: 'benchmark', required: false },
  ])
  t.strictSame(await checklistOf({ checklist: [] }), [], 'none is an answer')
  const own = [{ description: 'Mine', type: 'log' }]
  t.match(await checklistOf({ checklist: own }), own)
})

t.test('what a session of a case would plan with', async (t) => {
  const { id } = await app.newCase()
  const setup = async () => (await must(app, 'GET', `/cases/${id}/status`)).start
  const nothing = await setup()
  t.match(nothing, { provider: 'runbook', plans_from: null, intent: null })
  const asked = await must(app, 'GET', `/cases/${id}/status?intent=true`)
  t.match(asked.start.intent, { paths: [], proof: [/^npm test/] })
  const testStep = '```sh run id=npm-test proof=tap\nnpm test --silent -- --test-reporter=tap\n```'
  t.equal(nothing.tests.step, testStep)
  t.match(nothing.tests.runbook, testStep)

  await must(app, 'PUT', `/cases/${id}`, { description: step('true') })
  t.match(await setup(), { plans_from: 'description' })
  await must(app, 'PUT', `/cases/${id}/memory/runbook.md`, nothing.tests.runbook)
  t.match(await setup(), { plans_from: 'runbook' })
  const ref = await must(app, 'POST', `/cases/${id}/sessions`, { type: 'implementing' })
  t.match(ref, { state: 'created', plan: '', plan_sha256: null })
  await reaches(app, { ...ref, path: `/cases/${id}/sessions/${ref.id}` }, 'plan_ready')
  t.match(await must(app, 'GET', `/cases/${id}/sessions/${ref.id}`), {
    hypothesis: 'None: this plan only runs the tests, with the command found in package.json.',
    plan: /```$/,
  })
  await must(app, 'PUT', `/cases/${id}`, { provider: 'claude' })
  t.match(await setup(), { provider: 'claude', plans_from: 'agent' })

  writeFileSync(settings, "---\nsteps: ['true']\n---\n")
  const other = await app.newCase()
  t.match(await must(app, 'GET', `/cases/${other.id}/status`), { start: { plans_from: 'steps' } })
})

t.test('a session with nothing to plan with says so, and runs no tests', async (t) => {
  const ref = await planned(app, {})
  const { hypothesis, plan, state } = await must(app, 'GET', ref.path)
  t.equal(state, 'plan_ready')
  t.equal(hypothesis, 'None: there is nothing to plan with.')
  t.match(plan, /^Nothing to plan with: /)
  t.match(plan, `casefile start ${ref.case_id.slice(0, 8)} --run-tests`)
  t.notMatch(plan, /```|npm/)
})
