import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { removeStubborn } from '../../src/files/remove-stubborn.ts'
import { startProgramsBy } from '../../src/platform/program.ts'
import { stampsBelow } from '../../src/snapshots/ignored-files.ts'
import { differences } from '../../src/snapshots/plan-differences.ts'
import {
  openPlanFolders,
  type PlanFolders,
  type PlanFoldersOptions,
} from '../../src/snapshots/plan-folders.ts'
import { makeTooDeep } from '../fixtures/deep-folder.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import {
  commit,
  type Files,
  git,
  hangingGit,
  newFolder,
  repository,
  write,
} from '../fixtures/git-repository.ts'
import { programs } from '../fixtures/small-process.ts'

const isRoot = process.getuid?.() === 0

async function open(
  t: Test,
  workdir: string,
  options: Partial<PlanFoldersOptions> = {},
): Promise<PlanFolders> {
  const folder = newFolder(t)
  const folders = await openPlanFolders(workdir, {
    folder,
    exclude: [],
    ignoredToo: true,
    ...options,
  })
  t.teardown(() => folders.close())
  return folders
}

function withoutGit(t: Test): void {
  const path = process.env.PATH
  process.env.PATH = newFolder(t)
  t.teardown(() => {
    process.env.PATH = path
  })
}

/** Every file below a folder but a top `.git`, with its content, link target, or nothing for a folder. */
function tree(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const found: Record<string, string> = {}
  for (const name of names) {
    if (name === '.git' || name.startsWith('.git/')) continue
    const place = join(folder, name)
    const stats = fs.lstatSync(place)
    if (stats.isSymbolicLink()) found[name] = `-> ${fs.readlinkSync(place)}`
    else if (stats.isFile()) {
      found[name] = (stats.mode & 0o100 ? 'x ' : '') + fs.readFileSync(place, 'utf8')
    }
  }
  return found
}

/** Every file below a folder, with its content's hash and its mode. */
function fingerprint(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => {
    const stats = fs.lstatSync(join(folder, name))
    const content = stats.isFile() ? fs.readFileSync(join(folder, name)) : ''
    const hash = createHash('sha256').update(content).digest('hex')
    return [name, stats.mode, stats.size, hash].join()
  })
}

/** How many bytes of disk a folder takes. */
function sizeOf(folder: string): number {
  return Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) * 1024
}

/** Changes the first bytes, and sets the times back to what they were. */
function forge(place: string, content: string): void {
  const { atime, mtime } = fs.statSync(place)
  fs.writeFileSync(place, content)
  fs.utimesSync(place, atime, mtime)
}

const FILES: Files = {
  a: '1\n',
  'd/b': 'b\r\n',
  'd/e/run.sh': '#!/bin/sh\n',
  'd/e/c': 'c\n',
  '.gitignore': '*.log\n/out\n',
}

t.test('the copy is the folder as it is now', async (t) => {
  const repo = repository(t, {
    ...FILES,
    gone: '',
    'ü 漢\n"q"': '$Id$\n',
    '.gitattributes': '*.txt text eol=crlf ident\n*.lfs filter=lfs -text\n* ident\n',
    'x.lfs': 'x\n',
    'y.txt': 'y\n',
  })
  fs.chmodSync(join(repo, 'd/e/run.sh'), 0o755)
  fs.symlinkSync('../../outside', join(repo, 'd/link'))
  write(repo, {
    a: '2\n',
    untracked: 'u\n',
    'git~1': '1\n',
    staged: 's\n',
    'x.log': 'no\n',
    'out/x': 'no\n',
  })
  write(repo, { 'kept.log': 'kept\n' })
  git(repo, 'add', '-f', 'staged', 'kept.log')
  fs.rmSync(join(repo, 'gone'))
  git(repo, 'config', 'core.autocrlf', 'true')
  git(repo, 'config', 'filter.lfs.smudge', 'false')
  git(repo, 'config', 'filter.lfs.required', 'true')

  const before = fingerprint(repo)
  let started = 0
  startProgramsBy((call, signal) => {
    started += 1
    return programs(call, signal)
  })
  t.teardown(() => startProgramsBy(programs))
  const folders = await open(t, repo)
  t.equal(started, 3, 'calls of git for a copy')
  const { 'x.log': _log, 'out/x': _out, ...expected } = tree(repo)
  t.strictSame(tree(folders.copy), expected)
  t.equal(expected['d/e/run.sh'], 'x #!/bin/sh\n')
  t.strictSame(folders.warnings, [])
  t.strictSame(await folders.copyChanges(), [])
  t.strictSame(await folders.folderChanges(), [])
  t.equal(started, 5, 'and for two comparisons')
  t.strictSame(fingerprint(repo), before, 'nothing was written, in .git neither')

  const loud = ['-c', 'core.autocrlf=true', '-c', 'core.eol=crlf']
  t.equal(git(folders.copy, ...loud, 'status', '--porcelain', '--ignored'), '')
  t.equal(
    git(folders.copy, 'log', '--format=%an %ae %cn %D'),
    'Casefile casefile@localhost Casefile HEAD -> main\n',
  )
  fs.writeFileSync(join(folders.copy, 'a'), '3\n')
  t.match(git(folders.copy, 'diff'), /\n-2\n\+3\n/)
  t.notOk(fs.existsSync(join(folders.copy, '.git/hooks')))
})

