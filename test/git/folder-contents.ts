import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { parseTreeDiff } from '../../src/git/diff.ts'
import { type FolderContentsOptions, readFolder } from '../../src/git/folder-contents.ts'
import { listIndex, tracks } from '../../src/git/index-list.ts'
import { findRepository } from '../../src/git/repository.ts'
import {
  commit,
  git,
  hangingGit,
  newFolder,
  repository,
  write,
} from '../fixtures/git-repository.ts'

type Options = Partial<FolderContentsOptions>

async function contentsOf(workdir: string, options: FolderContentsOptions) {
  const repository = await findRepository(workdir, options)
  return 'reason' in repository ? repository : readFolder(repository, options)
}

async function open(t: Test, workdir: string, options: Options = {}) {
  const contents = await contentsOf(workdir, { scratch: newFolder(t), exclude: [], ...options })
  if ('reason' in contents) throw new Error(contents.reason)
  t.teardown(() => contents.close())
  return contents
}

/** What one change to a folder looks like, as `status file +additions -deletions`. */
async function changes(
  t: Test,
  workdir: string,
  change: () => void,
  options: Options = {},
): Promise<string[]> {
  const contents = await open(t, workdir, options)
  change()
  const { diff } = await contents.changes()
  return diff.files.map(({ file, status, from, additions, deletions, binary }) =>
    [
      status,
      from === undefined ? file : `${from} → ${file}`,
      binary ? 'binary' : `+${additions} -${deletions}`,
    ].join(' '),
  )
}

/** Every file below a folder, with its content's hash, its mode and its size. */
function fingerprint(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => {
    const stats = fs.lstatSync(join(folder, name))
    const content = stats.isFile() ? fs.readFileSync(join(folder, name)) : ''
    return [name, stats.mode, stats.size, createHash('sha256').update(content).digest('hex')].join()
  })
}

t.test('it says which paths have tracked files', async (t) => {
  const repo = repository(t, { 'd/a': '1\n' })
  const index = await listIndex({ top: repo, gitDir: join(repo, '.git') }, {})
  const found = ['d', 'd/a', 'd/b', 'e', '../d'].map((path) => tracks(index, join(repo, path)))
  t.strictSame(found, [true, true, false, false, false])
})

