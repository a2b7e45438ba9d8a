import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
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

t.test('says what is set up and which agents can be used', async (t) => {
  const { status, json, text } = await app.request('GET', '/setup')
  t.equal(status, 200)
  t.match(json, { configured: false, provider: 'runbook', checklist: [], hooks: [] })
  t.strictSame(json.tests, { command: 'npm test --silent', source: 'package.json', report: 'tap' })
  const agents = Object.fromEntries(json.agents.map((agent: { id: string }) => [agent.id, agent]))
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
  t.notMatch(text, /secret@/, 'nothing about the account')
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
  const { wrote, setup } = await must(app, 'PUT', '/setup', body)
  t.strictSame(wrote, ['casefile.md'])
  t.match(setup, { configured: true, provider: 'claude', checklist })
  t.strictSame(setup.tests, { command: 'make check', source: 'casefile.md', report: null })
  t.equal(
    readFileSync(settings, 'utf8'),
    '---\n# mine\nprovider: claude   # who plans\ntests: make check\nchecklist: ["All tests pass (test-log, required)"]\n---\n\nMind the gap.\n',
  )
  t.strictSame((await must(app, 'PUT', '/setup', body)).wrote, [], 'the same again writes nothing')

  const hooked = await must(app, 'PUT', '/setup', { in_terminal: true })
  t.strictSame(hooked.wrote, ['.claude/settings.local.json'])
  t.match(hooked.setup.hooks, [{ agent: 'claude', place: 'local', installed: 'current' }])

  await must(app, 'PUT', '/setup', { tests: null, checklist: [] })
  t.match(await must(app, 'GET', '/setup'), { tests: { source: 'package.json' }, checklist: [] })
  t.equal(
    readFileSync(settings, 'utf8'),
    '---\n# mine\nprovider: claude   # who plans\nchecklist: []\n---\n\nMind the gap.\n',
  )
})

