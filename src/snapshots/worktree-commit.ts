/** The end of a session in a worktree: everything in it becomes commits on its branch in the user's repository. */

import { constants } from 'node:fs'
import { copyFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { removeStubborn } from '../files/remove-stubborn.ts'
import { gitFailed } from '../git/git-error.ts'
import { gitIdentity } from '../git/identity.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import { openScratchFolder } from '../git/scratch.ts'
import { unfinishedWork } from '../git/unfinished-work.ts'
import { attachWorktree, kindAt } from './worktree.ts'
import { removeLocks } from './worktree-locks.ts'
import { type WorktreeNote, type WorktreeNotes, worktreePaths } from './worktree-notes.ts'
import { DURABLE, keepOthers } from './worktree-refs.ts'
import { importCommits } from './worktree-repository.ts'

type Options = Pick<GitCommandOptions, 'signal' | 'env'>

export interface CommittedWorktree {
  note: WorktreeNote
  /** The branch's commit; the base if nothing has changed. */
  head: string
  /** How many commits the branch has since the base. */
  commits: number
  /** Branches made of what its other branches, tags and stashes led to. */
  others: string[]
  /** Why commits that the session made are not on the branch, as a clause; what they changed is. */
  reason: string | null
}

const TIME = { timeoutMs: 2 * 60_000 }

interface End {
  /** For git's temporary repositories. */
  scratch: string
  /** Of the commit with what the session did not commit. */
  message: string
}

/**
 * Commits what is in the worktree: first what the session committed itself, then the rest. Nothing is lost if this is
 * ended at any moment, and it can be repeated, also for a worktree that is changed later.
 */
export async function commitWorktree(
  notes: WorktreeNotes,
  note: WorktreeNote,
  { scratch, message }: End,
  options: Options,
): Promise<CommittedWorktree> {
  const places = worktreePaths(notes.root, note)
  const { common, branch, base, top } = note
  const ref = `refs/heads/${branch}`
  const git = { ...options, ...TIME, cwd: top, env: { ...options.env, GIT_DIR: common } }
  await removeLocks(note, places)
  const imported = await importCommits(note, places, scratch, { ...options, timeoutMs: 30_000 })
  const present = await runGit(['rev-parse', '--verify', '--quiet', ref], git)
  const now = present.exit === 0 ? present.stdout.toString().trim() : null
  const parents = await independent([...imported.tips, ...(now === null ? [base] : [now])], git)
  const tree =
    (await kindAt(places.tree)) === 'folder'
      ? await treeOf(notes, note, { parent: parents[0]!, scratch }, git)
      : null
  const head = await commitOf({ parents, tree, message }, git)
  if (head !== now) {
    const old = now ?? '0'.repeat(head.length)
    const log = `casefile: session ${note.number}`
    await gitText([...DURABLE, 'update-ref', '-m', log, ref, head, old], git)
  }
  const others = await keepOthers(note, imported.others, git)
  const unfinished = unfinishedWork(places.own)
  if (tree !== null) await attachWorktree(notes, note)
  // commits in submodules are only there
  if (!(await hasEntries(join(places.own, 'modules')))) await removeStubborn(places.own)
  const count = await gitText(['rev-list', '--count', head, `^${base}`], git)
  const kept: WorktreeNote = { ...note, stage: 'kept', since: Date.now(), head }
  const reasons = [
    ...(imported.reason === null ? [] : [imported.reason]),
    ...(unfinished === null
      ? []
      : [`it left a git ${unfinished} unfinished: look for conflict markers`]),
  ]
  const reason = reasons.length === 0 ? null : reasons.join('; ')
  return { note: kept, head, commits: Number(count.trim()), others, reason }
}

async function hasEntries(folder: string): Promise<boolean> {
  return (await kindAt(folder)) === 'folder' && (await readdir(folder)).length > 0
}

/** The commits of which none is an ancestor of another. */
async function independent(commits: string[], git: GitCommandOptions): Promise<string[]> {
  const all = [...new Set(commits)]
  if (all.length < 2) return all
  const found = (await gitText(['merge-base', '--independent', ...all], git)).trim().split('\n')
  return all.filter((commit) => found.includes(commit))
}

/**
 * The tree of what is in the worktree. A separate index is filled from the start: nothing in the worktree's index could
 * hide a change. That index always lists its files: a commit by hand would delete what it does not list.
 */
async function treeOf(
  notes: WorktreeNotes,
  note: WorktreeNote,
  { parent, scratch }: { parent: string; scratch: string },
  git: GitCommandOptions,
): Promise<string> {
  await attachWorktree(notes, note)
  const here = inWorktree(notes, note, git)
  const { entry } = worktreePaths(notes.root, note)
  const folder = await openScratchFolder(scratch)
  const index = join(folder.path, 'index')
  try {
    const own = { ...here, env: { ...here.env, GIT_INDEX_FILE: index } }
    await gitText(['read-tree', parent], own)
    if ((await kindAt(join(entry, 'index'))) === null) await replaceIndex(entry, index)
    const inner = await innerRepositories(own)
    const spec = ['.', ...(await leftOut(note, own)), ...inner.map(exclusion)]
    const { exit, stderr } = await runGit([...DURABLE, ...ADD], { ...own, input: spec.join('\0') })
    if (exit !== 0 && exit !== 1) throw gitFailed('add', stderr)
    const links = { ...own, input: inner.map((path) => `${path}\0`).join('') }
    if (inner.length > 0) await gitText([...LINKS], links)
    const tree = (await gitText([...DURABLE, 'write-tree'], own)).trim()
    await replaceIndex(entry, index)
    return tree
  } finally {
    await folder.remove()
  }
}

/** As git does it: under its lock, and at once. */
async function replaceIndex(entry: string, index: string): Promise<void> {
  const lock = join(entry, 'index.lock')
  await copyFile(index, lock, constants.COPYFILE_EXCL)
  await rename(lock, join(entry, 'index'))
}

/** The pathspecs come on standard input, as there may be many. */
const ADD = [
  '-c',
  'advice.addEmbeddedRepo=false',
  'add',
  '--all',
  '--ignore-errors',
  '--pathspec-from-file=-',
  '--pathspec-file-nul',
]

/** Runs git in the worktree, whatever its `.git` says. */
export function inWorktree(
  notes: WorktreeNotes,
  note: WorktreeNote,
  git: Omit<GitCommandOptions, 'cwd'>,
): GitCommandOptions {
  const { tree, entry } = worktreePaths(notes.root, note)
  return { ...git, cwd: tree, env: { ...git.env, GIT_DIR: entry, GIT_WORK_TREE: tree } }
}

/** Pathspecs of what is never committed: the record, copies of files that are untracked elsewhere, repositories. */
async function leftOut(note: WorktreeNote, git: GitCommandOptions): Promise<string[]> {
  const listed = await gitText(['ls-files', '--others', '--exclude-standard', '-z'], git)
  const repositories = listed.split('\0').filter((name) => name.endsWith('/'))
  const paths = [...(note.record === null ? [] : [note.record]), ...note.copied, ...repositories]
  return paths.map(exclusion)
}

function exclusion(path: string): string {
  return `:(top,exclude,literal)${path.replace(/\/$/, '')}`
}

/** Takes the commits that these repositories are at, which `add` would enter. */
const LINKS = ['update-index', '--add', '--remove', '-z', '--stdin']

/** The repositories that the index has, as paths. */
async function innerRepositories(git: GitCommandOptions): Promise<string[]> {
  const listed = await gitText(['ls-files', '--stage', '-z'], git)
  return Array.from(listed.matchAll(/160000 [0-9a-f]+ 0\t([^\0]+)\0/g), ([, path = '']) => path)
}

interface NewCommit {
  parents: readonly string[]
  /** Null if there is nothing but what the parents have. */
  tree: string | null
  message: string
}

async function commitOf(
  { parents, tree, message }: NewCommit,
  git: GitCommandOptions,
): Promise<string> {
  const [parent = ''] = parents
  const before = (await gitText(['rev-parse', `${parent}^{tree}`], git)).trim()
  if (parents.length === 1 && (tree === null || tree === before)) return parent
  const args = ['commit-tree', ...parents.flatMap((each) => ['-p', each]), tree ?? before]
  const identity = await gitIdentity(git.cwd)
  const env = { ...git.env, ...identity }
  return (await gitText([...DURABLE, ...args], { ...git, env, input: message })).trim()
}