t.test('the diff is what changed in the folder', async (t) => {
  /** What is done to the folder, and how it is told. */
  type Deed = [deed: (repo: string) => void, told: string[]]
  const inFiles: Deed[] = [
    [(repo) => write(repo, { new: 'a\nb\n' }), ['added new +2 -0']],
    [(repo) => write(repo, { a: '1\nx\n3\n' }), ['modified a +1 -1']],
    [(repo) => fs.rmSync(join(repo, 'gone')), ['deleted gone +0 -3']],
    [
      (repo) => fs.renameSync(join(repo, 'long'), join(repo, 'ä\n\t"')),
      ['renamed long → ä\n\t" +0 -0'],
    ],
    [
      (repo) => {
        git(repo, 'mv', 'longer', 'd/moved')
        fs.appendFileSync(join(repo, 'd/moved'), 'more\n')
      },
      ['renamed longer → d/moved +1 -0'],
    ],
    [(repo) => write(repo, { bin: Buffer.from([0, 1, 2]) }), ['added bin binary']],
    [(repo) => write(repo, { 'x.log': 'x\n', 'out/x': 'x\n' }), []],
    [(repo) => write(repo, { 'kept.log': 'changed\n' }), ['modified kept.log +1 -1']],
    [
      (repo) => write(repo, { 'a b': '1\n', 'ü 漢': '1\n', '-x': '', '*': '', 'b\\s': '' }),
      [
        'added a b +1 -0',
        'added ü 漢 +1 -0',
        'added -x +0 -0',
        'added * +0 -0',
        'added b\\s +0 -0',
      ],
    ],
    [
      (repo) => {
        fs.renameSync(join(repo, 'f'), join(repo, '../elsewhere'))
        fs.symlinkSync('../elsewhere', join(repo, 'f'))
      },
      ['added f +1 -0', 'deleted f/b +0 -1'],
    ],
    [(repo) => fs.chmodSync(join(repo, 'mode'), 0o755), ['modified mode +0 -0']],
    [
      (repo) => {
        const { atime, mtime } = fs.statSync(join(repo, 'forged'))
        write(repo, { forged: '1\n2\n4\n' })
        fs.utimesSync(join(repo, 'forged'), atime, mtime)
      },
      ['modified forged +1 -1'],
    ],
    [
      (repo) => {
        git(repo, 'update-index', '--assume-unchanged', 'flagged')
        git(repo, 'update-index', '--skip-worktree', 'd/b')
        write(repo, { flagged: 'x\n', 'd/b': 'x\ny\n' })
      },
      ['modified flagged +1 -3', 'modified d/b +2 -1'],
    ],
  ]
  const inGit: Deed[] = [
    [
      (repo) => {
        write(repo, { staged: 'x\n' })
        git(repo, 'add', 'staged')
      },
      ['added staged +1 -0'],
    ],
    [
      (repo) => {
        write(repo, { committed: 'x\n', 'forced.log': 'x\n' })
        git(repo, 'add', '-f', 'committed', 'forced.log')
        git(repo, 'commit', '-q', '-m', 'forced')
      },
      ['added committed +1 -0', 'added forced.log +1 -0'],
    ],
  ]
  const historyLost: Deed[] = [
    [
      (repo) => {
        fs.rmSync(join(repo, '.git/index'))
        fs.rmSync(join(repo, '.git/refs'), { recursive: true })
        fs.mkdirSync(join(repo, '.git/refs'))
      },
      [],
    ],
  ]
  const lines = 'a line of text\nanother line\n'
  const made = repository(t, {
    a: '1\n2\n3\n',
    gone: '1\n2\n3\n',
    long: lines.repeat(20),
    longer: lines.repeat(30),
    'd/b': 'b\n',
    'f/b': 'f\n',
    mode: 'm\n',
    forged: '1\n2\n3\n',
    flagged: '1\n2\n3\n',
    '.gitignore': '*.log\n/out\n',
  })
  write(made, { 'kept.log': 'kept\n' })
  git(made, 'add', '-f', 'kept.log')
  git(made, 'commit', '-q', '-m', 'kept')
  for (const [name, deeds] of Object.entries({ inFiles, inGit, historyLost })) {
    await t.test(name, async (t) => {
      const repo = join(newFolder(t), 'repo')
      fs.cpSync(made, repo, { recursive: true, preserveTimestamps: true })
      const change = () => {
        untilLaterThan(join(repo, 'forged'))
        for (const [deed] of deeds) deed(repo)
      }
      const found = await changes(t, repo, change)
      t.strictSame(found.sort(), deeds.flatMap(([, told]) => told).sort())
    })
  }
})

/** The clock of the file system has moved on: else a forged change would have all times of the file, also its `ctime`. */
function untilLaterThan(path: string): void {
  const probe = `${path}.later`
  const since = fs.statSync(path, { bigint: true }).ctimeNs
  do fs.writeFileSync(probe, '')
  while (fs.statSync(probe, { bigint: true }).ctimeNs <= since)
  fs.rmSync(probe)
}

t.test('what was changed before is not part of it', async (t) => {
  const repo = repository(t, { a: '1\n', b: '1\n' })
  write(repo, { a: '2\n', staged: 'x\n', untracked: 'x\n' })
  git(repo, 'add', 'staged')
  fs.rmSync(join(repo, 'b'))
  t.strictSame(await changes(t, repo, () => write(repo, { a: '2\n3\n' })), ['modified a +1 -0'])
})

t.test('what changed after a run is seen by the next one, whatever its times say', async (t) => {
  const repo = repository(t, { a: '1\n' })
  const last = await open(t, repo)
  await last.close()
  const { atime, mtime } = fs.statSync(join(repo, 'a'))
  write(repo, { a: '2\n' })
  fs.utimesSync(join(repo, 'a'), atime, mtime)
  t.strictSame(await changes(t, repo, () => write(repo, { a: '1\n' })), ['modified a +1 -1'])
})

