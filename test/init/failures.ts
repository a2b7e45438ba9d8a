import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { runBuilt } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import { type Options, type Project, project } from '../fixtures/init-project.ts'
import { git } from '../fixtures/session-client.ts'

const NOBODY_UID = 65_534
const isRoot = process.getuid?.() === 0

interface Failure {
  name: string
  options: Options
  /** Makes it fail. */
  spoil(space: Project): void
  /** Puts that right. */
  mend(space: Project): void
  /** What the error says, with the name of the file. */
  error: RegExp
}

const HOOKS = '.claude/settings.local.json'
const IN_TERMINAL: Options = { agent: 'claude', inTerminal: true }
const BROKEN = '---\nprovider: [\n---\n'
const remove =
  (name: string) =>
  ({ file }: Project) =>
    rmSync(file(name), { recursive: true })

const failures: Failure[] = [
  {
    name: "the agent's settings are broken",
    options: { ...IN_TERMINAL, hook: true },
    spoil: ({ write }) => write(HOOKS, '{ "hooks": '),
    mend: remove('.claude'),
    error: /\.claude\/settings\.local\.json cannot be changed: line 1: .*Fix it/,
  },
  {
    name: "a file is in the place of the agent's folder",
    options: IN_TERMINAL,
    spoil: ({ write }) => write('.claude', 'mine\n'),
    mend: remove('.claude'),
    error: /\.claude\/settings\.local\.json cannot be changed: .*not a folder/,
  },
  {
    name: 'casefile.md is a symbolic link',
    options: { tests: 'make' },
    spoil({ file, write }) {
      write('other.md', '---\nprovider: runbook\n---\n')
      symlinkSync('other.md', file('casefile.md'))
    },
    mend: ({ file }) => unlinkSync(file('casefile.md')),
    error: /casefile\.md cannot be changed: symbolic links are not followed/,
  },
  {
    name: 'casefile.md is a folder, and nothing would be set in it',
    options: { yes: true },
    spoil: ({ file }) => void mkdirSync(file('casefile.md')),
    mend: remove('casefile.md'),
    error: /casefile\.md cannot be changed: this is not a regular file/,
  },
  {
    name: 'the frontmatter of casefile.md is broken',
    options: { tests: 'make' },
    spoil: ({ write }) => write('casefile.md', BROKEN),
    mend: remove('casefile.md'),
    error: /casefile\.md cannot be changed: line \d+: .*Fix/,
  },
  {
    name: 'memory has files, and a worktree is wanted',
    options: { memory: 'orphan-worktree', hook: true },
    spoil: ({ write }) => write('memory/cases/x/case.md', '# A case\n'),
    mend: remove('memory'),
    error: /memory already has files.*Move them away/,
  },
  {
    name: 'the branch of the cases is checked out elsewhere',
    options: { memory: 'orphan-worktree' },
    spoil: ({ root }) => void git(root, 'worktree', 'add', '-q', '-b', 'casefile', '../other'),
    mend({ root }) {
      git(root, 'worktree', 'remove', '../other')
      git(root, 'branch', '-D', 'casefile')
    },
    error: /casefile is checked out in .*other/,
  },
  {
    name: 'git still lists a worktree that is gone',
    options: { memory: 'orphan-worktree' },
    spoil({ root, file }) {
      git(root, 'worktree', 'add', '-q', '-b', 'casefile', 'memory')
      rmSync(file('memory'), { recursive: true })
    },
    mend({ root }) {
      git(root, 'worktree', 'prune')
      git(root, 'branch', '-D', 'casefile')
    },
    error: /memory.* is gone.*git worktree prune/,
  },
  {
    name: 'the same of another branch',
    options: { memory: 'orphan-worktree' },
    spoil({ root, file }) {
      git(root, 'worktree', 'add', '-q', '-b', 'other', 'memory')
      rmSync(file('memory'), { recursive: true })
    },
    mend({ root }) {
      git(root, 'worktree', 'prune')
      git(root, 'branch', '-D', 'other')
    },
    error: /memory.* is gone.*git worktree prune/,
  },
  {
    name: "a branch's name begins like that of the cases",
    options: { memory: 'orphan-worktree' },
    spoil: ({ root }) => void git(root, 'branch', 'casefile/mine'),
    mend: ({ root }) => void git(root, 'branch', '-D', 'casefile/mine'),
    error: /casefile\/mine.*Rename/,
  },
  {
    name: 'a file is in the place of the memory root',
    options: { yes: true },
    spoil: ({ write }) => write('memory', 'mine\n'),
    mend: remove('memory'),
    error: /memory is not a folder/,
  },
  {
    name: 'the folder of the cases is a link',
    options: { yes: true },
    spoil({ file }) {
      mkdirSync(file('memory/elsewhere'), { recursive: true })
      symlinkSync('elsewhere', file('memory/cases'))
    },
    mend: remove('memory'),
    error: /memory\/cases is not a folder/,
  },
  {
    name: 'the hooks of git are switched off',
    options: { hook: true },
    spoil: ({ root }) => void git(root, 'config', 'core.hooksPath', '/dev/null'),
    mend: ({ root }) => void git(root, 'config', '--unset', 'core.hooksPath'),
    error: /\/dev\/null\/pre-commit cannot be written: \/dev\/null is not a folder.*--no-hook/,
  },
  {
    name: 'what git ignores in this clone cannot be read',
    options: { memory: 'own-repo' },
    spoil({ file }) {
      rmSync(file('.git/info/exclude'), { force: true })
      mkdirSync(file('.git/info/exclude'), { recursive: true })
    },
    mend: remove('.git/info/exclude'),
    error: /\.git\/info\/exclude cannot be read/,
  },
  {
    name: 'allowed_signers is a folder',
    options: { sign: true },
    spoil: ({ file }) => void mkdirSync(file('allowed_signers')),
    mend: remove('allowed_signers'),
    error: /allowed_signers cannot be read/,
  },
]