/** What is done to a folder, and what of it is told. */
type Deed = [deed: (folder: string) => void, told: string[]]

/** What is done to all of a scene at once is told as it would be each by itself. */
function doAll(folder: string, deeds: readonly Deed[]): string[] {
  for (const [deed] of deeds) deed(folder)
  return deeds.flatMap(([, told]) => told).sort()
}

const ALIKE: Deed[] = [
  [
    (folder) => {
      fs.utimesSync(join(folder, 'a'), 1, 1)
      git(folder, 'status')
    },
    [],
  ],
  [
    (folder) => {
      fs.rmSync(join(folder, 'd/b'))
      write(folder, { 'd/b': 'b\r\n' })
    },
    [],
  ],
  [(folder) => git(folder, 'pack-refs', '--all'), []],
]

const IN_FILES: Deed[] = [
  [(folder) => write(folder, { 'new.txt': '' }), ['new.txt']],
  [(folder) => write(folder, { 'n/m/new': '' }), ['n/m/new']],
  [(folder) => write(folder, { 'y.log': '', 'out/y': '' }), ['out/y', 'y.log']],
  [(folder) => fs.mkdirSync(join(folder, 'x/y'), { recursive: true }), ['x/y/']],
  [(folder) => write(folder, { changed: '2\n' }), ['changed']],
  [(folder) => fs.rmSync(join(folder, 'd/b')), ['d/b']],
  [(folder) => fs.rmSync(join(folder, 'd/e'), { recursive: true }), ['d/e/c', 'd/e/run.sh']],
  [(folder) => fs.renameSync(join(folder, 'named'), join(folder, 'z')), ['named', 'z']],
  [(folder) => fs.chmodSync(join(folder, 'mode'), 0o755), ['mode']],
  [
    (folder) => {
      fs.rmSync(join(folder, 'kind'))
      fs.symlinkSync('d/b', join(folder, 'kind'))
    },
    ['kind'],
  ],
  [
    (folder) => {
      fs.rmSync(join(folder, 'link'))
      fs.symlinkSync('/etc/hostname', join(folder, 'link'))
    },
    ['link'],
  ],
  [
    (folder) => {
      fs.rmSync(join(folder, 'piped'))
      execFileSync('mkfifo', [join(folder, 'piped')])
    },
    ['piped'],
  ],
  [
    (folder) => {
      fs.rmSync(join(folder, 'a'))
      write(folder, { 'a/a': '' })
    },
    ['a', 'a/a'],
  ],
  [
    (folder) => fs.writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.of(0xff)]), ''),
    ['\ufffd'],
  ],
  [(folder) => forge(join(folder, 'forged'), '2\n'), ['forged']],
  [
    (folder) => {
      git(folder, 'init', '-q', 'inner')
      write(folder, { 'inner/b': 'x' })
    },
    ['inner/.git/', 'inner/b'],
  ],
]

const KEEPING = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true }

const MANY_FILES = {
  ...FILES,
  changed: '1\n',
  named: 'x\n',
  mode: '',
  kind: 'k',
  piped: 'p',
  forged: '1\n',
  flagged: '1\n',
}

const committed = () => ['.git (refs): refs/heads/main']