t.test('the largest change comes first and names the diff', async (t) => {
  const repo = repository(t, { a: '1\n' })
  const contents = await open(t, repo)
  t.strictSame((await contents.changes()).diff, {
    file: '',
    additions: 0,
    deletions: 0,
    files: [],
    inOrder: [],
  })
  write(repo, { a: '2\n', small: '1\n', large: '1\n2\n3\n', binary: Buffer.alloc(100) })
  const { diff } = await contents.changes()
  t.match(diff, { file: 'large', additions: 5, deletions: 1 })
  t.strictSame(
    diff.files.map(({ file }) => file),
    ['large', 'a', 'small', 'binary'],
  )
})

t.test('a repository without a commit', async (t) => {
  const repo = repository(t)
  write(repo, { before: '1\n' })
  t.strictSame(await changes(t, repo, () => write(repo, { after: '1\n' })), ['added after +1 -0'])
  t.strictSame(await changes(t, repo, () => commit(repo)), [], 'the first commit changes no file')
})

t.test('a folder in a monorepo', async (t) => {
  const repo = repository(t, {
    'sub [x]/a': '1\n',
    'sub x/a': '1\n',
    top: '1\n',
    '.gitignore': '*.log\n',
  })
  const change = () =>
    write(repo, {
      'sub [x]/a': '2\n',
      'sub [x]/b/c': '',
      'sub [x]/x.log': '',
      'sub x/a': '2\n',
      top: '2\n',
    })
  t.strictSame(await changes(t, join(repo, 'sub [x]'), change), [
    'modified a +1 -1',
    'added b/c +0 -0',
  ])

  fs.symlinkSync(join(repo, 'sub x'), join(repo, '../link'))
  const linked = await changes(t, join(repo, '../link'), () => write(repo, { 'sub x/a': '3\n' }))
  t.strictSame(linked, ['modified a +1 -1'], 'reached by a link')

  const removed = await changes(t, join(repo, 'sub x'), () =>
    fs.rmSync(join(repo, 'sub x'), { recursive: true }),
  )
  t.strictSame(removed, ['deleted a +0 -1'], 'that is removed')
})

t.test('excluded folders', async (t) => {
  const repo = repository(t, { 'memory*/case.md': '1\n', 'memory-x/a': '1\n', a: '1\n' })
  const change = () =>
    write(repo, {
      'memory*/case.md': '2\n',
      'memory*/new': '',
      'memory-x/a': '2\n',
      '.state/x': '',
      a: '2\n',
    })
  const exclude = [
    join(repo, 'memory*'),
    join(repo, '.state/deep/not-there-yet'),
    join(repo, '.state'),
    '/elsewhere',
  ]
  t.strictSame(await changes(t, repo, change, { exclude }), [
    'modified a +1 -1',
    'modified memory-x/a +1 -1',
  ])

  const scratch = join(repo, 'scratch')
  fs.mkdirSync(scratch)
  t.strictSame(await changes(t, repo, () => {}, { scratch }), [], 'the scratch folder is one')
  t.match(await contentsOf(repo, { scratch, exclude: [dirname(repo)] }), {
    reason: /within an excluded one/,
  })
})

t.test('a linked worktree', async (t) => {
  const repo = repository(t, { a: '1\n' })
  const tree = join(repo, '../tree')
  git(repo, 'worktree', 'add', '-q', tree)
  fs.writeFileSync(join(repo, '.git/info/exclude'), '*.tmp\n')
  const before = fingerprint(join(repo, '.git'))
  const change = () => write(tree, { a: '2\n', 'x.tmp': '' })
  t.strictSame(await changes(t, tree, change), ['modified a +1 -1'])
  t.strictSame(fingerprint(join(repo, '.git')), before)
})

t.test('repositories within the folder', async (t) => {
  const repo = repository(t, { a: '1\n' })
  const inner = join(repo, 'inner')
  fs.mkdirSync(inner)
  git(inner, 'init', '-q')
  write(inner, { x: '1\n' })
  const unborn = await open(t, repo)
  commit(inner)
  const { diff, warnings } = await unborn.changes()
  t.match(diff, { files: [{ file: 'inner', status: 'added' }] })
  t.match(warnings.join(), /inner/, 'without a commit it is left out, and that is said')
  const contents = await open(t, repo)
  git(inner, 'config', 'core.fsmonitor', 'touch ../../started; false')
  write(inner, { x: '2\n' })
  t.match(await contents.changes(), { diff: { files: [] }, warnings: [] }, 'its commit counts')
  t.notOk(fs.existsSync(join(repo, '../started')), 'and its configuration is not used')
})

