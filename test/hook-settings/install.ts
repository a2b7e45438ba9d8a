import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { HookScope } from '../../src/runners/agents/install/agent-hooks.ts'
import { HOOK_AGENTS, hookTarget } from '../../src/runners/agents/install/hook-agents.ts'
import { planHooks, writeHooks } from '../../src/runners/agents/install/hook-change.ts'
import { installHookScript } from '../../src/runners/agents/install/service-hooks.ts'
import { hooksReport } from '../../src/runners/agents/install/status.ts'
import { createTrustFile } from '../../src/settings/trust-file.ts'
import { trusting } from '../fixtures/person-with-agents.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A person with settings, and what the commands do for them. */
function person(t: Test) {
  const folder = realpathSync(t.testdir({ work: {}, state: {}, home: {} }))
  const [root, stateDir, home] = ['work', 'state', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const environment = { HOME: home, PATH: process.env.PATH }
  const places = { root, stateDir, environment }
  const trust = createTrustFile(stateDir, root, () => {})
  const agent = (id: string) => HOOK_AGENTS.find((each) => each.id === id)!
  const plan = (what: 'install' | 'remove', id: string, place: HookScope, isStrict = false) =>
    planHooks({ what, agent: agent(id), place, isStrict }, places)
  const run = async (
    what: 'install' | 'remove',
    id: string,
    place: HookScope,
    isStrict = false,
  ) => {
    const change = (await plan(what, id, place, isStrict))!
    await writeHooks([change], places, { trust, script: true })
    return change.path
  }
  const report = async () => (await hooksReport(places)).hooks
  return { folder, root, stateDir, home, places, trust, agent, plan, run, report }
}

t.test('what Casefile made goes with its hooks, and nothing else', async (t) => {
  const { root, home, run } = person(t)
  const path = await run('install', 'claude', 'local')
  await run('install', 'claude', 'local', true)
  t.match(readFileSync(path, 'utf8'), / gate strict /)
  await run('remove', 'claude', 'local')
  t.notOk(existsSync(dirname(path)), 'the folder was new, also after a second installation')

  mkdirSync(join(root, '.claude'))
  await run('install', 'claude', 'local')
  await run('remove', 'claude', 'local')
  t.ok(existsSync(join(root, '.claude')), 'a folder of the person stays')

  const settings = '{ "model": "opus" } // mine\n'
  writeFileSync(join(root, '.claude/settings.json'), settings)
  const user = await run('install', 'gemini', 'user')
  for (const what of ['install', 'remove'] as const)
    for (const place of ['local', 'project'] as const) await run(what, 'claude', place)
  await run('remove', 'gemini', 'user')
  t.equal(readFileSync(join(root, '.claude/settings.json'), 'utf8'), settings)
  t.notOk(existsSync(user))
  t.strictSame(existsSync(home), true)
})

t.test('settings come back as they were', async (t) => {
  const { root, run } = person(t)
  const path = join(root, '.claude/settings.local.json')
  mkdirSync(dirname(path))
  for (const text of ['{\n}\n', '{\n  "a": 1\n}\n', '{"a":{}}\n\n', '{\n\n}\n']) {
    writeFileSync(path, text)
    await run('install', 'claude', 'local')
    await run('remove', 'claude', 'local')
    t.equal(readFileSync(path, 'utf8'), text, JSON.stringify(text))
  }
  writeFileSync(path, '{}')
  await run('install', 'claude', 'local')
  await run('remove', 'claude', 'local')
  t.equal(readFileSync(path, 'utf8'), '{\n}', 'but for a line break in an empty object')
})

t.test('a save between the question and the answer is kept', async (t) => {
  const { root, plan, places, trust } = person(t)
  const path = join(root, '.claude/settings.local.json')
  const isKept = async (before: string | null, saved: string) => {
    if (before !== null) writeFileSync(path, before)
    const change = (await plan('install', 'claude', 'local'))!
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, saved)
    await t.rejects(writeHooks([change], places, { trust, script: true }))
    t.equal(readFileSync(path, 'utf8'), saved)
  }
  await isKept(null, '{"new":1}')
  await isKept('{"a":1}', '{"a":2}')
})