t.test('what changed in the copy', async (t) => {
  const repo = repository(t, MANY_FILES)
  fs.symlinkSync('a', join(repo, 'link'))
  const scenes: [string, Deed[]][] = [
    ['nothing that counts', ALIKE],
    [
      'files and folders',
      [
        ...IN_FILES,
        [(copy) => fs.chmodSync(join(copy, 'flagged'), 0o600), ['flagged']],
        [(copy) => fs.chmodSync(join(copy, 'n'), 0o711), []],
      ],
    ],
    [
      'in git',
      [
        [
          (copy) => {
            write(copy, { added: '' })
            git(copy, 'add', 'added')
          },
          ['added'],
        ],
        [(copy) => git(copy, 'commit', '-q', '-m', 'x'), committed()],
        [
          (copy) => {
            git(copy, 'branch', 'x/y')
            git(copy, 'tag', 'v1')
            git(copy, 'pack-refs', '--all')
          },
          ['.git (refs): refs/heads/x/y', '.git (refs): refs/tags/v1'],
        ],
        [
          (copy) => {
            write(copy, { changed: '2\n' })
            git(copy, 'stash')
          },
          ['.git (stash)'],
        ],
        [(copy) => git(copy, 'config', 'x.y', 'z'), ['.git (config)']],
        [
          (copy) => write(copy, { '.git/hooks/pre-commit': '' }),
          ['.git (hooks)', '.git (hooks): pre-commit'],
        ],
        [
          (copy) => git(copy, 'worktree', 'add', '-q', '--detach', '../aside'),
          ['.git (worktrees): aside'],
        ],
        [(copy) => git(copy, 'checkout', '-q', '--detach'), ['.git (HEAD)']],
        [
          (copy) => {
            git(copy, 'update-index', '--assume-unchanged', 'flagged')
            forge(join(copy, 'flagged'), '2\n')
            write(copy, { '.git/info/exclude': '*\n', '.gitignore': '*\n', new: '' })
          },
          ['flagged', '.git (info): exclude', '.gitignore', 'new'],
        ],
      ],
    ],
    [
      'its .git removed',
      [
        [
          (copy) => fs.rmSync(join(copy, '.git'), { recursive: true }),
          [
            '.git',
            '.git (HEAD)',
            '.git (alternates)',
            '.git (config)',
            '.git (info)',
            '.git (info): attributes',
            '.git (refs): refs/heads/main',
          ],
        ],
      ],
    ],
    [
      'the mode of a folder, and more than a hundred',
      [
        [
          (copy) => {
            fs.chmodSync(join(copy, 'd'), 0o711)
            for (let at = 100; at < 249; at += 1) write(copy, { [`${at}`]: '' })
          },
          [...Array.from({ length: 100 }, (_, at) => `${at + 100}`), '… and 50 more'],
        ],
      ],
    ],
  ]
  for (const [name, deeds] of scenes) {
    await t.test(name, async (t) => {
      const folders = await open(t, repo)
      const expected = doAll(folders.copy, deeds)
      t.strictSame((await folders.copyChanges()).sort(), expected)
      t.strictSame(await folders.folderChanges(), [], 'and not in the folder')
      fs.rmSync(join(folders.copy, '../aside'), { recursive: true, force: true })
    })
  }
})

t.test('what changed in the working folder', async (t) => {
  const moved = [
    '.git (HEAD)',
    '.git (logs): HEAD',
    '.git (logs): refs/heads/other',
    '.git (refs): refs/heads/other',
  ]
  const scenes: [string, Deed[]][] = [
    [
      'nothing that counts',
      [
        ...ALIKE,
        [
          (repo) => {
            write(repo, { stored: '' })
            git(repo, 'hash-object', '-w', 'stored')
            fs.rmSync(join(repo, 'stored'))
            git(repo, 'repack', '-qadF')
          },
          [],
        ],
        [(repo) => write(repo, { 'memory/case.md': '2', 'memory/new': '' }), []],
        [(repo) => write(repo, { '.gitignore': '*.log\n/out\nuntracked\n' }), ['.gitignore']],
      ],
    ],
    [
      'files and folders',
      [
        ...IN_FILES,
        [(repo) => write(repo, { untracked: '2' }), ['untracked']],
        [(repo) => forge(join(repo, 'x.log'), 'y\n'), ['x.log']],
        [(repo) => fs.rmSync(join(repo, 'z.log')), ['z.log']],
        [(repo) => fs.symlinkSync('/', join(repo, 'out/root')), ['out/root']],
      ],
    ],
    [
      'in git',
      [
        [
          (repo) => {
            git(repo, 'add', 'untracked', 'memory')
            git(repo, 'update-index', '--assume-unchanged', 'flagged')
          },
          ['.git (index)'],
        ],
        [(repo) => git(repo, 'checkout', '-q', '-b', 'other'), moved],
        [
          (repo) => {
            write(repo, { changed: '2\n' })
            git(repo, 'stash')
          },
          ['.git (stash)', 'untracked'],
        ],
        [(repo) => git(repo, 'config', 'core.pager', 'evil'), ['.git (config)']],
        [(repo) => write(repo, { '.git/hooks/pre-commit': '' }), ['.git (hooks): pre-commit']],
        [(repo) => fs.chmodSync(join(repo, '.git/hooks/old'), 0o755), ['.git (hooks): old']],
        [
          (repo) => write(repo, { '.git/info/attributes': '* filter=x\n' }),
          ['.git (info): attributes'],
        ],
        [
          (repo) => write(repo, { '.git/info/exclude': '*\n', new: '', a: '2' }),
          ['.git (info): exclude', 'a', 'new'],
        ],
      ],
    ],
    [
      'what git remembers',
      [
        [
          (repo) => {
            const id = git(repo, 'rev-parse', 'HEAD').trim()
            fs.rmSync(join(repo, '.git/objects', id.slice(0, 2), id.slice(2)))
          },
          ['.git (objects): 1 are gone'],
        ],
        [(repo) => forge(join(repo, '.git/logs/HEAD'), 'forged\n'), ['.git (logs): HEAD']],
        [
          (repo) => fs.rmSync(join(repo, '.git/logs/refs'), { recursive: true }),
          ['.git (logs): refs/heads/main'],
        ],
      ],
    ],
    [
      'a list of what to ignore that nobody writes',
      [
        [
          (repo) => {
            fs.rmSync(join(repo, '.gitignore'))
            for (const name of ['.gitignore', 'd/.gitignore'])
              execFileSync('mkfifo', [join(repo, name)])
          },
          ['.gitignore', 'd/.gitignore'],
        ],
      ],
    ],
    [
      'a broken repository',
      [
        [
          (repo) => {
            fs.appendFileSync(join(repo, '.git/config'), '[broken\n')
            write(repo, { a: '2\n' })
          },
          ['.git (config)', '.git (index)', 'a'],
        ],
      ],
    ],
  ]
  const made = repository(t, { ...MANY_FILES, 'memory/case.md': '1' })
  fs.symlinkSync('a', join(made, 'link'))
  commit(made)
  for (const [name, deeds] of scenes) {
    await t.test(name, async (t) => {
      const repo = join(newFolder(t), 'repo')
      fs.cpSync(made, repo, KEEPING)
      write(repo, { 'x.log': 'x\n', 'z.log': '', 'out/x': '', untracked: '', '.git/hooks/old': '' })
      const old = new Date('2020-01-01')
      for (const path of ['a', 'forged', 'x.log']) fs.utimesSync(join(repo, path), old, old)
      const folders = await open(t, repo, { exclude: [join(repo, 'memory')] })
      t.notOk(fs.existsSync(join(folders.copy, 'memory')))
      const expected = doAll(repo, deeds)
      t.strictSame((await folders.folderChanges()).sort(), expected)
      t.strictSame(await folders.copyChanges(), [], 'and not in the copy')
      if (name !== 'a broken repository') return
      fs.rmSync(repo, { recursive: true })
      t.strictSame(await folders.folderChanges(), ['./'], 'all of it removed')
      t.strictSame(await folders.copyChanges(), [], 'and nothing of the copy')
    })
  }
})