t.test('nothing is written if', async (t) => {
  const space = project(t)
  for (const { name, options, spoil, mend, error } of failures) {
    await t.test(name, async (t) => {
      spoil(space)
      const before = space.tree()
      await t.rejects(space.plan(options), { message: error })
      t.strictSame(space.tree(), before)
      mend(space)
    })
  }
  t.match((await space.plan()).lines.join('\n'), /^Create casefile\.md/m, 'all of it is mended')
})

t.test('a dry run fails as the run does', async (t) => {
  const space = project(t)
  space.write('casefile.md', BROKEN)
  const before = space.tree()
  const dry = await space.init('--yes', '--dry-run')
  const error = /^casefile: casefile\.md cannot be changed: line 2: /
  t.match(dry, { code: 1, stderr: error })
  t.match(await space.init('--yes'), { code: 1, stderr: dry.stderr })
  t.strictSame(space.tree(), before)
})

t.test('the plan knows the hooks of a repository that does not exist yet', async (t) => {
  const own: Options = { memory: 'own-repo', hook: true }

  await t.test('hooks of a template', async (t) => {
    const space = project(t)
    const { HOME } = process.env
    t.teardown(() => {
      process.env.HOME = HOME
    })
    process.env.HOME = space.env.HOME
    space.write('../template/hooks/pre-commit', '#!/bin/sh\n')
    git(space.root, 'config', '--global', 'init.templateDir', space.file('../template'))
    const { lines, notes, write } = await space.plan(own)
    t.notMatch(lines.join('\n'), /pre-commit/)
    t.match(
      notes[0],
      /Did not change .*memory\/\.git\/hooks\/pre-commit, because it already exists/,
    )
    await write()
    t.equal(space.read('memory/.git/hooks/pre-commit'), '#!/bin/sh\n')
  })

  await t.test('the hooks folder of the code is not its hooks folder', async (t) => {
    const space = project(t)
    git(space.root, 'config', 'core.hooksPath', '.githooks')
    mkdirSync(space.file('memory'))
    const { lines, write } = await space.plan(own)
    t.match(lines.join('\n'), /memory\/\.git\/hooks\/pre-commit[\s\S]*\.githooks\/commit-msg/)
    await write()
    t.ok(existsSync(space.file('memory/.git/hooks/pre-commit')))
  })
})

t.test('a state folder that cannot be is named', async (t) => {
  const space = project(t)
  const states: [folder: string, error: RegExp][] = [
    ['main.js', /The state folder .*main\.js\/casefile.* cannot be reached \(ENOTDIR\)/],
    ['memory', /The state folder .*memory\/casefile.* lies inside the memory root/],
    ['state', /The state folder .*state\/casefile.* lies inside the workspace/],
  ]
  for (const [folder, error] of states) {
    const env = { XDG_STATE_HOME: space.file(folder) }
    await t.rejects(space.plan({ agent: 'claude', inTerminal: true }, env), { message: error })
  }
})

