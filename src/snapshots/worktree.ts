/**
 * The git worktree of an isolated session. While the session runs, its `.git` names a repository of the session's own
 * (worktree-repository.ts); afterwards it is a worktree of the user's repository like any other. Each function can be
 * repeated after a crash at any moment.
 */

import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { removeStubborn } from '../files/remove-stubborn.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { copyIncluded } from './worktree-files.ts'
import { removeLocks } from './worktree-locks.ts'
import { type WorktreeNote, type WorktreeNotes, worktreePaths } from './worktree-notes.ts'
import type { WorktreeSource } from './worktree-obstacle.ts'
import { makeOwnRepository } from './worktree-repository.ts'

type Options = Pick<GitCommandOptions, 'signal' | 'env'>

const LONG_MS = 10 * 60_000

export interface MadeWorktree {
  note: WorktreeNote
  /** The folder in the worktree that stands for the working folder. */
  folder: string
  /** What `.worktreeinclude` names and was not copied: links that lead elsewhere. */
  leftOut: string[]
}

type Named = Pick<WorktreeNote, 'session_id' | 'case_id' | 'number'>

/** Makes the worktree of a session, at the commit that is checked out in the working folder. */
export async function makeWorktree(
  notes: WorktreeNotes,
  source: WorktreeSource,
  session: Named & { slug: string },
  options: Options,
): Promise<MadeWorktree> {
  const { session_id, case_id, number, slug } = session
  const { common, top, prefix, record, objectFormat, head } = source
  const note: WorktreeNote = {
    session_id,
    case_id,
    number,
    common,
    top,
    prefix,
    record,
    objectFormat,
    branch: await freeBranch(top, `casefile/${slug}-${number}`, options),
    base: head,
    stage: 'making',
    since: Date.now(),
    copied: [],
    head: null,
    applying: null,
  }
  const places = worktreePaths(notes.root, note)
  await notes.write(note)
  await makeFolder(notes.root, 0o700)
  const git = { ...options, cwd: top, timeoutMs: LONG_MS }
  const add = ['worktree', 'add', '--quiet', '--no-checkout', '-b', note.branch]
  await gitText([...add, places.tree, note.base], git)
  await mustBeEntry(places)
  await makeOwnRepository(note, places, git)
  await writeFile(join(places.tree, '.git'), `gitdir: ${places.own}\n`)
  await gitText(['read-tree', '--reset', '-u', note.base], {
    ...git,
    env: { ...options.env, GIT_DIR: places.own, GIT_WORK_TREE: places.tree },
  })
  const exclude = [notes.root, ...(record === null ? [] : [join(top, record)])]
  const copied = await copyIncluded({ top, to: places.tree, exclude }, options)
  await hideCopied(places.own, copied.unignored)
  const made: WorktreeNote = {
    ...note,
    stage: 'running',
    since: Date.now(),
    copied: copied.unignored,
  }
  await notes.write(made)
  return { note: made, folder: join(places.tree, prefix), leftOut: copied.leftOut }
}

const MAX_NAMES = 1000

async function freeBranch(cwd: string, wanted: string, options: Options): Promise<string> {
  const listed = await gitText(['for-each-ref', '--format=%(refname)', 'refs/heads/casefile/'], {
    ...options,
    cwd,
  })
  // on some file systems names that differ only in case are the same
  const taken = listed.toLowerCase().split('\n')
  const isFree = (name: string) => !taken.some((ref) => `${ref}/`.startsWith(`refs/heads/${name}/`))
  for (let number = 1; number < MAX_NAMES; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`
    if (isFree(name)) return name
  }
  throw new AppError(
    'isolation_impossible',
    `There are too many branches named ${wanted}-…. Delete those that are not needed.`,
  )
}

/** Git names its entry after the folder; another one would be looked for in vain. */
async function mustBeEntry({ tree, entry }: { tree: string; entry: string }): Promise<void> {
  const text = await readFile(join(tree, '.git'), 'utf8')
  if (text.trim() === `gitdir: ${entry}`) return
  throw new Error(`git made the worktree under another name: ${text.trim()}`)
}

/** Copies of files that nothing ignores are not to be committed by the session. */
async function hideCopied(own: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const file = join(own, 'info', 'exclude')
  const text = await readFile(file, 'utf8').catch(() => '')
  const lines = names.map((name) => `/${name.replace(/[\\*?[\]!#]/g, '\\$&')}`)
  await writeFile(file, [text.trimEnd(), ...lines, ''].join('\n'))
}

/** Undoes the making of a worktree that nothing has worked in. */
export async function unmakeWorktree(notes: WorktreeNotes, note: WorktreeNote): Promise<void> {
  const places = worktreePaths(notes.root, note)
  await removeLocks(note, places)
  await mustBeGone(places.tree)
  await mustBeGone(places.own)
  await mustBeGone(places.entry)
  const { branch, base, common } = note
  const env = { GIT_DIR: common }
  // only while it is where it was made
  await runGit(['update-ref', '-d', `refs/heads/${branch}`, base], { cwd: common, env }).catch(
    ifNoFolder,
  )
  await notes.remove(note.session_id)
}

async function mustBeGone(path: string): Promise<void> {
  const why = await removeStubborn(path)
  if (why === null) return
  throw new AppError('storage_failed', `${path} could not be removed (${why}). Remove it by hand.`)
}

/** The repository is gone, with all its branches. */
function ifNoFolder(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}

/** Makes `.git` of the worktree name its entry in the user's repository, which is made again if it is missing. */
export async function attachWorktree(notes: WorktreeNotes, note: WorktreeNote): Promise<void> {
  const { tree, entry } = worktreePaths(notes.root, note)
  const dotGit = join(tree, '.git')
  await mkdir(entry, { recursive: true })
  await writeFile(join(entry, 'HEAD'), `ref: refs/heads/${note.branch}\n`)
  await writeFile(join(entry, 'commondir'), '../..\n')
  await writeFile(join(entry, 'gitdir'), `${dotGit}\n`)
  if ((await kindAt(dotGit)) !== 'file') await rm(dotGit, { recursive: true, force: true })
  await writeFile(dotGit, `gitdir: ${entry}\n`)
}

export async function kindAt(path: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stats = await lstat(path)
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