t.test('folders of every kind', async (t) => {
  const same = async (t: Test, workdir: string, expected: Files, format = 'sha1') => {
    const folders = await open(t, workdir)
    t.strictSame(tree(folders.copy), expected)
    if (format !== 'sha1')
      t.equal(git(folders.copy, 'rev-parse', '--show-object-format').trim(), format)
    t.strictSame(await folders.copyChanges(), [])
    t.strictSame(await folders.folderChanges(), [])
    write(folders.copy, { 'of/copy': '' })
    t.strictSame(await folders.copyChanges(), ['of/copy'])
    write(workdir, { 'of/folder': '' })
    t.strictSame(await folders.folderChanges(), ['of/folder'])
    return folders
  }

  t.test('without a repository', async (t) => {
    const folder = newFolder(t)
    write(folder, { a: '1\n', '.gitignore': '*.log\n', 'x.log': '' })
    const folders = await same(t, folder, { a: '1\n', '.gitignore': '*.log\n' })
    git(folder, 'init', '-q', '-b', 'main', '--template=')
    t.strictSame(
      (await folders.folderChanges()).filter((name) => name.startsWith('.git ')),
      ['.git (HEAD)', '.git (config)', '.git (index)'],
      'one is made',
    )
  })

  t.test('without a commit', (t) => {
    const repo = repository(t)
    write(repo, { a: '1\n' })
    return same(t, repo, { a: '1\n' })
  })

  t.test('sha256', inLongLane, (t) => {
    const repo = repository(t, { a: '1\n', b: '1\n' }, '--object-format=sha256')
    write(repo, { a: '2\n' })
    return same(t, repo, { a: '2\n', b: '1\n' }, 'sha256')
  })

  t.test('a subfolder', async (t) => {
    const repo = repository(t, {
      'sub [x]/a': '1\n',
      'sub x/a': '',
      top: '',
      '.gitignore': '*.log',
    })
    write(repo, { 'sub [x]/x.log': '', 'sub [x]/d/b': '' })
    const folders = await same(t, join(repo, 'sub [x]'), { a: '1\n', 'd/b': '' })
    write(repo, { top: '2', 'sub x/a': '2' })
    t.strictSame(await folders.folderChanges(), ['../sub x/a', '../top', 'of/folder'])
    commit(repo)
    t.strictSame(await folders.folderChanges(), [
      '../sub x/a',
      '../top',
      '.git (index)',
      '.git (logs): HEAD',
      '.git (logs): refs/heads/main',
      '.git (refs): refs/heads/main',
      'of/folder',
    ])
  })

  t.test('that its repository ignores', async (t) => {
    const repo = repository(t, { a: '1\n', '.gitignore': 'out/\n' })
    write(repo, { 'out/b': '1\n' })
    const folders = await same(t, join(repo, 'out'), { b: '1\n' })
    git(repo, 'branch', 'other')
    t.strictSame(await folders.folderChanges(), [
      '.git (logs): refs/heads/other',
      '.git (refs): refs/heads/other',
      'of/folder',
    ])
  })

  t.test('a linked worktree', async (t) => {
    const repo = repository(t, { a: '1\n' })
    const place = join(repo, '../place')
    git(repo, 'worktree', 'add', '-q', '-b', 'other', place)
    const folders = await same(t, place, { a: '1\n' })
    git(place, 'add', '-A')
    git(place, 'checkout', '-q', '--detach')
    git(repo, 'config', 'x.y', 'z')
    t.strictSame(await folders.folderChanges(), [
      '.git (HEAD)',
      '.git (config)',
      '.git (index)',
      '.git (logs): HEAD',
      '.git (worktrees): place',
      'of/folder',
    ])
  })

  t.test('of another owner', { skip: !isRoot && 'only root gives files away' }, async (t) => {
    const repo = repository(t, { a: '1\n', '.gitignore': '*.log\n' })
    write(repo, { 'x.log': '', b: '1\n' })
    for (const path of [repo, join(repo, '.git')]) fs.chownSync(path, 12345, 12345)
    const home = process.env.HOME
    process.env.HOME = newFolder(t)
    t.teardown(() => {
      process.env.HOME = home
    })
    const folders = await same(t, repo, { a: '1\n', '.gitignore': '*.log\n', b: '1\n' })
    fs.writeFileSync(join(repo, '.git/refs/heads/x'), '')
    t.strictSame(await folders.folderChanges(), ['.git (refs): refs/heads/x', 'of/folder'])
  })
})