t.test(
  'If-Match: a casefile.md that was made or changed meanwhile is not overwritten',
  async (t) => {
    const etag = async () => String((await app.request('GET', '/setup')).headers.etag)
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

t.test('takes hooks out, wherever they are', async (t) => {
  const path = (name: string) => join(app.root, '.claude', name)
  await must(app, 'PUT', '/setup?dry_run=true', { remove_hooks: ['claude'] })
  const nothing = await must(app, 'PUT', '/setup', { remove_hooks: ['claude', 'gemini'] })
  t.match(nothing, { wrote: [], removed: [], setup: { configured: false } })
  t.notOk(readdirSync(app.root).includes('casefile.md'), 'nothing else is set up')

  const mine = '{\n  "model": "opus" }\n'
  mkdirSync(join(app.root, '.claude'))
  writeFileSync(path('settings.local.json'), mine)
  await must(app, 'PUT', '/setup', { provider: 'claude', in_terminal: true })
  await must(app, 'PUT', '/setup', { provider: 'gemini', in_terminal: true })
  // in another place too, and without a note of what was there before
  const hooked = JSON.parse(readFileSync(path('settings.local.json'), 'utf8'))
  const text = JSON.stringify({ hooks: hooked.hooks })
  writeFileSync(path('settings.json'), text)
  const user = join(app.root, 'home', '.gemini', 'settings.json')
  const wanted = { remove_hooks: ['claude', 'gemini', 'claude'] }
  const dry = await must(app, 'PUT', '/setup?dry_run=true', wanted)
  t.match(dry.setup.hooks, [
    { agent: 'claude', place: 'local' },
    { agent: 'claude', place: 'project' },
    { agent: 'gemini', place: 'user' },
  ])
  t.strictSame(dry.wrote, ['.claude/settings.local.json', '.claude/settings.json'])
  t.strictSame(dry.removed, ['home/.gemini/settings.json'])
  t.equal(readFileSync(path('settings.json'), 'utf8'), text, 'nothing is written')

  const before = readFileSync(settings, 'utf8')
  const { wrote, removed, setup } = await must(app, 'PUT', '/setup', wanted)
  t.strictSame({ wrote, removed }, { wrote: dry.wrote, removed: dry.removed })
  t.strictSame(setup.hooks, [])
  t.equal(readFileSync(path('settings.local.json'), 'utf8'), mine, 'every byte is as before')
  t.notOk(existsSync(user))
  t.strictSame(JSON.parse(readFileSync(path('settings.json'), 'utf8')), {})
  t.equal(readFileSync(settings, 'utf8'), before)

  const both = { provider: 'codex', in_terminal: true, remove_hooks: ['codex'] }
  t.match(await app.request('PUT', '/setup', both), {
    status: 400,
    json: { errors: [{ path: 'remove_hooks' }] },
  })
  t.match(await app.request('PUT', '/setup', { remove_hooks: ['runbook'] }), {
    status: 400,
    json: { errors: [{ path: 'remove_hooks[0]' }] },
  })
  const moved = { provider: 'claude', in_terminal: true, remove_hooks: ['gemini'] }
  t.match(await must(app, 'PUT', '/setup', moved), { setup: { hooks: [{ agent: 'claude' }] } })

  writeFileSync(path('settings.json'), '{ "hooks": ')
  t.match(await app.request('PUT', '/setup', { remove_hooks: ['claude'] }), {
    status: 409,
    json: { code: 'unreadable_file', detail: /settings\.json/ },
  })
  t.match((await must(app, 'GET', '/setup')).hooks, [{ place: 'local' }, {}], 'nothing was removed')
})

t.test('signed approvals, and where git keeps the cases while that is undecided', async (t) => {
  const app = await opened(t, {})
  t.match(await must(app, 'GET', '/setup'), { memory: null, memory_choices: [] })
  t.match(await app.request('PUT', '/setup', { memory: 'own-repo' }), {
    status: 400,
    json: { errors: [{ path: 'memory' }] },
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: app.root })
  git('init', '-q')
  const choices = ['with-code', 'own-repo', 'orphan-worktree']
  t.match(await must(app, 'GET', '/setup'), { memory: null, memory_choices: choices })
  const dry = await must(app, 'PUT', '/setup?dry_run=true', { memory: 'orphan-worktree' })
  const files = ['memory/.git', 'memory/.gitignore', 'memory/.gitattributes']
  t.strictSame(dry.wrote, ['.git/info/exclude', ...files, 'casefile.md'])
  const withCode = await must(app, 'PUT', '/setup?dry_run=true', { memory: 'with-code' })
  t.strictSame(withCode.wrote, ['casefile.md'])
  const { wrote, setup } = await must(app, 'PUT', '/setup', { memory: 'orphan-worktree' })
  t.strictSame(wrote, dry.wrote)
  t.match(setup, { memory: 'orphan-worktree', memory_choices: [] })
  t.match(await app.request('PUT', '/setup', { memory: 'own-repo' }), { status: 409 })
  const { id } = await app.newCase()
  t.ok(readdirSync(join(app.root, 'memory', 'cases')).includes(id))

  git('config', 'gpg.format', 'ssh')
  git('config', 'user.email', 'ada@example.com')
  git('config', 'user.signingkey', join(app.root, 'missing'))
  t.match(await app.request('PUT', '/setup', { sign_approvals: true }), {
    status: 400,
    json: { detail: /no SSH key to sign with/, errors: [{ path: 'sign_approvals' }] },
  })
  git('config', 'user.signingkey', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada')
  t.match(await must(app, 'GET', '/setup'), {
    sign_approvals: false,
    signing_key: "git's user.signingkey",
  })
  const signed = await must(app, 'PUT', '/setup', { sign_approvals: true })
  t.strictSame(signed.wrote, ['allowed_signers', 'casefile.md'])
  t.match(signed.setup, { sign_approvals: true })
  t.equal(
    readFileSync(join(app.root, 'allowed_signers'), 'utf8'),
    'ada@example.com namespaces="casefile" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5\n',
  )
  await must(app, 'PUT', '/setup', { sign_approvals: false })
  t.match(await must(app, 'GET', '/setup'), { sign_approvals: false })
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
    return must(app, 'GET', `/cases/${id}/proof/checklist`)
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
  const setup = () => must(app, 'GET', `/cases/${id}/setup`)
  const nothing = await setup()
  t.match(nothing, { provider: 'runbook', plans_from: null })
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
  t.equal((await app.request('GET', `/cases/${app.root}/setup`)).status, 404)

  writeFileSync(settings, "---\nsteps: ['true']\n---\n")
  const other = await app.newCase()
  t.match(await must(app, 'GET', `/cases/${other.id}/setup`), { plans_from: 'steps' })
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