t.test('the repository stays as it is, and starts nothing', async (t) => {
  const repo = repository(t, {
    a: '1\r\n2\r\n',
    'b.bin': 'text\n',
    'c.lock': '1\n',
    'x.lfs': 'x\n',
  })
  const said = join(repo, '../said')
  const hook = `echo "$0 $@" >>'${said}'`
  for (const name of ['pre-commit', 'post-index-change', 'reference-transaction', 'fsmonitor']) {
    fs.writeFileSync(join(repo, '.git/hooks', name), `#!/bin/sh\n${hook}\n`, { mode: 0o755 })
  }
  write(repo, {
    '.gitattributes': '*.lock -diff\n*.lfs filter=lfs diff=odd\n*.txt text eol=crlf ident\n',
  })
  commit(repo)
  fs.rmSync(said, { force: true })
  const value = (text: string) => JSON.stringify(text)
  fs.appendFileSync(
    join(repo, '.git/config'),
    `
[core]
fsmonitor = ${value(`${repo}/.git/hooks/fsmonitor`)}
hooksPath = ${value(`${repo}/.git/hooks`)}
autocrlf = true
safecrlf = true
fileMode = false
quotePath = true
untrackedCache = true
splitIndex = true
[commit]
gpgSign = true
[diff]
external = ${value(`${hook}; false`)}
noprefix = true
renames = false
relative = true
[diff "odd"]
textconv = ${value(`${hook}; false`)}
[color]
ui = always
[filter "lfs"]
clean = ${value(`${hook}; cat`)}
required = true
[status]
showUntrackedFiles = no
`,
  )
  t.match(git(repo, 'config', 'diff.external'), '$0')
  const loud = {
    GIT_DIR: '/nonexistent',
    GIT_INDEX_FILE: '/nonexistent',
    GIT_EXTERNAL_DIFF: hook,
    GIT_TRACE: '1',
  }
  Object.assign(process.env, loud)
  t.teardown(() => {
    for (const name of Object.keys(loud)) delete process.env[name]
  })

  const before = fingerprint(join(repo, '.git'))
  const contents = await open(t, repo)
  write(repo, {
    a: '1\n2\n',
    'c.lock': '2\n',
    'x.lfs': 'y\n',
    'n.txt': '$Id$\n',
    large: randomBytes(300_000),
  })
  const { diff, patch, warnings } = await contents.changes(1_000_000)
  const { text, truncated } = patch
  t.strictSame(warnings, [])
  t.strictSame(fingerprint(join(repo, '.git')), before, 'every file in .git is the same')
  t.notOk(fs.existsSync(said), 'no hook, filter, driver or monitor ran')

  t.strictSame(
    diff.files.map(({ file, additions, deletions, binary }) => [
      file,
      additions,
      deletions,
      binary,
    ]),
    [
      ['a', 2, 2, false],
      ['c.lock', 1, 1, false],
      ['x.lfs', 1, 1, false],
      ['n.txt', 1, 0, false],
      ['large', 0, 0, true],
    ],
    'byte for byte',
  )
  t.equal(truncated, false)
  t.match(text, /^diff --git a\/a b\/a\n/)
  t.match(text, /\n-1\r\n-2\r\n\+1\n\+2\n/)
  t.match(text, 'Binary files /dev/null and b/large differ')
  t.notMatch(text, '\x1b')
})

t.test('a patch is cut after a line', async (t) => {
  const repo = repository(t, { 'sub/a': '1\n' })
  const contents = await open(t, join(repo, 'sub'))
  write(repo, { 'sub/ü': 'äöü\n'.repeat(20_000) })
  const { patch: whole } = await contents.changes(10_000_000)
  t.equal(whole.truncated, false)
  t.match(whole.text, /^diff --git a\/ü b\/ü\n/, 'relative to the folder')
  for (const limit of [1, 1000, 1001, 1002, 50_000]) {
    const { text, truncated } = (await contents.changes(limit)).patch
    t.equal(truncated, true)
    t.ok(Buffer.byteLength(text) <= limit && whole.text.startsWith(text))
    t.match(text, /(^|\n)$/)
  }
})