t.test('repositories within the folder', async (t) => {
  const repo = repository(t, { a: '1\n' })
  git(repo, 'init', '-q', 'empty')
  write(repo, { 'empty/x': '1\n' })
  fs.cpSync(join(repo, 'empty'), join(repo, 'committed'), KEEPING)
  commit(join(repo, 'committed'))
  const folders = await open(t, repo)
  t.match(folders.warnings.join('\n'), 'committed is a separate repository and not in the copy')
  t.match(folders.warnings.join('\n'), 'empty is a separate repository and not in the copy')
  t.strictSame(tree(folders.copy), { a: '1\n' })
  t.strictSame(await folders.copyChanges(), [])
  t.strictSame(await folders.folderChanges(), [])

  write(repo, { 'committed/x': '2\n', 'empty/y': '' })
  git(join(repo, 'committed'), 'config', 'x.y', 'z')
  t.strictSame(await folders.folderChanges(), ['committed/.git/config', 'committed/x', 'empty/y'])
})

t.test('what lies around the working folder', async (t) => {
  const files = { 'pkg/a/x': '', 'pkg/b': '1\n', 'src/a.txt': '1\n', '.gitignore': '*.log\n' }

  t.test('in its repository', async (t) => {
    const repo = repository(t, { ...files, 'memory/case.md': '1\n' })
    write(repo, { 'x.log': '', 'src/new': '', 'pkg/a/y.log': '' })
    const workdir = join(repo, 'pkg/a')
    const exclude = [join(repo, 'memory'), join(repo, '.state')]
    const folders = await open(t, workdir, { exclude, alsoWatch: [repo, join(repo, 'pkg')] })
    t.strictSame(tree(folders.copy), { x: '' })
    t.strictSame(folders.warnings, [])
    git(repo, 'status')
    write(repo, { 'memory/case.md': '2\n', '.state/x': '' })
    t.strictSame(await folders.folderChanges(), [])
    forge(join(repo, 'src/a.txt'), '2\n')
    write(repo, { 'pkg/b': '2\n', 'src/new': '2', 'x.log': '2', 'pkg/c': '', 'pkg/a/x': '2' })
    fs.mkdirSync(join(repo, 'empty'))
    const expected = ['../../empty/', '../../src/a.txt', '../../src/new', '../../x.log']
    t.strictSame(await folders.folderChanges(), [...expected, '../b', '../c', 'x'])
    t.strictSame(await folders.copyChanges(), [])
  })

  t.test('in other folders', async (t) => {
    const workspace = repository(t, { ...files, 'memory/case.md': '1\n' })
    const nested = join(workspace, 'nested')
    fs.mkdirSync(nested)
    git(nested, 'init', '-q', '-b', 'main')
    write(nested, { own: '' })
    const outside = join(workspace, '../outside')
    fs.mkdirSync(outside)
    const left = newFolder(t)
    fs.mkdirSync(join(left, 'workspace'))
    const exclude = [join(workspace, 'memory'), left]
    const alsoWatch = [workspace, join(left, 'workspace')]
    for (const [workdir, way] of [
      [nested, '..'],
      [outside, '../repo'],
    ] as const) {
      const folders = await open(t, workdir, { exclude, alsoWatch })
      write(left, { 'workspace/x': way })
      git(workspace, 'status')
      write(workspace, { 'memory/case.md': '2\n' })
      t.strictSame(await folders.folderChanges(), [])
      write(workspace, { 'src/a.txt': '2\n', [`of-${way.length}`]: '', 'nested/new': way })
      git(workspace, 'config', 'x.y', way)
      t.strictSame(await folders.folderChanges(), [
        `${way}/.git/config`,
        ...(workdir === nested ? [] : [`${way}/nested/new`]),
        `${way}/of-${way.length}`,
        `${way}/src/a.txt`,
        ...(workdir === nested ? ['new'] : []),
      ])
    }
  })
})

