/** Finds which contents of files below a folder git could bring since a moment: by a commit, the index or the stash. */

import { hasCode } from '../../files/errno.ts'
import { gitText, runGit } from './git-command.ts'
import { EACH_PARENT, gitLog } from './git-log.ts'

/** What git could bring at a moment. */
export interface GitMoment {
  /** Whether there is a repository that git would use. */
  isRepository: boolean
  /** The commits of all branches, tags, stashes, reflogs and worktrees. */
  commits: string[]
  /** Files that are staged otherwise than in HEAD, as `stagedFiles` names them. */
  staged: string[]
}

/** A content that a file has in some commit or in the index. */
export interface BroughtFile {
  /** Relative to the folder. */
  path: string
  object: string
}

export async function gitMoment(folder: string): Promise<GitMoment> {
  if (!(await isRepository(folder))) return { isRepository: false, commits: [], staged: [] }
  const [commits, staged] = await Promise.all([
    gitText(['rev-list', '--no-walk=unsorted', '--all', '--reflog'], { cwd: folder }),
    stagedFiles(folder),
  ])
  return {
    isRepository: true,
    commits: commits.split('\n').filter((id) => id !== ''),
    staged: staged.map(wordOf),
  }
}

async function isRepository(folder: string): Promise<boolean> {
  try {
    return (await runGit(['rev-parse', '--git-dir'], { cwd: folder })).exit === 0
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Throws if git cannot say it, which a run may have brought about. */
export async function broughtSince(
  folder: string,
  { isRepository: wasOne, commits, staged }: GitMoment,
): Promise<BroughtFile[]> {
  if (!wasOne && !(await isRepository(folder))) return []
  const input = commits.map((id) => `^${id}\n`).join('')
  const [log, index, trees] = await Promise.all([
    gitLog(
      [
        ...['--all', '--reflog', '--ignore-missing', '--full-history', '--root', EACH_PARENT],
        ...['--relative', '--stdin', '--', '.'],
      ],
      { cwd: folder, input },
    ),
    stagedFiles(folder),
    taggedTrees(folder),
  ])
  const known = new Set(staged)
  const files = [
    ...log.flatMap(({ changes }) => changes),
    ...index.filter((file) => !known.has(wordOf(file))),
    ...trees,
  ].flatMap(({ path, object }) => (object === null ? [] : [{ path, object }]))
  return [...new Map(files.map((file) => [wordOf(file), file])).values()]
}

function wordOf({ path, object }: BroughtFile): string {
  return `${object} ${path}`
}

/** The files in the index that differ from HEAD; all of them before the first commit. */
async function stagedFiles(folder: string): Promise<BroughtFile[]> {
  const args = ['--cached', '--raw', '-z', '--no-abbrev', '--no-renames', '--relative']
  const { exit, stdout } = await runGit(['diff-index', ...args, 'HEAD', '--', '.'], { cwd: folder })
  if (exit !== 0) {
    const all = await gitText(['ls-files', '--stage', '-z', '--', '.'], { cwd: folder })
    return entriesOf(all, /^\d+ ([0-9a-f]+) \d\t(.*)$/s)
  }
  const words = stdout.toString().split('\0')
  return words.flatMap((word, at) => {
    const object = word.startsWith(':') ? word.split(' ')[3] : undefined
    return object === undefined || /^0+$/.test(object) ? [] : [{ path: words[at + 1]!, object }]
  })
}

/** The files of trees that a ref names without a commit. */
async function taggedTrees(folder: string): Promise<BroughtFile[]> {
  const format = '--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname)'
  const refs = await gitText(['for-each-ref', format], { cwd: folder })
  const trees = [...refs.matchAll(/\btree ([0-9a-f]+)/g)].map(([, tree]) => tree!)
  const top = (await gitText(['rev-parse', '--show-prefix'], { cwd: folder })).trimEnd()
  const lists = await Promise.all(
    [...new Set(trees)].map((tree) =>
      gitText(['ls-tree', '-r', '-z', '--full-tree', tree, '--', top || '.'], { cwd: folder }),
    ),
  )
  return lists
    .flatMap((list) => entriesOf(list, /^\d+ blob ([0-9a-f]+)\t(.*)$/s))
    .map(({ path, object }) => ({ path: path.slice(top.length), object }))
}

function entriesOf(list: string, entry: RegExp): BroughtFile[] {
  return list.split('\0').flatMap((each) => {
    const [, object, path] = entry.exec(each) ?? []
    return object === undefined || path === undefined ? [] : [{ path, object }]
  })
}
