/** How a worktree compares with the branch of the working folder, and what in it is not committed. */

import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegular } from '../files/safe-read.ts'
import { gitFailed } from '../git/git-error.ts'
import { type GitCommandOptions, runGit } from '../git/run-git.ts'
import { parseStatus } from '../git/uncommitted.ts'
import { kindAt } from './worktree.ts'
import { inWorktree } from './worktree-commit.ts'
import { type WorktreeNote, type WorktreeNotes, worktreePaths } from './worktree-notes.ts'

export interface BranchStatus {
  /** The last commit of the session's branch; null if the branch is gone. */
  head: string | null
  /** The branch that is checked out in the working folder; null for a detached HEAD. */
  onto: string | null
  /** Commits of that branch which the session's does not have. */
  behind: number
  /** Commits of the session's branch which that one does not have. */
  ahead: number
  /** Files that both have changed, so that they cannot be merged. */
  conflicts: string[]
}

const TIME = { timeoutMs: 10_000 }

/** Compares a branch with what is checked out in `top`; null without a repository there. */
export async function branchStatus(top: string, branch: string): Promise<BranchStatus | null> {
  const git = { ...TIME, cwd: top }
  try {
    const ref = `refs/heads/${branch}`
    const [found, counted, onto] = await Promise.all([
      runGit(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], git),
      runGit(['rev-list', '--left-right', '--count', `HEAD...${ref}`, '--'], git),
      runGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], git),
    ])
    if (found.exit > 1) return null
    const [behind = 0, ahead = 0] =
      counted.exit === 0 ? counted.stdout.toString().trim().split('\t').map(Number) : []
    const conflicts = ahead > 0 && behind > 0 ? await conflictsWith(ref, git) : []
    return {
      conflicts,
      head: found.exit === 0 ? found.stdout.toString().trim() : null,
      onto: onto.exit === 0 ? onto.stdout.toString().trim() : null,
      behind,
      ahead,
    }
  } catch {
    return null
  }
}

/** Whether the branch has that commit, and what is checked out in `top` does not. */
export async function isUnmerged(top: string, branch: string, commit: unknown): Promise<boolean> {
  const args = ['rev-list', `HEAD..refs/heads/${branch}`, '--']
  const found = await runGit(args, { ...TIME, cwd: top }).catch(() => null)
  return found?.exit === 0 && found.stdout.toString().split('\n').includes(String(commit))
}

async function conflictsWith(ref: string, git: GitCommandOptions): Promise<string[]> {
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', 'HEAD', ref]
  const { exit, stdout } = await runGit(args, git)
  if (exit !== 1) return []
  const [, ...names] = stdout.toString().split('\0')
  return [...new Set(names.filter((name) => name !== ''))]
}

export interface LooseFiles {
  /** What no commit has. A name that ends with a slash is a separate repository. */
  uncommitted: string[]
  /** What git ignores, folders as one name. */
  ignored: string[]
}

const MAX_BYTES = 256 * 1024
const MAX_INDEX_BYTES = 256 * 1024 * 1024

/** What is in a worktree and in no commit. Only for a session that has ended: git reads the user's settings. */
export async function looseFiles(
  notes: WorktreeNotes,
  note: WorktreeNote,
  options: Pick<GitCommandOptions, 'signal'> = {},
): Promise<LooseFiles> {
  const { tree, entry, own } = worktreePaths(notes.root, note)
  if ((await kindAt(tree)) !== 'folder' || (await kindAt(entry)) !== 'folder')
    return { uncommitted: [], ignored: [] }
  const git = { ...inWorktree(notes, note, { ...TIME, ...options }), maxBytes: MAX_BYTES }
  const status = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--', '.']
  const spec = note.record === null ? [] : [`:(top,exclude,literal)${note.record}`]
  const ls = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const [changed, ignored, staged] = await Promise.all([
    runGit([...status, ...spec], git),
    runGit(ls, git),
    runGit(['ls-files', '--stage', '-z'], { ...git, maxBytes: MAX_INDEX_BYTES }),
  ])
  if (changed.exit > 0) throw gitFailed('status', changed.stderr)
  const names = parseStatus(changed.stdout.toString()).changes.map(({ file }) => file)
  const uncommitted: string[] = []
  for (const name of names) {
    const isCopy =
      note.copied.includes(name) && (await isSame(join(note.top, name), join(tree, name)))
    if (!isCopy) uncommitted.push(name)
  }
  // of a repository in it, the branch has only the id of a commit
  for (const [, path = ''] of staged.stdout.toString().matchAll(/160000 [0-9a-f]+ \d\t([^\0]+)\0/g))
    if (!uncommitted.includes(path)) uncommitted.push(`${path}/`)
  const links = uncommitted.some((name) => name.endsWith('/'))
  // of submodules that are no longer there, as `commitWorktree` keeps them
  if (!links && (await kindAt(join(own, 'modules'))) !== null)
    uncommitted.push(`../${note.session_id}.git/modules/`)
  return { uncommitted, ignored: ignored.stdout.toString().split('\0').slice(0, -1) }
}

const MAX_COMPARED = 64 * 1024 * 1024

/** Whether the copy still has the bytes of the file that it was made from. */
async function isSame(one: string, other: string): Promise<boolean> {
  const links = await Promise.all([one, other].map((path) => readlink(path).catch(() => null)))
  if (links[0] !== null && links[0] === links[1]) return true
  const [a, b] = await Promise.all(
    [one, other].map((path) => readRegular(path, { maxBytes: MAX_COMPARED })),
  )
  return a?.ok === true && b?.ok === true && a.bytes.equals(b.bytes)
}