t.test('a repository without its objects is looked at all the same', async (t) => {
  for (const part of isLong ? ['objects', 'HEAD'] : ['objects']) {
    const repo = repository(t, { ...FILES, 'pkg/a': '' })
    if (part === 'HEAD') fs.rmSync(join(repo, '.git/HEAD'))
    const objects = join(repo, '.git/objects')
    for (const name of fs.readdirSync(objects)) fs.rmSync(join(objects, name), { recursive: true })
    const folders = await open(t, part === 'HEAD' ? repo : join(repo, 'pkg'))
    t.strictSame(await folders.folderChanges(), [])
    write(repo, { '.git/config': '# mine', '.git/hooks/x': '' })
    const found = await folders.folderChanges()
    t.ok(found.includes('.git (config)') && found.includes('.git (hooks): x'), part)
  }
})

t.test('an excluded folder, and without the ignored files', async (t) => {
  const repo = repository(t, { 'memory/case.md': '1\n', a: '', '.gitignore': '*.log\n' })
  const exclude = [join(repo, 'memory'), join(repo, '.state'), join(repo, 'not/there')]
  fs.mkdirSync(join(repo, '.state/scratch'), { recursive: true })
  const folder = join(repo, '.state/scratch')
  const folders = await open(t, repo, { exclude, folder, ignoredToo: false })
  t.strictSame(tree(folders.copy), { a: '', '.gitignore': '*.log\n' })
  write(repo, { '.state/x': '', 'memory/y': '', 'x.log': '' })
  t.strictSame(await folders.folderChanges(), [])
  t.strictSame(await folders.copyChanges(), [])

  fs.mkdirSync(join(repo, '.state/other'))
  const inside = open(t, join(repo, 'memory'), { exclude, folder: join(repo, '.state/other') })
  await t.rejects(inside, { message: /the folder is within an excluded one/ })
  t.notOk(fs.existsSync(join(repo, '.state/other')), 'nothing is left behind')
})

t.test('the comparison starts nothing', async (t) => {
  const repo = repository(t, FILES)
  const folders = await open(t, repo)
  const { copy } = folders
  const said = join(dirname(repo), 'said')
  const hook = `echo "$0 $@" >>'${said}'`
  for (const place of [copy, repo]) {
    const hooks = ['fsmonitor', 'post-index-change', 'reference-transaction', 'post-checkout']
    for (const name of hooks) {
      write(place, { [`.git/hooks/${name}`]: `#!/bin/sh\n${hook}\n` })
      fs.chmodSync(join(place, '.git/hooks', name), 0o755)
    }
    const value = (text: string) => JSON.stringify(text)
    fs.appendFileSync(
      join(place, '.git/config'),
      `
[core]
fsmonitor = ${value(join(place, '.git/hooks/fsmonitor'))}
hooksPath = ${value(join(place, '.git/hooks'))}
sshCommand = ${value(hook)}
[filter "x"]
clean = ${value(`${hook}; cat`)}
smudge = ${value(`${hook}; cat`)}
process = ${value(hook)}
[diff]
external = ${value(hook)}
[alias]
add = ${value(`!${hook}`)}
`,
    )
    t.match(git(place, 'config', 'diff.external'), '$0')
    write(place, {
      '.gitattributes': '* filter=x diff=x\n',
      '.git/info/attributes': '* filter=x\n',
      a: '2\n',
    })
  }
  fs.rmSync(said, { force: true })
  const inCopy = await folders.copyChanges()
  t.ok(inCopy.includes('.git (config)') && inCopy.includes('a'))
  const changes = await folders.folderChanges()
  t.ok(changes.includes('.git (config)') && changes.includes('a'))
  t.notOk(fs.existsSync(said))
})