t.test('a change that was agreed to keeps trust, and makes none', async (t) => {
  const { root, run, trust } = person(t)
  const trusted = async (path: string) => (await trust.read()).files.get(path)
  for (const place of ['local', 'project'] as const) {
    const made = await run('install', 'claude', place)
    t.equal(await trusted(made), sha256(readFileSync(made, 'utf8')), 'a file that was not there')
    await run('install', 'claude', place, true)
    t.equal(await trusted(made), sha256(readFileSync(made, 'utf8')), 'one that was trusted')
    await run('remove', 'claude', place)
    t.equal(await trusted(made), undefined)
    mkdirSync(join(root, '.claude'), { recursive: true })
    writeFileSync(made, '{ "hooks": {} }')
    await run('install', 'claude', place)
    t.equal(await trusted(made), undefined, 'one that nobody has trusted')
  }
  const user = await run('install', 'codex', 'user')
  t.equal(await trusted(user), undefined, 'settings of a person need no trust')
})

t.test('a file of another person is not overwritten', async (t) => {
  const { plan, run, folder } = person(t)
  for (const [id, place] of [
    ['copilot', 'user'],
    ['opencode', 'local'],
  ] as const) {
    const { path } = (await plan('install', id, place))!
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '{"hooks":"of casefile, they say"}')
    await t.rejects(plan('install', id, place), { code: 'already_exists' }, id)
    t.match(await plan('remove', id, place), { before: /they say/, after: /they say/ })
  }
  const records = join(folder, 'state/hooks/installed.json')
  mkdirSync(dirname(records), { recursive: true })
  writeFileSync(records, '{ half')
  const path = await run('install', 'claude', 'local')
  await run('remove', 'claude', 'local')
  t.notOk(existsSync(path), 'a damaged record stops nothing')
})

t.test('the hooks of Codex by a link count as trusted by either name', async (t) => {
  const { folder, home, run, report } = person(t)
  const file = await run('install', 'codex', 'user')
  const real = join(folder, 'dotfiles.json')
  renameSync(file, real)
  symlinkSync(real, file)
  const config = join(home, '.codex/config.toml')
  const obstacle = async () => (await report())[0]?.obstacle?.level ?? null
  t.equal(await obstacle(), 'not_trusted')
  writeFileSync(config, trusting(file))
  t.equal(await obstacle(), null)
  writeFileSync(config, trusting(real))
  t.equal(await obstacle(), null)
  writeFileSync(config, trusting(real).replaceAll('sha256:', 'sha256:0'))
  t.equal(await obstacle(), 'not_trusted')
})

t.test('hooks are strict where they are installed so', async (t) => {
  const { agent, root, stateDir } = person(t)
  for (const { id } of HOOK_AGENTS) {
    const text = (isStrict: boolean) =>
      agent(id).add(null, 'x', hookTarget({ root, stateDir }, 'user', isStrict))
    t.match(text(true), / strict user |const isStrict = true/, id)
    t.notMatch(text(false), / strict |const isStrict = true/, id)
  }
})

t.test('an agent that casefile agent run starts has the hooks in its arguments', async (t) => {
  const { agent, root, stateDir } = person(t)
  const target = (isStrict: boolean) => hookTarget({ root, stateDir }, 'local', isStrict)
  const settings = async (isStrict: boolean) => {
    const [option, path] = await agent('claude').runArguments!(stateDir, target(isStrict))
    t.equal(option, '--settings')
    return path!
  }
  const [plain, strict] = [await settings(false), await settings(true)]
  t.notMatch(readFileSync(plain, 'utf8'), ' strict ', 'each has a file of its own')
  t.match(readFileSync(strict, 'utf8'), ' gate strict ')

  const words = await agent('codex').runArguments!(stateDir, target(false))
  t.strictSame(words.slice(0, 2), ['--disable', 'daemon_auto_start'])
  const gate = words.find((word) => word.startsWith('hooks.PreToolUse='))!
  const command = JSON.parse(/command=("(?:[^"\\]|\\.)*")/.exec(gate)![1]!)
  const hook = { async: false, command, timeout: 30, type: 'command' }
  const hash = sha256(JSON.stringify({ event_name: 'pre_tool_use', hooks: [hook] }))
  t.match(
    words.at(-1),
    `"/<session-flags>/config.toml:pre_tool_use:0:0"={trusted_hash="sha256:${hash}"}`,
  )
})

t.test('the hooks of a workspace that is a worktree know the repository', async (t) => {
  const { folder, root, stateDir, places } = person(t)
  const git = join(folder, 'main', '.git')
  mkdirSync(join(git, 'worktrees', 'work'), { recursive: true })
  writeFileSync(join(root, '.git'), `gitdir: ${git}/worktrees/work\n`)
  writeFileSync(join(git, 'worktrees/work/commondir'), '../..\n')
  await installHookScript(places)
  t.match(readFileSync(join(stateDir, 'hooks/hook'), 'utf8'), `\ngit='${git}'\n`)
})
