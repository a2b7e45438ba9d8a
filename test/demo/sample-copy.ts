import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { copySample } from '../../src/demo/sample-copy.ts'
import { runBuilt, started } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'

const sample = fileURLToPath(new URL('../../sample-workspace', import.meta.url))
const hasGit = spawnSync('git', ['--version']).status === 0
const needsGit = hasGit ? {} : { skip: 'git is not installed' }

type FixtureDir = Exclude<Parameters<Test['testdir']>[0], string | undefined>

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()

/** A folder with a small sample in `from`; everything else is as given. */
function scene(t: Test, others: FixtureDir = {}): string {
  return t.testdir({
    from: {
      'case.md': 'a case\n',
      'run.sh': '#!/bin/sh\n',
      sessions: { '1.md': 'one\n', 'latest.md': t.fixture('symlink', '1.md') },
      node_modules: { left: { 'pad.js': '' } },
      '.git': { HEAD: 'of the source\n' },
    },
    ...others,
  })
}

t.test('a copy has the files, the modes and the links of the sample', async (t) => {
  const root = scene(t)
  chmodSync(join(root, 'from/run.sh'), 0o755)
  await copySample(join(root, 'from'), join(root, 'deep/er/copy'))
  const copy = join(root, 'deep/er/copy')

  t.equal(readFileSync(join(copy, 'case.md'), 'utf8'), 'a case\n')
  t.equal(lstatSync(join(copy, 'run.sh')).mode & 0o777, 0o755)
  t.equal(lstatSync(copy).mode, lstatSync(join(root, 'from')).mode)
  t.equal(readlinkSync(join(copy, 'sessions/latest.md')), '1.md')
  t.strictSame(
    readdirSync(copy).filter((name) => !name.startsWith('.')),
    ['case.md', 'run.sh', 'sessions'],
    'installed packages stay behind',
  )
  t.strictSame(readdirSync(dirname(copy)), ['copy'], 'nothing is left beside it')
})

t.test('what a package from npm leaves out is there again', async (t) => {
  const root = t.testdir({ from: { memory: { '.gitattributes': 'mine\n', cases: {} } } })
  await copySample(join(root, 'from'), join(root, 'copy'))
  const memory = join(root, 'copy/memory')
  t.match(readFileSync(join(memory, '.gitignore'), 'utf8'), /^cases\/\*\/artifacts\/\*$/m)
  t.equal(readFileSync(join(memory, '.gitattributes'), 'utf8'), 'mine\n', 'what is there stays')
})

t.test('a copy is a git repository with one commit', needsGit, async (t) => {
  const root = scene(t)
  t.strictSame(await copySample(join(root, 'from'), join(root, 'copy')), { made: true, git: true })
  const copy = join(root, 'copy')

  t.equal(
    git(copy, 'log', '--format=%an <%ae> %s'),
    'Casefile sample <sample@casefile.invalid> The sample workspace',
  )
  t.equal(basename(git(copy, 'rev-parse', '--show-toplevel')), 'copy', 'none of the folders above')
  t.notMatch(readFileSync(join(copy, '.git/HEAD'), 'utf8'), 'of the source')
  t.equal(git(copy, 'symbolic-ref', 'HEAD'), 'refs/heads/main')
  t.equal(git(copy, 'status', '--porcelain'), '')
  t.equal(git(copy, 'ls-files', '-s', 'sessions/latest.md').slice(0, 6), '120000')
})

