import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { tempName, trashName } from '../../src/files/temp-files.ts'
import type { InitOptions } from '../../src/init/deps.ts'
import { planInit } from '../../src/init/init-command.ts'
import { MEMORY_KINDS, type MemoryKind } from '../../src/workspace/git/memory-kind.ts'
import { answered, needsScript } from '../fixtures/answered.ts'
import { runBuilt } from '../fixtures/built-service.ts'
import { CASE_ID } from '../fixtures/records.ts'
import { git } from '../fixtures/session-client.ts'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
interface Project {
  root: string
  /** Runs it without a terminal, and returns what it said. */
  init(options?: Partial<InitOptions>): Promise<string[]>
  git(...args: string[]): string
  /** Whether git takes a commit of all that there is in this folder of it. */
  commits(folder?: string): boolean
  file(...names: string[]): string
}

/** Runs it without a terminal, and returns what it said. */
async function init(options: InitOptions, program = cli): Promise<string[]> {
  const deps = { operator: null, program, environment: process.env, warn() {} }
  const { notes, write } = await planInit(options, deps)
  return [...(await write()), ...notes]
}

/** A repository of code in a folder whose name is no plain word; the workspace is `inner` of it. */
function project(t: Test, inner = '.'): Project {
  const top = join(t.testdir(), 'my [code] #1')
  const root = join(top, inner)
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, 'src', 'main.js'), 'one\n')
  git(top, 'init', '--quiet')
  git(top, 'add', '--all')
  git(top, 'commit', '--quiet', '--message', 'code')
  const file = (...names: string[]) => join(root, ...names)
  return {
    root,
    file,
    git: (...args) => git(root, ...args),
    init: (options = {}) => init({ root, ...options }),
    commits(folder = '.') {
      git(file(folder), 'add', '--all')
      const who = ['-c', 'user.name=T', '-c', 'user.email=t@example.com']
      const args = [...who, 'commit', '--quiet', '--message', 'x']
      return spawnSync('git', args, { cwd: file(folder) }).status === 0
    },
  }
}

