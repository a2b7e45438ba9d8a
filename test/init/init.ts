import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { tempName, trashName } from '../../src/files/temp-files.ts'
import { MEMORY_KINDS, type MemoryKind } from '../../src/git/memory-kind.ts'
import { planInit } from '../../src/init/init-command.ts'
import { CLI } from '../fixtures/cli.ts'
import { isLong } from '../fixtures/full.ts'
import { type Project, project } from '../fixtures/init-project.ts'
import { CASE_ID } from '../fixtures/records.ts'
import { git } from '../fixtures/session-client.ts'

const workspaces: [memory: MemoryKind, inner: string][] = [
  ['with-code', 'packages/one'],
  ['own-repo', 'packages/one'],
  ['orphan-worktree', '.'],
]
for (const [memory, inner] of workspaces.slice(0, isLong ? undefined : 1)) {
  t.test(`a workspace ${memory}, at ${inner} of the repository`, async (t) => {
    const space = project(t, inner)
    t.match(
      await space.setUp({ memory, hook: true }),
      /Created the hook .*pre-commit\nCreated the hook .*commit-msg\nCreated casefile\.md.*$/,
    )
    t.strictSame((await checkWorkspace({ root: space.root }, process.env)).findings, [])
    const before = space.tree()
    t.equal(await space.setUp({ memory, hook: true }), '', 'a second run changes nothing')
    t.equal(await space.setUp(), '')
    t.strictSame(space.tree(), before)

    const isApart = memory !== 'with-code'
    t.equal(/memory/.test(space.git('status', '--porcelain', '-uall', '--', '.')), !isApart)
    const top = git(space.file('memory'), 'rev-parse', '--show-toplevel').trim()
    t.equal(top.endsWith('/memory'), isApart)
    t.match(space.read('memory/.gitignore'), /^latest\.md$/m)
    for (const make of [tempName, trashName]) {
      const name = make(space.file('memory/cases/x'))
      mkdirSync(name)
      writeFileSync(join(name, 'case.md'), '')
      t.equal(git(space.file('memory'), 'status', '--porcelain', '--', name), '')
      rmSync(name, { recursive: true })
    }

    space.writeCase(true)
    t.notOk(space.commits(isApart ? 'memory' : '.'), 'the hook stops a broken case')
    if (memory !== 'orphan-worktree') return // whose hooks are those of the code
    space.writeCase(false)
    t.ok(space.commits('memory'), 'mended')
  })
}

t.test('with the code, a commit without a case is not held up', async (t) => {
  const space = project(t)
  await space.setUp({ memory: 'with-code', hook: true })
  space.writeCase(true)
  space.write('main.js', 'two\n')
  space.git('add', 'main.js')
  t.match(space.git('commit', '--message', 'code'), /1 file changed/, 'the broken one is not in it')
})

for (const memory of ['own-repo', 'orphan-worktree'] as const) {
  t.test(`what git does to the code leaves the cases alone: ${memory}`, async (t) => {
    const space = project(t)
    space.git('branch', 'other')
    await space.setUp({ memory })
    space.writeCase(false)
    space.write('main.js', 'two\n')
    space.git('stash', '--include-untracked', '--quiet')
    space.git('clean', '-fdx', '--quiet')
    space.git('checkout', '--quiet', 'other')
    t.ok(existsSync(space.file('memory/cases', CASE_ID, 'case.md')))
  })
}

t.test('a clone gets the branch of the cases from where it came', async (t) => {
  const space = project(t)
  await space.setUp({ memory: 'orphan-worktree' })
  space.writeCase(false)
  t.ok(space.commits('memory'))
  git(space.file('..'), 'clone', '--quiet', space.root, 'clone')
  const root = space.file('../clone')
  const deps = { program: CLI, environment: space.env, warn() {} }
  await (await planInit({ root, memory: 'orphan-worktree' }, deps)).write()
  const memory = join(root, 'memory')
  t.equal(readFileSync(join(memory, 'cases', CASE_ID, 'case.md'), 'utf8'), '# A case\n')
  t.equal(git(memory, 'rev-parse', '--abbrev-ref', '@{upstream}'), 'origin/casefile\n')
})

/** Runs the line that a person is told to add to a hook, in the folder where git would. */
async function checksCases(t: Test, space: Project, said: string, cwd: string): Promise<void> {
  const [, words] = /^ {2}casefile (doctor --check .*)$/m.exec(said) ?? []
  const shell = spawnSync('sh', ['-c', `printf '%s\\n' ${words}`], { cwd, encoding: 'utf8' })
  const checked = await space.runAt(cwd, ...shell.stdout.trimEnd().split('\n'))
  t.match(checked, { code: 1, stdout: /case\.md:2: unknown_state/ })
}