t.test("the user's git settings play no part in the commit", needsGit, async (t) => {
  const root = scene(t, {
    home: {
      '.gitconfig':
        '[commit]\ngpgsign = true\n[core]\nhooksPath = hooks\nexcludesFile = ~/ignore\n[init]\ndefaultBranch = trunk\ntemplateDir = ~/template\n[user]\nname = Somebody\n',
      ignore: 'case.md\n',
      template: { hooks: { 'pre-commit': '#!/bin/sh\nexit 1\n' } },
    },
  })
  const names = ['HOME', 'GIT_DIR', 'GIT_INDEX_FILE', 'GIT_AUTHOR_NAME'] as const
  const before = names.map((name) => [name, process.env[name]] as const)
  t.teardown(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  process.env.HOME = join(root, 'home')
  process.env.GIT_DIR = join(root, 'elsewhere')
  process.env.GIT_INDEX_FILE = join(root, 'elsewhere/index')
  process.env.GIT_AUTHOR_NAME = 'Somebody'
  await copySample(join(root, 'from'), join(root, 'copy'))
  for (const name of names.slice(1)) delete process.env[name]

  const copy = join(root, 'copy')
  t.equal(git(copy, 'log', '--format=%an'), 'Casefile sample')
  t.equal(git(copy, 'symbolic-ref', '--short', 'HEAD'), 'main')
  t.equal(git(copy, 'ls-files', 'case.md'), 'case.md')
  t.notOk(readdirSync(join(copy, '.git')).includes('hooks'))
})

/** Until the test ends no git is found, which makes copies cheap. */
function hideGit(t: Test): void {
  const path = process.env.PATH
  t.teardown(() => {
    process.env.PATH = path
  })
  process.env.PATH = '/nonexistent'
}

t.test('without git the files are copied all the same, and known again as a copy', async (t) => {
  const root = scene(t)
  hideGit(t)
  const [from, to] = [join(root, 'from'), join(root, 'copy')]
  const text = () => readFileSync(join(to, 'case.md'), 'utf8')

  t.strictSame(await copySample(from, to), { made: true, git: false })
  t.notOk(readdirSync(to).includes('.git'))
  writeFileSync(join(to, 'case.md'), 'changed\n')
  const refused = { code: 'already_exists', message: /--keep .* --force/ }
  await t.rejects(copySample(from, to), refused)
  t.strictSame(await copySample(from, to, { keep: true }), { made: false, git: false })
  t.equal(text(), 'changed\n')
  t.strictSame(await copySample(from, to, { force: true }), { made: true, git: false })
  t.equal(text(), 'a case\n')
  t.strictSame(readdirSync(root).sort(), ['copy', 'from'])
})

t.test('what is there already', async (t) => {
  hideGit(t)
  t.test('an empty folder is filled and stays the same folder', async (t) => {
    const root = scene(t, { to: {} })
    const [from, to] = [join(root, 'from'), join(root, 'to')]
    const { ino } = lstatSync(to)
    t.match(await copySample(from, to), { made: true })
    t.equal(lstatSync(to).ino, ino)
    t.ok(readdirSync(to).includes('case.md'))
    t.match(await copySample(from, to, { keep: true }), { made: false })
  })

  const foreign = {
    "a folder of the user's own": (at: string) => {
      mkdirSync(at)
      writeFileSync(join(at, 'thesis.md'), 'years of work\n')
    },
    "a repository of the user's own": (at: string) => {
      mkdirSync(join(at, '.git'), { recursive: true })
      writeFileSync(join(at, '.git/HEAD'), 'ref: refs/heads/main\n')
    },
    'a file': (at: string) => writeFileSync(at, 'a file\n'),
  }
  for (const [name, make] of Object.entries(foreign)) {
    t.test(`${name} is refused, whatever is asked`, async (t) => {
      const root = scene(t)
      const to = join(root, 'to')
      make(to)
      const before = lstatSync(to).ino
      for (const options of [{}, { keep: true }, { force: true }, { keep: true, force: true }]) {
        await t.rejects(copySample(join(root, 'from'), to, options), { code: 'already_exists' })
      }
      t.equal(lstatSync(to).ino, before)
      t.strictSame(readdirSync(root).sort(), ['from', 'to'])
    })
  }
  t.test('a link to a copy is refused with force', async (t) => {
    const root = scene(t, { to: t.fixture('symlink', 'real') })
    await copySample(join(root, 'from'), join(root, 'real'))
    await t.rejects(copySample(join(root, 'from'), join(root, 'to'), { force: true }), {
      code: 'already_exists',
    })
  })
  t.test('a first run that failed leaves nothing that looks like a copy', async (t) => {
    const root = scene(t)
    await t.rejects(copySample(join(root, 'missing'), join(root, 'to')), { code: 'ENOENT' })
    t.strictSame(readdirSync(root), ['from'])
  })
})

t.test("the demo's plan mends the sample", inLongLane, async (t) => {
  const to = join(t.testdir(), 'workspace')
  await copySample(sample, to)
  const plan = readFileSync(new URL('../fixtures/demo-plan.md', import.meta.url), 'utf8')
  const [, fix = '', check = ''] =
    /^```js run id=fix\n(.*?)^```\n.*^```sh run id=test timeout=60s proof=tap\n(.*?)^```\n/ms.exec(
      plan,
    ) ?? []
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
  const start = (program: string, input: string) =>
    spawnSync(program, ['-'], { cwd: to, env, input, encoding: 'utf8' })
  const runTests = () => spawnSync('sh', ['-euc', check], { cwd: to, env, encoding: 'utf8' })

  const before = runTests()
  t.not(before.status, 0)
  t.match(before.stdout, /^# pass 18\n# fail 5$/m)

  const fixed = start(process.execPath, fix)
  t.equal(fixed.status, 0, fixed.stderr)
  t.equal(fixed.stdout, 'src/token.js: return claims.exp <= Math.floor(now / 1000)\n')

  const after = runTests()
  t.equal(after.status, 0, after.stderr)
  t.match(after.stdout, /^# pass 23\n# fail 0$/m)
  t.notMatch(
    after.stdout,
    new RegExp(`${basename(dirname(to))}|file:|location`),
    'no path of this machine',
  )

  t.not(start(process.execPath, fix).status, 0, 'the same step again finds nothing to replace')
})

t.test(
  'force brings a session back to its waiting plan; a service must be stopped first',
  inLongLane,
  async (t) => {
    t.teardown(() => {}) // or tap removes the testdir before the service has ended
    const folder = t.testdir()
    const env = { XDG_STATE_HOME: join(folder, 'state') }
    const workspace = join(folder, 'workspace')
    const casefile = (...args: string[]) => runBuilt(args, env, folder)
    const force = () => casefile('sample', 'workspace', '--force')
    t.match(await casefile('sample', 'workspace'), { code: 0 })
    t.match(await casefile('session', 'stop', 'right after', '--root', workspace), { code: 0 })

    const service = await started(['serve', '--root', workspace, '--port', '0'], env, folder)
    t.match(await force(), { code: 1, stderr: /process \d+ at http.*stop it/ })
    await service.stop('SIGTERM')

    t.match(await force(), { code: 0 })
    const { stdout } = await casefile('list', '--root', workspace)
    t.match(stdout, /^c12d54ae.*\tthe plan of session 1 waits for approval\t/)
  },
)
