import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openWorkspaceFolders } from '../../src/settings/workspace-folders.ts'
import { trust } from '../../src/trust/trust-command.ts'
import { commandsHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { plannedOn } from '../fixtures/plain-agents.ts'
import { finished, must, planned, ran, step } from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'
import { trusted } from '../fixtures/trust.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const environment = { ...process.env, ASKED_FOR_TEST: 'the value' }
const settingsText = (...lines: string[]) => `---\n${lines.join('\n')}\n---\n`
const healthProblems = async (service: TestService) =>
  (await must(service, 'GET', '/health')).problems

t.test('a variable that casefile.md asks for is passed on once it is trusted', async (t) => {
  const asks = (...names: string[]) => settingsText('steps: [x]', `env: [${names.join(', ')}]`)
  const text = asks('ASKED_FOR_TEST', 'UNSET_FOR_TEST')
  const service = await openTestService(t, {
    mount: false,
    files: { 'casefile.md': text },
    environment,
  })
  const file = join(service.root, 'casefile.md')
  const runbook = step('echo "[$(env | grep _FOR_TEST)]"; exit 1')
  const outputOf = async () => (await ran(service, runbook)).session.output

  const before = await outputOf()
  t.match(before, /^\[\]$/m)
  t.match(
    before,
    /casefile\.md asks to pass ASKED_FOR_TEST, UNSET_FOR_TEST, which is not trusted\. .*casefile doctor --trust/,
  )
  t.notMatch(before, /did not get[^.]*ASKED_FOR_TEST/)
  t.match(await healthProblems(service), [
    {
      code: 'untrusted_settings',
      file: 'casefile.md',
      line: 3,
      message: /^env: not trusted, so steps do not get ASKED_FOR_TEST, .*casefile doctor --trust$/,
    },
  ])

  t.match(await trusted(service), /ASKED_FOR_TEST/)
  t.strictSame(await healthProblems(service), [])
  await service.restart()
  writeFileSync(file, `${text.replace('x', 'y')}Other words.\n`)
  t.strictSame(await healthProblems(service), [], 'steps and body need no trust')
  writeFileSync(file, '---\nenv: [ASKED_FOR')
  const after = await outputOf()
  const passed = /^\[ASKED_FOR_TEST=the value\]$/m
  t.match(after, passed, 'half-saved: the last good ones count')
  t.match(after, 'casefile.md asks to pass UNSET_FOR_TEST, but the service does not have it.')

  writeFileSync(file, text)
  const ref = await planned(service, { runbook })
  writeFileSync(file, asks('ASKED_FOR_TEST', 'LATER_FOR_TEST'))
  const [changed] = await healthProblems(service)
  t.match(changed, { message: /^env: changed since it was trusted, .*ASKED.*LATER/ })
  t.match((await finished(service, ref)).session.output, /^\[\]$/m, 'also since the plan was read')
  t.match(await trusted(service), /LATER_FOR_TEST/)
  t.strictSame(await healthProblems(service), [], 'the change is trusted in its turn')
})

t.test('a provider of casefile.md is refused until it is trusted', async (t) => {
  const providers = (plan: string) =>
    settingsText(
      'provider: mine',
      'providers:',
      `  mine: { kind: command, plan: [${plan}], work: [touch, owned] }`,
      '  fast: { preset: claude, args: [--dangerous] }',
      '  same: { preset: claude }',
      '  broken: { kind: command, plan: touch owned, work: [x] }',
    )
  const environment = { ...process.env }
  const service = await openTestService(t, {
    mount: false,
    files: {
      'casefile.md': providers('touch, owned'),
      bin: { touch: t.fixture('symlink', '/usr/bin/touch') },
    },
    environment,
  })
  environment.PATH = join(service.root, 'bin') // no agent that somebody has installed
  const { id } = await service.newCase()
  const answered = async (provider?: string) => {
    const body = { type: 'planning', ...(provider === undefined ? {} : { provider }) }
    const { status, json } = await service.request('POST', `/cases/${id}/sessions`, body)
    return { status, code: json.code, detail: json.detail }
  }
  const untrusted = { status: 422, code: 'untrusted_provider' }
  const unknown = { status: 400, code: 'unknown_provider' }
  const missing = { status: 422, code: 'provider_unavailable' }

  t.match(await answered(), { ...untrusted, detail: /"mine" \(command \["touch","owned"\]\)/ })
  t.match(await answered('mine'), { ...untrusted, detail: /casefile doctor --trust/ })
  t.match(await answered('fast'), { ...untrusted, detail: /preset claude \["--dangerous"\]/ })
  t.match(await answered('same'), missing, 'needs no trust')
  t.match(await answered('broken'), { ...untrusted, detail: /incorrectly.*GET \/health/ })
  t.match(await healthProblems(service), [
    { code: 'bad_settings', line: 7 },
    { code: 'untrusted_settings', line: 3, message: /sessions cannot use mine, fast\. / },
  ])

  t.match(await trusted(service), /mine: a command.*\n +plan +touch owned\n +work +touch owned\n/)
  t.match(await answered('mine'), { status: 201 })
  t.match(await answered('fast'), missing)

  writeFileSync(join(service.root, 'casefile.md'), providers('touch, other'))
  t.match(await answered('mine'), { ...untrusted, detail: /has changed since/ })
  writeFileSync(join(service.root, 'casefile.md'), providers('touch, owned'))
  t.match(await answered('mine'), { status: 201 }, 'as it was trusted')
  rmSync(join(service.root, 'casefile.md'))
  t.match(await answered('mine'), { ...unknown, detail: 'There is no provider "mine".' })
  const sessions = await must(service, 'GET', `/cases/${id}/sessions`)
  t.strictSame(
    sessions.map(({ provider }: { provider: string }) => provider),
    ['mine', 'mine'],
  )
  t.notOk(existsSync(join(service.root, 'owned')), 'what it makes while it plans is thrown away')
})

t.test('what casefile.md says otherwise since the plan was read is refused', async (t) => {
  const answer = '## Plan\n\n1. Look.\n'
  const settings = ({ work = 'work', env = 'ASKED', kind = 'command', more = '' }) =>
    settingsText(
      `env: [${env}]`,
      'providers:',
      kind === 'acp'
        ? '  mine: { kind: acp, command: [/bin/sh, agent.sh, work] }'
        : `  mine: { kind: command, plan: [/bin/sh, agent.sh], work: [/bin/sh, agent.sh, ${work}]${more} }`,
    )
  const files = {
    'casefile.md': settings({}),
    'agent.sh': `cat > /dev/null\n[ "$1" = "" ] || echo "$@" > worked\ncat <<'END'\n${answer}END\n`,
  }
  const service = await openTestService(t, { mount: false, files })
  const untrusted = { status: 422, json: { code: 'untrusted_provider' } }

  const first = await planned(service)
  const text = readFileSync(service.file(first.case_id, 'sessions', '1.md'), 'utf8')
  // as another machine planned it
  const id = '77777777-7777-4777-8777-777777777777'
  const theirs = text
    .replaceAll(first.id, id)
    .replace('number: 1', 'number: 2')
    .replaceAll(/provider(: |=)runbook/g, 'provider$1mine')
  writeFileSync(service.file(first.case_id, 'sessions', '2.md'), theirs)
  const path = `/cases/${first.case_id}/sessions/${id}`
  t.match(await service.request('POST', `${path}/approve`), untrusted)
  t.match(await service.request('POST', `${path}/revise`, { note: 'again' }), untrusted)

  await trusted(service)
  const { ref } = await plannedOn(service, first.case_id, 'mine')
  const approve = () => service.request('POST', `${ref.path}/approve`)
  const changes: [what: string, text: string][] = [
    ['an argument', settings({ work: 'Work' })],
    ['one argument more', settings({ work: 'work, now' })],
    ['how it gets its prompt', settings({ more: ', prompt: argument' })],
    ['its kind', settings({ kind: 'acp' })],
    ['a variable', settings({ env: 'ASKEd' })],
    ['one variable more', settings({ env: 'ASKED, MORE' })],
  ]
  for (const [what, text] of changes) {
    writeFileSync(join(service.root, 'casefile.md'), text)
    t.match(await approve(), untrusted, what)
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
  }
  rmSync(join(service.root, 'casefile.md'))
  t.equal((await approve()).status, 400, 'no longer there')
  t.notOk(existsSync(join(service.root, 'worked')), 'nothing ran')
  writeFileSync(join(service.root, 'casefile.md'), settings({}))
  t.match(await finished(service, ref), { session: { state: 'complete' } }, 'as it was trusted')
  t.equal(readFileSync(join(service.root, 'worked'), 'utf8'), 'work\n')
  t.equal((await approve()).status, 422, 'and once')
})

t.test(
  'a folder outside of the workspace is worked in once it is trusted',
  inLongLane,
  async (t) => {
    const service = await openTestService(t, {
      mount: false,
      files: { link: t.fixture('symlink', '../state/a') },
    })
    const [a, b] = [join(service.stateDir, 'a'), join(service.stateDir, 'b')]
    for (const folder of [a, b]) mkdirSync(folder)
    const fields = { title: 'Outside', workdir: 'link' }
    const { id } = await service.newCase(fields)
    const body = { type: 'planning' }
    const create = () => service.request('POST', `/cases/${id}/sessions`, body)
    const untrusted = { status: 422, json: { code: 'untrusted_workdir' } }
    t.match(await create(), { ...untrusted, json: { detail: /casefile doctor --trust/ } })

    const shown = await trusted(service)
    t.match(shown, `${a}\n    case ${id} "Outside", workdir "link"\n`)
    const ref = await planned(service, { runbook: step('pwd -P; touch here'), fields })
    const link = (target: string) => {
      rmSync(join(service.root, 'link'))
      symlinkSync(`../state/${target}`, join(service.root, 'link'))
    }
    link('b')
    t.match(await create(), untrusted, 'the same words, another folder')
    t.match(await service.request('POST', `${ref.path}/approve`), untrusted)
    link('a')
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete' })
    t.equal(printedBy(service, ref), `${a}\n`)
    t.ok(existsSync(join(a, 'here')))
    link('b')
    await must(service, 'PUT', `/cases/${id}`, { workdir: join(a, '..', 'a') })
    t.match(await create(), { status: 201 }, 'other words, the same folder')
    await must(service, 'PUT', `/cases/${id}`, { workdir: service.stateDir })
    t.match(await create(), untrusted, 'the folder around it')
    mkdirSync(join(a, 'inner'))
    await must(service, 'PUT', `/cases/${id}`, { workdir: join(a, 'inner') })
    t.match(await create(), untrusted, 'a folder in it')

    await trusted(service)
    t.match(await create(), { status: 201 })
    await must(service, 'PUT', `/cases/${id}`, { workdir: a })
    t.match(await create(), untrusted, 'no longer in use when the others were trusted')
    t.strictSame(readdirSync(b), [])
  },
)

t.test('a damaged trust file trusts nothing, and says so', async (t) => {
  const files = { 'casefile.md': settingsText('env: [ASKED_FOR_TEST]') }
  const service = await openTestService(t, { mount: false, files, environment })
  const file = join(service.stateDir, 'trust.json')
  await trusted(service)
  t.equal(statSync(file).mode & 0o777, 0o600)
  const good = readFileSync(file, 'utf8')
  t.strictSame(await healthProblems(service), [])
  const damages: [name: string, text: string][] = [
    ['cut', good.slice(0, -20)],
    ['empty', ''],
    ['another shape', JSON.stringify({ workspaces: { [service.root]: { settings: true } } })],
    ['no UTF-8', '\u00ff'],
  ]
  for (const [name, text] of damages) {
    await t.test(name, async (t) => {
      service.log.length = 0
      writeFileSync(file, text, 'latin1')
      t.match(await healthProblems(service), [{ code: 'untrusted_settings' }])
      t.match(service.log, [/trust\.json is damaged, so nothing counts as trusted/])
      t.equal(service.log.length, 1)
      await trusted(service)
      t.strictSame(await healthProblems(service), [])
    })
  }
  await t.test('a link to one that would do', async (t) => {
    renameSync(file, join(service.root, 'forged.json'))
    symlinkSync(join(service.root, 'forged.json'), file)
    t.match(await healthProblems(service), [{ code: 'untrusted_settings' }])
    rmSync(file)
  })
  await t.test('of another workspace', async (t) => {
    writeFileSync(file, good.replace(service.root, `${service.root}/other`))
    t.match(await healthProblems(service), [{ code: 'untrusted_settings' }])
  })
})

t.test('a memory root that is changed while it is served stays where it is', async (t) => {
  const service = await openTestService(t, {
    mount: false,
    files: { 'casefile.md': '---\nmemory_root: notes\n---\n' },
  })
  const file = join(service.root, 'casefile.md')
  const { id } = await service.newCase()
  t.strictSame(await healthProblems(service), [])
  for (const [text, line] of [
    [settingsText('', 'memory_root: elsewhere'), 3],
    ['Words\n', null],
  ]) {
    writeFileSync(file, text as string)
    const reported = {
      code: 'bad_settings',
      file: 'casefile.md',
      line,
      message: /^memory_root: .*restart/,
    }
    t.match(await healthProblems(service), [reported])
    t.ok(await must(service, 'GET', `/cases/${id}`))
  }
  writeFileSync(file, settingsText('memory_root: ./notes/'))
  t.strictSame(await healthProblems(service), [], 'the same folder in other words')
})

const AGENT =
  '  mine: { kind: command, plan: [agent, "a b", "\\e[2K\\rnice\\u202e"], work: [agent] }'
const HOSTILE = settingsText(
  'env: [DATABASE_URL]',
  'providers:',
  AGENT,
  '  same: { preset: claude }',
)
const OUTSIDE = '---\ntitle: "Look \\e[31m here"\nworkdir: ../outside\n---\n'
const CASE_ID = '11111111-2222-4333-8444-555555555555'

/** A workspace that asks for all there is to trust, and the arguments that name it. */
function hostile(t: Test, text = HOSTILE) {
  const dir = t.testdir({
    root: { 'casefile.md': text, memory: { cases: { [CASE_ID]: { 'case.md': OUTSIDE } } } },
    outside: {},
    state: {},
  })
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  const args = ['--root', root, '--state-dir', stateDir]
  return {
    dir,
    root,
    stateDir,
    args,
    file: join(stateDir, 'trust.json'),
    cli: commandsHere(t, { root: dir, env: { CASEFILE_STATE_DIR: '' } }),
  }
}

t.test('the command shows all that it would trust, with nothing hidden', async (t) => {
  const { dir, root, stateDir, args, file, cli } = hostile(t)
  const asked = await cli.run('doctor', '--trust', ...args)
  t.match(asked, { code: 1, stderr: /^casefile: .*casefile doctor --trust --yes\n$/ })
  t.equal(
    asked.stdout,
    `${join(dir, 'root')} asks you to trust the following. It has no effect until you do:

Providers: programs that sessions run as you, to plan without asking first:
  mine: a command, which gets its prompt by stdin
    plan     agent "a b" "\\u001b[2K\\rnice\\u{202e}"
    work     agent
  same: the preset claude

Environment variables of the service that steps and agents get:
  DATABASE_URL

Folders outside of the workspace that sessions work in:
  ${join(dir, 'outside')}
    case ${CASE_ID} "Look \\u001b[31m here", workdir "../outside"

`,
  )
  t.notOk(existsSync(file), 'nothing is trusted by showing it')

  const yes = await asks({ root, stateDir, yes: true })
  t.match(yes, { code: 0, warned: [], stdout: `${asked.stdout}Trusted, until it changes.\n` })
  const { workspaces } = JSON.parse(readFileSync(file, 'utf8'))
  t.match(workspaces[root], { settings: /^[0-9a-f]{64}$/, folders: [join(dir, 'outside')] })
  t.match(await asks({ root, stateDir }), { code: 0, stdout: /All of this is trusted already/ })
})

t.test('the command asks on a terminal', async (t) => {
  const { args, file, cli } = hostile(t)
  const answered = (answer: string) =>
    cli.runWith(
      { answers: [[/Trust all of this\? \[y\/N\]/, answer]] },
      'doctor',
      '--trust',
      ...args,
    )
  t.match(await answered(''), { code: 1, unasked: [], shown: /Nothing was trusted\./ })
  t.notOk(existsSync(file))
  t.match(await answered('yes'), { code: 0, unasked: [], shown: /Trusted, until it changes\./ })
  t.ok(existsSync(file))
})

t.test('what is trusted is what was shown', async (t) => {
  const { root, stateDir } = hostile(t)
  const print = () => {}
  async function ask(): Promise<boolean> {
    writeFileSync(join(root, 'casefile.md'), HOSTILE.replace('work: [agent]', 'work: [other]'))
    return true
  }
  t.equal(await trust({ root, stateDir }, { print, warn: print, ask }), 0)
  const { settings } = await openWorkspaceFolders({ root, stateDir }, {}, print)
  t.match(await settings(), { trust: 'changed' })
})

/** The command without a terminal. */
async function asks(options: Parameters<typeof trust>[0]) {
  let stdout = ''
  const warned: string[] = []
  const print = (text: string) => {
    stdout += text
  }
  const warn = (line: string) => void warned.push(line)
  try {
    return { code: await trust(options, { print, warn, ask: null }), stdout, warned }
  } catch (error) {
    return { code: null, stdout, warned, message: (error as Error).message }
  }
}

t.test('where there is nothing to trust, or where it cannot be told', async (t) => {
  const { dir, root, stateDir, cli } = hostile(t)
  rmSync(join(dir, 'outside'), { recursive: true })
  const runs: [name: string, text: string, more: object, expected: object][] = [
    [
      'no settings that need trust',
      settingsText('steps: [x]', 'provider: claude', 'providers: { same: { preset: claude } }'),
      {},
      { code: 0, stdout: /^Nothing needs trust in \S+\.\n$/, warned: [] },
    ],
    [
      'a setting that is wrong',
      settingsText('env: [A, 1]', 'stesp: []'),
      { yes: true },
      {
        code: 0,
        stdout: /\n {2}A\n\n/,
        warned: [/line 2: env\[1\]: found 1,/, /line 3: stesp/],
      },
    ],
    [
      'a file that cannot be read',
      '---\nenv: [A\n',
      { yes: true },
      { code: null, stdout: '', message: /^casefile\.md, line 1: .*Fix it/ },
    ],
    [
      'a state folder in the workspace',
      settingsText('env: [A]'),
      { yes: true, stateDir: join(root, 'state') },
      { code: null, message: /lies inside the workspace/ },
    ],
  ]
  for (const [name, text, more, expected] of runs) {
    writeFileSync(join(root, 'casefile.md'), text)
    t.match(await asks({ root, stateDir, ...more }), expected, name)
  }

  await t.test('a state folder that lies in the workspace by default', async (t) => {
    const env = { HOME: root, XDG_STATE_HOME: '' }
    const reported = await cli.runWith({ env }, 'doctor', '--trust', '--root', root, '--yes')
    t.match(reported, { code: 1, stderr: /inside the workspace, where a clone could bring/ })
  })
})

t.test('serve --trust trusts what is there at the start, and says what', async (t) => {
  const memory = { cases: { [CASE_ID]: { 'case.md': OUTSIDE.replace('outside', 'state') } } }
  const files = { 'casefile.md': HOSTILE, memory }
  const service = await openTestService(t, { mount: false, files, trust: true })
  t.strictSame(await healthProblems(service), [])
  await must(service, 'POST', `/cases/${CASE_ID}/sessions`, { type: 'planning' })
  writeFileSync(join(service.root, 'casefile.md'), HOSTILE.replace('DATABASE_URL', 'OTHER'))
  t.match(await healthProblems(service), [{ code: 'untrusted_settings' }, {}])
  t.match(
    service.log.join('\n'),
    /^--trust: .*\n *plan +agent "a b" "\\u001b\[2K.*\n {2}DATABASE_URL\n.*state\n/s,
  )
})