t.test('what is there already stays', async (t) => {
  await t.test('casefile.md, and the memory root that it names', async (t) => {
    const space = project(t)
    space.write('casefile.md', '---\nmemory_root: records\n---\n')
    t.match(await space.setUp(), /Created records\//)
    t.equal(space.read('casefile.md'), '---\nmemory_root: records\n---\n')
    t.notOk(existsSync(space.file('memory')))
  })

  await t.test('a hook: then the line to add is said', async (t) => {
    const space = project(t)
    space.write('.git/hooks/pre-commit', '#!/bin/sh\necho mine\n')
    const said = await space.setUp({ hook: true })
    t.match(said, /Did not change .*pre-commit, because it already exists/)
    t.equal(space.read('.git/hooks/pre-commit'), '#!/bin/sh\necho mine\n')
    space.writeCase(true)
    space.git('add', '--all')
    await checksCases(t, space, said, space.root)
  })

  await t.test('one way to keep cases, where another one is asked for', async (t) => {
    const space = project(t)
    space.writeCase(false)
    await t.rejects(space.setUp({ memory: 'orphan-worktree' }), { message: /Move them away/ })
    t.match(await space.setUp({ memory: 'own-repo' }), /a separate git repository/)
    t.ok(existsSync(space.file('memory/cases', CASE_ID, 'case.md')))
    await t.rejects(space.setUp({ memory: 'with-code' }), { code: 'already_exists' })
  })
})

t.test('a second workspace of a repository gets the lines to add', async (t) => {
  const space = project(t, 'a')
  await space.setUp({ memory: 'with-code', hook: true })
  const root = space.file('../b')
  mkdirSync(join(root, 'memory/cases', CASE_ID), { recursive: true })
  const deps = { program: CLI, environment: space.env, warn() {} }
  const { notes, write } = await planInit({ root, memory: 'with-code', hook: true }, deps)
  await write()
  const said = notes.join('\n')
  t.match(said, /pre-commit, because it is for another workspace of this repository/)
  writeFileSync(join(root, 'memory/cases', CASE_ID, 'case.md'), '---\nstate: NO\n---\n')
  git(root, 'add', '--all')
  await checksCases(t, space, said, space.file('..'))
})

t.test('the hook goes where git looks for it', async (t) => {
  await t.test('core.hooksPath of the repository', async (t) => {
    const space = project(t)
    space.git('config', 'core.hooksPath', '.githooks')
    await space.setUp({ hook: true })
    t.ok(existsSync(space.file('.githooks/pre-commit')))
  })

  await t.test('but not where the hooks of all repositories are', async (t) => {
    const space = project(t)
    const { HOME } = process.env
    t.teardown(() => {
      process.env.HOME = HOME
    })
    process.env.HOME = space.env.HOME
    space.git('config', '--global', 'core.hooksPath', '~/all-hooks')
    const said = await space.setUp({ hook: true })
    t.match(said, /Did not change .*all-hooks\/pre-commit, because it is shared by all/)
    t.notOk(existsSync(join(space.env.HOME, 'all-hooks')))
  })
})

t.test('where the program is not found, the commit passes with a warning', async (t) => {
  const space = project(t)
  const environment = space.env
  const deps = { program: '/nonexistent/cli.js', environment, warn() {} }
  await (await planInit({ root: space.root, hook: true }, deps)).write()
  const bin = space.file('../bin')
  mkdirSync(bin)
  for (const name of ['git', 'sh']) {
    const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${path} "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  space.writeCase(true)
  space.git('add', '--all')
  const args = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qm', 'x']
  const env = { ...process.env, PATH: bin }
  const result = spawnSync('git', args, { cwd: space.root, encoding: 'utf8', env })
  t.match(result, { status: 0, stderr: /casefile: not found, so the cases .* were not checked/ })
})

t.test('without a terminal it writes only with --yes', async (t) => {
  const space = project(t)
  t.match(await space.init('--no-hook'), { code: 2, stderr: /Nothing was written.*--yes/ })
  t.notOk(existsSync(space.file('casefile.md')))
  t.match(await space.init('--yes', '--no-hook', '--agent', 'none'), {
    code: 0,
    stderr:
      /^\nNext:\n {2}git add casefile\.md memory && git commit -m "Set up Casefile"\n {2}casefile new/,
    stdout: /Git stores the cases in this repository/,
  })
  t.notOk(existsSync(space.file('.git/hooks/pre-commit')))
  t.match(await space.init('--yes'), { code: 0, stdout: /Created the hook/ })
  const nothing = 'Nothing to do: everything is set up already\n'
  t.match(await space.init('--yes'), { code: 0, stdout: nothing })
  t.match(await space.init('--yes', '--dry-run', '--tests', 'make'), {
    stdout: /^This would be written:\n\n {2}Set in casefile\.md: tests: make\n/,
  })
  t.notMatch(space.read('casefile.md'), /^tests/m)
  const wrong = { code: 2, stderr: /Allowed choices are with-code/ }
  t.match(await space.init('--memory', 'cloud'), wrong)
})

t.test('without questions it takes what Enter takes', async (t) => {
  const space = project(t)
  space.write('package.json', '{"scripts":{"test":"node --test"}}\n')
  const args = ['--agent', 'codex', '--in-terminal', '--no-hook', '--memory', 'own-repo', '--yes']
  const done = await space.init(...args)
  t.match(done, {
    code: 0,
    stdout:
      /npm test --silent proves that work is good, as package\.json says[\s\S]*Set in casefile\.md: provider: codex/,
    stderr: /Codex is not installed here\. Install it: npm install -g @openai\/codex/,
  })
  t.match(done.stdout, /codex: you have trusted none of its hooks/)
  t.match(done.stderr, /git add casefile\.md && git commit/, 'the cases are in another repository')
  t.match(done.stderr, /casefile new .* --use .*\n {2}casefile serve --open\n {2}codex /)
  const text = space.read('casefile.md')
  t.match(text, /^tests: npm test --silent {7}# how the tests are run/m, 'where the comment was')
  t.match(text, /^checklist: \["All tests pass \(test-log, required\)"\] {2}# what a new case/m)
  t.equal(text.match(/tests:|checklist:/g)?.length, 2)
  t.match(text, /^# sign_approvals: true {9}# ask/m)
  t.ok(existsSync(join(space.env.HOME, '.codex/hooks.json')))
})

t.test('settings of the person that git would commit are told', async (t) => {
  const space = project(t)
  const init = (...args: string[]) =>
    space.init('--agent', 'claude', '--in-terminal', '--no-hook', ...args)
  t.match(await init('--dry-run'), {
    stdout: /Add hooks to \.claude\/settings\.local\.json, a new file: they send Claude Code's/,
  })
  t.match(await init('--yes'), { stdout: /local\.json names folders of this machine.*out of git/s })
})

t.test('options change just their settings', async (t) => {
  const space = project(t)
  space.write('casefile.md', '---\nprovider: runbook # mine\n---\n\nMind the gap.\n')
  const tests = ['--yes', '--no-hook', '--agent', 'claude', '--tests', 'make check']
  t.match(await space.init(...tests), {
    code: 0,
    stdout: /Set in casefile\.md: tests: make check/,
  })
  const set =
    '---\nprovider: claude # mine\ntests: make check\nchecklist: ["All tests pass (test-log, required)"]\n---\n\nMind the gap.\n'
  t.equal(space.read('casefile.md'), set)
  t.notMatch((await space.init(...tests)).stdout, /Set in/, 'a second run changes nothing')
  t.match(await space.init('--tests', 'none', '--yes', '--no-hook'), {
    stdout: /Removed tests from casefile\.md/,
  })
  t.equal(space.read('casefile.md'), set.replace('tests: make check\n', ''))
  const unknown = { code: 1, stderr: /no provider "nobody"/ }
  t.match(await space.init('--agent', 'nobody', '--yes'), unknown)
})

t.test('outside of a repository it makes the files alone', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'casefile-init-')) // the testdir lies in a repository
  t.teardown(() => rmSync(root, { recursive: true }))
  const deps = { program: CLI, environment: process.env, warn() {} }
  const { notes, write } = await planInit({ root }, deps)
  t.match(notes, [/Skipped the git setup: not a git repository/])
  await write()
  t.strictSame(readdirSync(root).sort(), ['casefile.md', 'memory'])
})

t.test('on a terminal it explains and asks', async (t) => {
  const space = project(t)
  const { code, shown, unasked } = await space.asked([
    [/1\? \[1\]/, ''],
    [/none \[none\]/, 'x'.repeat(1001)],
    [/none \[none\]/, 'make check'],
    [/Write this\? \[Y\/n\]/, 'what?'],
    [/Write this\? \[Y\/n\]/, ''],
  ])
  t.strictSame({ code, unasked }, { code: 0, unasked: [] })
  t.match(shown, /at\s+most\s+1000\s+characters/)
  t.match(
    shown,
    /Claude Code \(not installed: npm install[\s\S]*This will be written:[\s\S]*tests: make check/,
  )
  t.match(space.read('casefile.md'), /^tests: make check +# how/m)
  t.match(shown, /Git\s+stores\s+the\s+cases\s+in\s+this[\s\S]*No\s+hook\s+is\s+installed/)
})

t.test('after a failure, a second run asks what the first has asked', async (t) => {
  const space = project(t)
  space.write('.claude/settings.local.json', '{ "hooks": ')
  const asked = [[/none \[none\]/, 'make check']] as const
  const args = ['--agent', 'claude', '--in-terminal']
  const first = await space.asked(asked, ...args)
  t.match(first, { code: 1, unasked: [], shown: /settings\.local\.json\s+cannot\s+be\s+changed/ })
  t.notMatch(first.shown, /will be written/)
  rmSync(space.file('.claude/settings.local.json'))
  const second = await space.asked([...asked, [/Write this\? \[Y\/n\]/, 'n']], ...args)
  t.match(second, { code: 0, unasked: [], stderr: /Nothing was written/ })
  t.notOk(existsSync(space.file('casefile.md')))
})

t.test('the kinds are those that docs/git.md explains', async (t) => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/git.md', import.meta.url)), 'utf8')
  const reported = [...page.matchAll(/^`([a-z-]+)` \|/gm)].map(([, kind]) => kind)
  t.strictSame(reported, MEMORY_KINDS)
})