t.test('nothing is written if there is no permission', inLongLane, async (t) => {
  const space = project(t)
  mkdirSync(space.file('.git/info'), { recursive: true })
  const folder = dirname(space.root)
  if (isRoot) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    for (const each of ['.', ...names]) chownSync(join(folder, each), NOBODY_UID, NOBODY_UID)
  }
  const before = space.tree()
  const places: [name: string, args: string[], error: RegExp][] = [
    [
      '.git/hooks',
      ['--hook', '--dry-run'],
      /hooks\/pre-commit cannot be written: .*permission.*--no-hook/,
    ],
    ['.git/info', ['--memory', 'own-repo'], /info\/exclude cannot be written: .*permission/],
    ['.', ['--yes'], /cannot be written: .*permission/],
  ]
  for (const [name, args, error] of places) {
    chmodSync(space.file(name), 0o555)
    const run = runBuilt(['init', ...args], space.env, space.root, isRoot ? NOBODY_UID : undefined)
    t.match(await run, { code: 1, stderr: error })
    chmodSync(space.file(name), 0o755)
    t.strictSame(space.tree(), before)
  }
})

t.test('a write that fails says what was written', async (t) => {
  const options: Options = { memory: 'own-repo', hook: true, tests: 'make' }

  await t.test('nothing yet', async (t) => {
    const space = project(t)
    const { write } = await space.plan(options)
    writeFileSync(space.file('.git/info/exclude'), '/mine\n')
    await t.rejects(write(), {
      code: 'changed_meanwhile',
      message:
        /None of these files was written: \.git\/info\/exclude, memory\/\.git, .*casefile\.md\.$/,
    })
    t.equal(space.read('.git/info/exclude'), '/mine\n')
    t.notOk(existsSync(space.file('memory')))
  })

  await t.test('all but casefile.md', async (t) => {
    const space = project(t)
    const { write } = await space.plan(options)
    space.write('casefile.md', 'mine\n')
    await t.rejects(write(), {
      message:
        /Written: .*exclude, memory\/\.git, .*memory\/cases, .*commit-msg\. Not written: casefile\.md\./,
    })
    t.equal(space.read('casefile.md'), 'mine\n')
  })

  await t.test('a part of a step', async (t) => {
    const space = project(t)
    const { write } = await space.plan({ hook: true })
    const info = space.file('.git/hooks')
    rmSync(info, { recursive: true, force: true })
    writeFileSync(info, 'mine\n')
    await t.rejects(write(), {
      message:
        /hooks.*a file is in its place.*Written: memory\/\.gitignore, memory\/\.gitattributes, memory\/cases\. Not written: .*pre-commit, .*commit-msg, casefile\.md\./,
    })
    rmSync(info)
    const again = await space.plan({ hook: true })
    t.strictSame(again.lines.length, 3, 'the hooks and casefile.md')
    await again.write()
    t.ok(existsSync(space.file('casefile.md')))
  })

  await t.test('git, which failed', async (t) => {
    const space = project(t)
    const { write } = await space.plan({ memory: 'orphan-worktree', hook: false })
    space.write('memory/mine.md', 'mine\n')
    await t.rejects(write(), {
      message:
        /git could not make .*memory a worktree.*Written: .*exclude\. Not written: memory\/\.git,/,
    })
  })
})

t.test('a text option that is no line says so, and nothing is written', async (t) => {
  const wrong: [args: string[], error: RegExp][] = [
    [['--tests', ' '], /--tests: expected a text, not only white space.*none/],
    [['--tests', ''], /--tests: expected a text/],
    [['--tests', 'make\ncheck'], /--tests: expected one line/],
    [['--tests', 'x'.repeat(100_000)], /--tests: expected at most 1000 characters.*100000/],
    [['--agent', ''], /--agent: expected a text/],
    [['--agent', 'claude\n'], /--agent: expected one line/],
    [['--agent', 'x'.repeat(100_000)], /--agent: expected at most 100 characters/],
  ]
  const space = project(t)
  const before = space.tree()
  for (const [args, error] of wrong) {
    const said = await space.init(...args, '--json')
    t.match(said, { code: 2, stderr: error, json: { code: 'bad_request' } })
    t.ok(said.stderr.length < 400, 'it does not repeat a long text')
  }
  t.strictSame(space.tree(), before)
  t.match(await space.init('--tests', 'x'.repeat(1000), '--dry-run'), { code: 0 })
})