t.test('links lead nowhere', async (t) => {
  const repo = repository(t, FILES)
  const outside = newFolder(t)
  write(outside, { secret: '1' })
  fs.symlinkSync(outside, join(repo, 'link'))
  write(repo, { 'out/x': '' })
  fs.symlinkSync(outside, join(repo, 'out/link'))
  const folders = await open(t, repo)
  t.equal(fs.readlinkSync(join(folders.copy, 'link')), outside)
  write(outside, { secret: '2', new: '' })
  fs.mkdirSync(join(outside, 'folder'))
  fs.symlinkSync(outside, join(folders.copy, '.git/hooks'))
  fs.symlinkSync(outside, join(folders.copy, '.git/refs/heads/out'))
  t.strictSame(await folders.folderChanges(), [])
  t.strictSame(await folders.copyChanges(), ['.git (hooks)', '.git (refs): refs/heads/out'])
  fs.rmSync(join(folders.copy, '.git/refs'), { recursive: true })
  fs.symlinkSync('/', join(folders.copy, '.git/refs'))
  fs.symlinkSync('/', join(folders.copy, '.git/worktrees'))
  t.strictSame(await folders.copyChanges(), [
    '.git (hooks)',
    '.git (refs): refs',
    '.git (refs): refs/heads/main',
  ])
  fs.renameSync(folders.copy, `${folders.copy}-2`)
  fs.symlinkSync('/', folders.copy)
  t.strictSame(await folders.copyChanges(), ['./'])
  await folders.close()
  t.ok(fs.existsSync(join(outside, 'secret')), 'nor when all is removed')
})

t.test('a large untracked file', inLongLane, async (t) => {
  const repo = repository(t, FILES)
  write(repo, { large: randomBytes(4_000_000) })
  const before = { git: sizeOf(join(repo, '.git')), files: fingerprint(join(repo, '.git')) }
  const folder = newFolder(t)
  const folders = await open(t, repo, { folder })
  t.equal(fs.statSync(join(folders.copy, 'large')).size, 4_000_000)
  t.strictSame(await folders.copyChanges(), [])
  t.strictSame(await folders.folderChanges(), [])
  t.equal(sizeOf(join(repo, '.git')), before.git)
  t.strictSame(fingerprint(join(repo, '.git')), before.files, 'there is nothing of it in .git')
  t.ok(sizeOf(folder) < 9_000_000, 'and twice its size in our folder')
  const file = fs.openSync(join(repo, 'large'), 'r+')
  fs.writeSync(file, 'x', 3_999_999)
  fs.closeSync(file)
  t.strictSame(await folders.folderChanges(), ['large'])
})

t.test('more files than are compared', async (t) => {
  const folder = newFolder(t)
  for (let at = 100; at < 120; at += 1) {
    for (let file = 0; file < 10; file += 1) write(folder, { [`out/${at}/${file}`]: '' })
  }
  write(folder, { 'x.log': '1' })
  const options = { isKnown: () => false, skip: new Set<string>(), most: 100 }
  const before = await stampsBelow(folder, options)
  const uncounted = 200 + 20 + 2 - before.byPath.size
  t.ok(uncounted > 100 && uncounted <= 122)
  t.equal(before.uncounted, uncounted)
  const changes = async () => {
    const after = await stampsBelow(folder, { ...options, before })
    return differences(before.byPath, after.byPath)
  }
  t.strictSame(await changes(), [])
  const [one = ''] = [...before.folders].filter((path) => path.startsWith('out/'))
  for (let at = 100; at < 120; at += 1) {
    if (!before.folders.has(`out/${at}`)) write(folder, { [`out/${at}/0`]: '2' })
  }
  write(folder, { 'x.log': '2', [`${one}/0`]: '2', 'new.log': '', 'out/new/x': '' })
  // how far it gets into a new folder hangs on the order in which the disk lists the names
  const found = (await changes()).map((path) => path.replace(/^(out\/new\/).*/, '$1'))
  t.strictSame([...new Set(found)], ['new.log', `${one}/0`, 'out/new/', 'x.log'])
})