/** Every file of a folder with its content, git's own left out. */
function tree(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => lstatSync(join(folder, name)).isFile())
  const own = /(^|\/)\.git\/(?!hooks\/(?:pre-commit|commit-msg)$|info\/exclude$)/
  return Object.fromEntries(
    files
      .filter((name) => !own.test(name))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

function breakCase({ file }: Project, broken = true): void {
  mkdirSync(file('memory/cases', CASE_ID), { recursive: true })
  writeFileSync(
    file('memory/cases', CASE_ID, 'case.md'),
    broken ? '---\nstate: NO\n---\n' : '# A case\n',
  )
}

const workspaces: [memory: MemoryKind, inner: string[]][] = [
  ['with-code', ['.', 'packages/one']],
  ['own-repo', ['packages/one']],
  ['orphan-worktree', ['.', 'packages/one']],
]
for (const [memory, inners] of workspaces) {
  for (const inner of inners) {
    t.test(`a workspace ${memory}, at ${inner} of the repository`, async (t) => {
      const space = project(t, inner)
      const said = await space.init({ memory, hook: true })
      t.match(
        said.join('\n'),
        /Created the hook .*pre-commit\nCreated the hook .*commit-msg\nCreated casefile\.md.*$/,
      )
      t.strictSame((await checkWorkspace({ root: space.root }, process.env)).findings, [])

      await t.test('a second run changes nothing', async (t) => {
        const before = tree(space.root)
        t.strictSame(await space.init({ memory, hook: true }), [])
        t.strictSame(await space.init(), [])
        t.strictSame(tree(space.root), before)
      })

      await t.test('git keeps it as it was said', async (t) => {
        const status = space.git('status', '--porcelain', '--', '.')
        const isApart = memory !== 'with-code'
        t.equal(/memory/.test(status), !isApart)
        const top = git(space.file('memory'), 'rev-parse', '--show-toplevel').trim()
        t.equal(top.endsWith('/memory'), isApart)
        const ignored = readFileSync(space.file('memory/.gitignore'), 'utf8')
        t.match(ignored, /^latest\.md$/m)
        for (const name of [tempName, trashName].map((make) =>
          make(space.file('memory/cases/x')),
        )) {
          mkdirSync(name)
          writeFileSync(join(name, 'case.md'), '')
          t.equal(git(space.file('memory'), 'status', '--porcelain', '--', name), '')
          rmSync(name, { recursive: true })
        }
      })

      await t.test('the hook stops a commit with a broken case, and no other', async (t) => {
        const place = memory === 'with-code' ? '.' : 'memory'
        breakCase(space)
        t.notOk(space.commits(place), 'broken')
        if (memory !== 'with-code') t.ok(space.commits('src'), 'the code has nothing to do with it')
        breakCase(space, false)
        t.ok(space.commits(place), 'mended')
      })
    })
  }
}

t.test('with the code, a commit without a case is not held up', async (t) => {
  const space = project(t)
  await space.init({ memory: 'with-code', hook: true })
  t.ok(space.commits())
  breakCase(space)
  writeFileSync(space.file('src/main.js'), 'two\n')
  space.git('add', 'src')
  t.match(
    space.git('commit', '--message', 'code'),
    /1 file changed/,
    'the broken case is not in it',
  )
})

for (const memory of ['own-repo', 'orphan-worktree'] as const) {
  t.test(`what git does to the code leaves the cases alone: ${memory}`, async (t) => {
    const space = project(t)
    space.git('branch', 'other')
    await space.init({ memory })
    breakCase(space, false)
    writeFileSync(space.file('src/main.js'), 'two\n')
    space.git('stash', '--include-untracked', '--quiet')
    space.git('clean', '-fdx', '--quiet')
    space.git('checkout', '--quiet', 'other')
    t.ok(existsSync(space.file('memory/cases', CASE_ID, 'case.md')))
  })
}

t.test('a clone gets the branch of the cases from where it came', async (t) => {
  const space = project(t)
  await space.init({ memory: 'orphan-worktree' })
  breakCase(space, false)
  t.ok(space.commits('memory'))
  git(space.file('..'), 'clone', '--quiet', space.root, 'clone')
  const root = space.file('../clone')
  await init({ root, memory: 'orphan-worktree' })
  t.equal(readFileSync(join(root, 'memory/cases', CASE_ID, 'case.md'), 'utf8'), '# A case\n')
  t.equal(
    git(join(root, 'memory'), 'rev-parse', '--abbrev-ref', '@{upstream}'),
    'origin/casefile\n',
  )
})

t.test('what is there already stays', async (t) => {
  await t.test('casefile.md, and the memory root that it names', async (t) => {
    const space = project(t)
    writeFileSync(space.file('casefile.md'), '---\nmemory_root: records\n---\n')
    t.match((await space.init()).join('\n'), /Created records\//)
    t.equal(readFileSync(space.file('casefile.md'), 'utf8'), '---\nmemory_root: records\n---\n')
    t.notOk(existsSync(space.file('memory')))
  })

  await t.test('a hook: then the line to add is said', async (t) => {
    const space = project(t)
    const hook = space.file('.git/hooks/pre-commit')
    writeFileSync(hook, '#!/bin/sh\necho mine\n')
    const said = (await space.init({ hook: true })).join('\n')
    t.match(said, /Did not change .*pre-commit, because it already exists/)
    t.equal(readFileSync(hook, 'utf8'), '#!/bin/sh\necho mine\n')

    const [, words] = /^ {2}casefile (check .*)$/m.exec(said)!
    const line = `node '${cli}' ${words}`
    writeFileSync(hook, `#!/bin/sh\n${line}\n`)
    chmodSync(hook, 0o755)
    breakCase(space)
    t.notOk(space.commits(), 'the line does what the hook would')
    breakCase(space, false)
    t.ok(space.commits())
  })

  await t.test('one way to keep cases, where another one is asked for', async (t) => {
    const space = project(t)
    await space.init({ memory: 'own-repo' })
    await t.rejects(space.init({ memory: 'with-code' }), { code: 'already_exists' })
  })

  await t.test('cases in the folder that a worktree would need', async (t) => {
    const space = project(t)
    breakCase(space, false)
    await t.rejects(space.init({ memory: 'orphan-worktree' }), { message: /Move them away/ })
    t.match((await space.init({ memory: 'own-repo' })).join('\n'), /a separate git repository/)
    t.ok(existsSync(space.file('memory/cases', CASE_ID, 'case.md')))
  })
})

t.test('a second workspace of a repository gets the lines to add', async (t) => {
  const space = project(t, 'a')
  await space.init({ memory: 'with-code', hook: true })
  mkdirSync(join(space.root, '../b'))
  const b = { ...space, file: (...names: string[]) => join(space.root, '../b', ...names) }
  const said = (await init({ root: b.file(), memory: 'with-code', hook: true })).join('\n')
  t.match(said, /pre-commit, because it is for another workspace of this repository/)
  const [, words] = /^ {2}casefile (check .*)$/m.exec(said)!
  const hook = join(space.root, '../.git/hooks/pre-commit')
  const text = readFileSync(hook, 'utf8')
  breakCase(b)
  writeFileSync(hook, text.replace('\n', `\nnode '${cli}' ${words}\n`))
  t.notOk(space.commits('..'), 'a broken case of the second')
  breakCase(b, false)
  t.ok(space.commits('..'))
})

t.test('the hook goes where git looks for it', async (t) => {
  await t.test('core.hooksPath of the repository', async (t) => {
    const space = project(t)
    space.git('config', 'core.hooksPath', '.githooks')
    await space.init({ hook: true })
    t.ok(existsSync(space.file('.githooks/pre-commit')))
    breakCase(space)
    t.notOk(space.commits())
  })

  await t.test('but not where the hooks of all repositories are', async (t) => {
    const space = project(t)
    const home = space.file('..')
    const { HOME } = process.env
    t.teardown(() => {
      process.env.HOME = HOME
    })
    process.env.HOME = home
    space.git('config', '--global', 'core.hooksPath', '~/all-hooks')
    const said = (await space.init({ hook: true })).join('\n')
    t.match(said, /Did not change .*all-hooks\/pre-commit, because it is shared by all/)
    t.notOk(existsSync(join(home, 'all-hooks')))
  })
})

t.test('where the program is not found, the commit passes with a warning', async (t) => {
  const space = project(t)
  await init({ root: space.root, hook: true }, '/nonexistent/cli.js')
  const bin = space.file('../bin')
  mkdirSync(bin)
  for (const name of ['git', 'sh']) {
    const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${path} "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  breakCase(space)
  space.git('add', '--all')
  const args = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qm', 'x']
  const result = spawnSync('git', args, {
    cwd: space.root,
    encoding: 'utf8',
    env: { ...process.env, PATH: bin },
  })
  t.match(result, { status: 0, stderr: /casefile: not found, so the cases .* were not checked/ })
})

t.test('nobody to ask takes the defaults, and installs no hook unasked', async (t) => {
  const space = project(t)
  const env = { GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = (...args: string[]) => runBuilt(['init', ...args], env, space.root)
  const first = await run()
  t.match(first, {
    code: 0,
    stderr:
      /^\nNext:\n {2}git add casefile\.md memory && git commit -m "Set up Casefile"\n {2}casefile doctor/,
    stdout: /Git stores the cases with-code[\s\S]*No hook/,
  })
  t.notOk(existsSync(space.file('.git/hooks/pre-commit')))
  t.match(await run('--yes'), { code: 0, stdout: /Created the hook/ })
  t.match(await run('--yes'), { code: 0, stdout: 'Nothing to do: everything is set up already\n' })
  t.match(await run('--yes', '--dry-run', '--tests', 'make'), {
    stdout: /^This would be written:\n\n {2}Set in casefile\.md: tests: make\n/,
  })
  t.notMatch(readFileSync(space.file('casefile.md'), 'utf8'), /^tests/m)
  t.match(await run('--memory', 'cloud'), { code: 2, stderr: /Allowed choices are with-code/ })
})

t.test('without questions it takes what Enter takes', async (t) => {
  const space = project(t)
  writeFileSync(space.file('package.json'), '{"scripts":{"test":"node --test"}}\n')
  const home = space.file('../home')
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
  const run = (...args: string[]) => runBuilt(['init', ...args], env, space.root)
  const done = await run('--agent', 'codex', '--in-terminal', '--no-hook', '--memory', 'own-repo')
  t.match(done, {
    code: 0,
    stdout:
      /npm test --silent proves that work is good, as package\.json says[\s\S]*Set in casefile\.md: provider: codex/,
    stderr: /Codex is not installed here\. Install it: npm install -g @openai\/codex/,
  })
  t.match(done.stdout, /codex: you have trusted none of its hooks/)
  t.match(done.stderr, /git add casefile\.md && git commit/, 'the cases are in another repository')
  t.match(done.stderr, /casefile new .* --use .*\n {2}casefile serve --open\n {2}codex /)
  const text = readFileSync(space.file('casefile.md'), 'utf8')
  t.match(text, /^tests: npm test --silent {7}# how the tests are run/m, 'where the comment was')
  t.match(text, /^checklist: \["All tests pass \(test-log, required\)"\] {2}# what a new case/m)
  t.equal(text.match(/tests:|checklist:/g)?.length, 2)
  t.match(text, /^# sign_approvals: true {9}# ask/m)
  t.ok(existsSync(join(home, '.codex/hooks.json')))
})

t.test('settings of the person that git would commit are told', async (t) => {
  const space = project(t)
  const run = (...args: string[]) =>
    runBuilt(
      ['init', '--agent', 'claude', '--in-terminal', ...args],
      { HOME: space.file('../home') },
      space.root,
    )
  t.match(await run('--dry-run'), {
    stdout: /Add hooks to \.claude\/settings\.local\.json, a new file: they send Claude Code's/,
  })
  t.match(await run(), { stdout: /local\.json names folders of this machine.*out of git/s })
  t.notMatch((await run('--dry-run')).stdout, /Add hooks/, 'they are there')
})

t.test('options change just their settings', async (t) => {
  const space = project(t)
  writeFileSync(space.file('casefile.md'), '---\nprovider: runbook # mine\n---\n\nMind the gap.\n')
  const run = (...args: string[]) => runBuilt(['init', ...args], {}, space.root)
  const tests = ['--agent', 'claude', '--tests', 'make check']
  t.match(await run(...tests), { code: 0, stdout: /Set in casefile\.md: tests: make check/ })
  t.equal(
    readFileSync(space.file('casefile.md'), 'utf8'),
    '---\nprovider: claude # mine\ntests: make check\nchecklist: ["All tests pass (test-log, required)"]\n---\n\nMind the gap.\n',
  )
  t.notMatch((await run(...tests)).stdout, /Set in/, 'a second run changes nothing')
  t.match(await run('--tests', 'none'), { code: 0, stdout: /Removed tests from casefile\.md/ })
  t.equal(
    readFileSync(space.file('casefile.md'), 'utf8'),
    '---\nprovider: claude # mine\nchecklist: ["All tests pass (test-log, required)"]\n---\n\nMind the gap.\n',
  )
  t.notMatch((await run('--tests', 'none')).stdout, /Removed/)
  t.match(await run('--agent', 'nobody'), { code: 1, stderr: /no provider "nobody"/ })
})

t.test('outside of a repository it makes the files alone', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'casefile-init-')) // the testdir lies in a repository
  t.teardown(() => rmSync(root, { recursive: true }))
  t.match((await init({ root })).join('\n'), /Skipped the git setup: not a git repository/)
  t.strictSame(readdirSync(root).sort(), ['casefile.md', 'memory'])
})

t.test('on a terminal it explains and asks', needsScript, async (t) => {
  const space = project(t)
  const env = {
    ...process.env,
    HOME: space.root,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  }
  const answers: [question: string, answer: string][] = [
    ['1? [1]', ''],
    ['none [none]', 'make check'],
    ['1, 2 or 3? [1]', 'what?'],
    ['1, 2 or 3? [1]', '2'],
    ['[y/N]', 'y'],
    ['Write this? [Y/n]', 'what?'],
    ['Write this? [Y/n]', ''],
  ]
  const { code, shown } = await answered(['node', cli, 'init', '--root', space.root], env, answers)
  t.equal(code, 0)
  const [explained = ''] = /How should git[\s\S]*?1, 2 or 3\?/.exec(shown) ?? []
  t.match(explained, /stash\s+and\s+clean[\s\S]*separate\s+branch\s+"casefile"/)
  const widths = explained.split(/\r?\n/).map((line) => line.length)
  t.ok(Math.max(...widths) <= 80, 'it fits a narrow terminal')
  t.match(
    shown,
    /Claude Code \(not installed: npm install[\s\S]*This will be written:[\s\S]*tests: make check/,
  )
  t.match(readFileSync(space.file('casefile.md'), 'utf8'), /^tests: make check +# how/m)
  t.match(shown, /Made memory\/ a separate git repository[\s\S]*Created the hook/)
  t.ok(existsSync(space.file('memory/.git/hooks/pre-commit')))
})

t.test('the kinds are those that docs/git.md explains', async (t) => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/git.md', import.meta.url)), 'utf8')
  const reported = [...page.matchAll(/^### .*`([a-z-]+)`$/gm)].map(
    (match) => match[1] as MemoryKind,
  )
  t.strictSame(reported, MEMORY_KINDS)
})