t.test('a folder without a usable repository says why', async (t) => {
  const scratch = newFolder(t)
  const reason = async (workdir: string) => {
    const contents = await contentsOf(workdir, { scratch, exclude: [] })
    return 'reason' in contents ? contents.reason : 'there is one'
  }
  t.match(await reason(newFolder(t)), /^not a git repository/)

  const repo = repository(t, { a: '1\n', '.gitignore': 'out/\n' })
  t.match(await reason(join(repo, '.git')), /must be run in a work tree/)
  fs.mkdirSync(join(repo, 'out'))
  t.equal(await reason(join(repo, 'out')), 'the folder is ignored by the git repository around it')
  fs.appendFileSync(join(repo, '.git/config'), '[broken\n')
  t.match(await reason(repo), /^bad config line/)
  t.strictSame(fs.readdirSync(scratch), [], 'nothing is left behind')

  t.test(
    'of another owner',
    { skip: process.getuid?.() !== 0 && 'only root gives files away' },
    async (t) => {
      const repo = repository(t, { a: '1\n' })
      for (const path of [repo, join(repo, '.git')]) fs.chownSync(path, 12345, 12345)
      const home = process.env.HOME
      process.env.HOME = scratch
      t.teardown(() => {
        process.env.HOME = home
      })
      t.match(await reason(repo), /^detected dubious ownership in repository at/)
    },
  )

  t.test('without git', async (t) => {
    const path = process.env.PATH
    process.env.PATH = scratch
    t.teardown(() => {
      process.env.PATH = path
    })
    t.equal(await reason(scratch), 'git was not found on the PATH')
  })
})

t.test('limits', async (t) => {
  const repo = repository(t, { a: '1\n' })
  write(repo, { large: randomBytes(500_000) })
  const abort = new AbortController()
  const aborted = await open(t, repo, { signal: abort.signal })
  const changes = aborted.changes()
  abort.abort()
  await t.rejects(changes, { name: 'AbortError' })
  hangingGit(t)
  await t.rejects(open(t, repo, { timeoutMs: 100 }), {
    message: /was ended by SIGKILL \(it may take 100 ms\)/,
  })
})

t.test('a name that is not UTF-8 is quoted in the patch, so that it can be applied', async (t) => {
  const repo = repository(t, { a: '1\n' })
  const contents = await open(t, repo)
  const name = Buffer.concat([Buffer.from(`${repo}/n`), Buffer.from([0xe9])])
  fs.writeFileSync(name, 'x\n')
  const { patch } = await contents.changes(10_000)
  fs.rmSync(name)
  write(repo, { 'its.patch': patch.text })
  git(repo, 'apply', 'its.patch')
  t.equal(fs.readFileSync(name, 'utf8'), 'x\n')
})

t.test('parseTreeDiff reads renames with their two names', async (t) => {
  const output =
    ':100644 100644 a b R090\0old\tx\0new\0:100644 000000 a 0 D\0gone\0' +
    '1\t2\t\0old\tx\0new\0-\t-\tgone\0\0diff --git'
  const none = { additions: 0, deletions: 0, binary: true }
  const renamed = {
    file: 'new',
    status: 'renamed',
    from: 'old\tx',
    object: 'b',
    additions: 1,
    deletions: 2,
    binary: false,
  } as const
  const gone = { file: 'gone', status: 'deleted', object: null, ...none } as const
  const { diff, patch } = parseTreeDiff(Buffer.from(output))
  t.strictSame(diff, {
    file: 'new',
    additions: 1,
    deletions: 2,
    files: [renamed, gone],
    inOrder: [renamed, gone],
  })
  t.equal(String(patch), 'diff --git')
  t.equal(parseTreeDiff(Buffer.from(output.slice(0, 60))).diff, null, 'a list that was cut')
})