t.test('what cannot be read', { skip: isRoot && 'root reads everything' }, async (t) => {
  const repo = repository(t, FILES)
  write(repo, { secret: '', 'closed/x': '', 'out/closed/x': '' })
  for (const name of ['secret', 'closed', 'out/closed']) fs.chmodSync(join(repo, name), 0)
  t.teardown(() => {
    for (const name of ['closed', 'out/closed']) fs.chmodSync(join(repo, name), 0o700)
  })
  const folder = newFolder(t)
  const folders = await open(t, repo, { folder })
  t.match(folders.warnings.join('\n'), /secret/)
  t.match(folders.warnings.join('\n'), /closed/)
  t.strictSame(await folders.folderChanges(), [])
  for (const name of ['a', 'd']) fs.chmodSync(join(folders.copy, name), 0)
  fs.chmodSync(join(folders.copy, '.git'), 0)
  const changes = await folders.copyChanges()
  t.ok(changes.includes('a') && changes.includes('d/') && !changes.includes('d/b'))
  fs.chmodSync(folders.copy, 0)
  t.ok((await folders.copyChanges()).includes('./'))
  await folders.close()
  t.notOk(fs.existsSync(folder))
})

t.test('what is too deep to look at', inLongLane, async (t) => {
  const name = 'a'.repeat(200)
  const repo = repository(t, FILES)
  t.teardown(() => removeStubborn(repo))
  fs.mkdirSync(join(repo, 'out'), { recursive: true })
  makeTooDeep(join(repo, 'out'))
  const folder = newFolder(t)
  const folders = await open(t, repo, { folder })
  t.strictSame(await folders.copyChanges(), [])
  t.strictSame(await folders.folderChanges(), [], 'of the user')

  fs.rmSync(join(folders.copy, '.git/hooks'), { recursive: true, force: true })
  const places = ['d', '.git/refs/heads', '.git/hooks', '.git/info', '.git/worktrees']
  for (const place of places) {
    for (const top of [repo, folders.copy]) {
      fs.mkdirSync(join(top, place), { recursive: true })
      makeTooDeep(join(top, place))
    }
  }
  const parts = ['hooks', 'info'].map((part) => `.git (${part}): ${name}`)
  const named = [...parts, `.git (refs): refs/heads/${name}`, `d/${name}`]
  const isNamed = (found: string[]) =>
    named.filter((name) => !found.some((path) => path === `${name.slice(0, 200)}…`))
  for (const found of [await folders.copyChanges(), await folders.folderChanges()]) {
    t.strictSame(isNamed(found), [])
    t.ok(found.every((path) => path.length <= 201))
  }
  await folders.close()
  t.notOk(fs.existsSync(folder))
})

t.test('a repository that leads nowhere', inLongLane, async (t) => {
  for (const place of ['.git', '.git/commondir']) {
    const repo = repository(t, FILES)
    const folders = await open(t, repo)
    for (const top of [repo, folders.copy]) {
      const file = join(top, place)
      if (place === '.git') fs.renameSync(file, join(top, '../.git-before'))
      fs.writeFileSync(file, `gitdir: x\0y${'z'.repeat(5000)}`)
    }
    t.ok((await folders.copyChanges()).includes('.git'))
    t.ok((await folders.folderChanges()).includes('.git'))
  }
})

t.test('what git cannot read again is told by what is certain, else by a refusal', async (t) => {
  const repo = repository(t, FILES)
  const folder = newFolder(t)
  const folders = await open(t, repo, { folder })
  fs.rmSync(join(repo, '.git/info/exclude'), { force: true })
  fs.mkdirSync(join(repo, '.git/info'), { recursive: true })
  fs.symlinkSync('exclude', join(repo, '.git/info/exclude'))
  t.strictSame(await folders.folderChanges(), ['.git (info): exclude'])
  fs.rmSync(folder, { recursive: true })
  t.strictSame(await folders.copyChanges(), ['./'])
  fs.rmSync(join(repo, '.git/info'), { recursive: true })
  const again = await open(t, repo)
  withoutGit(t)
  await t.rejects(again.folderChanges(), {
    name: 'AppError',
    code: 'storage_failed',
    message: /^What changed in the working folder is unknown: git was not found .* Fix that/,
  })
})

t.test('limits', async (t) => {
  const repo = repository(t, FILES)
  write(repo, { large: randomBytes(500_000) })
  const folder = newFolder(t)
  const early = new AbortController()
  const opening = open(t, repo, { folder, signal: early.signal })
  early.abort()
  await t.rejects(opening, { name: 'AbortError' })
  t.notOk(fs.existsSync(folder), 'nothing is left behind')

  const late = new AbortController()
  const folders = await open(t, repo, { signal: late.signal })
  const looks = [folders.copyChanges(), folders.folderChanges()]
  late.abort()
  for (const look of looks) await t.rejects(look, { name: 'AbortError' })
  await folders.close()
  hangingGit(t)
  await t.rejects(open(t, repo, { timeoutMs: 100 }), { message: /\(it may take 100 ms\)/ })
})

t.test('without git', async (t) => {
  withoutGit(t)
  await t.rejects(open(t, newFolder(t)), {
    code: 'storage_failed',
    message:
      'The working folder cannot be copied to plan in: git was not found on the PATH. Fix that, then plan again.',
  })
})
