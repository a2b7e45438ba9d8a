/** Copies what `.worktreeinclude` names into a new worktree: files that git does not track, such as `.env`. */

import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readlink, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'
import { gitFailed } from '../git/git-error.ts'
import { type GitCommandOptions, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'

export const INCLUDE_FILE = '.worktreeinclude'

const MAX_FILES = 50_000
const MAX_BYTES = 2 * 1024 * 1024 * 1024
const MAX_LIST_BYTES = 32 * 1024 * 1024

export interface CopiedFiles {
  count: number
  /** Those that git does not ignore, from the top. */
  unignored: string[]
  /** Links that lead out of the folder, which were not copied. */
  leftOut: string[]
}

interface CopyFolders {
  /** The working tree that has the files. */
  top: string
  /** The new worktree. */
  to: string
  /** Folders whose files are not copied. */
  exclude: readonly string[]
}

/**
 * The file has one pattern on each line, as `.gitignore` has. Files that a pattern matches and that git does not track
 * are copied, unless the new worktree has a file there.
 */
export async function copyIncluded(
  { top, to, exclude }: CopyFolders,
  options: Pick<GitCommandOptions, 'signal' | 'env'>,
): Promise<CopiedFiles> {
  const copied: CopiedFiles = { count: 0, unignored: [], leftOut: [] }
  const file = join(top, INCLUDE_FILE)
  const read = await readRegular(file, { maxBytes: 1024 * 1024 })
  if (!read.ok) {
    if (read.reason === 'missing') return copied
    throw new AppError('isolation_impossible', `${INCLUDE_FILE} cannot be read: ${read.detail}.`)
  }
  const git = { ...options, cwd: top, maxBytes: MAX_LIST_BYTES }
  const ls = ['ls-files', '--others', '-z']
  const matching = await list([...ls, '--ignored', `--exclude-from=${file}`], git)
  if (matching.length === 0) return copied
  const unignored = new Set(await list([...ls, '--exclude-standard'], git))
  const safe = createSafeFolders(to)
  let bytes = 0
  for (const name of matching) {
    const from = join(top, name)
    // a folder here is a separate repository
    if (name.endsWith('/') || exclude.some((folder) => isWithin(folder, from))) continue
    const stats = await lstat(from).catch(ifGone)
    if (stats === null || !(stats.isFile() || stats.isSymbolicLink())) continue
    copied.count += 1
    bytes += stats.size
    if (copied.count > MAX_FILES || bytes > MAX_BYTES) throw tooMuch()
    if (!(await safe.make(dirname(name)))) continue
    const isCopied = stats.isFile()
      ? await copyOne(from, join(to, name))
      : await copyLink({ top, from, to: join(to, name) })
    if (!isCopied) copied.leftOut.push(name)
    else if (unignored.has(name)) copied.unignored.push(name)
  }
  return copied
}

function tooMuch(): AppError {
  return new AppError(
    'isolation_impossible',
    `${INCLUDE_FILE} names more than ${MAX_FILES} files or 2 GiB. Name fewer, and let the plan install the rest.`,
  )
}

async function list(args: string[], git: GitCommandOptions): Promise<string[]> {
  const { exit, stdout, stderr } = await runGit(args, git)
  if (exit === -1) throw tooMuch()
  if (exit !== 0) throw gitFailed('ls-files', stderr)
  return stdout.toString().split('\0').slice(0, -1)
}

function ifGone(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}

/** A copy that shares the bytes on disk where the file system can. */
async function copyOne(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'EISDIR', 'ENOENT')) return true
    throw error
  }
}

/** Only a link that leads to a place in the same folder. */
async function copyLink({
  top,
  from,
  to,
}: {
  top: string
  from: string
  to: string
}): Promise<boolean> {
  const target = await readlink(from)
  const place = resolve(dirname(from), target)
  if (target.startsWith('/') || !isWithin(top, place) || isGit(relative(top, place))) return false
  try {
    await symlink(target, to)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
  return true
}

function isGit(path: string): boolean {
  return path === '.git' || path.startsWith('.git/')
}

/** Makes folders of the worktree, never through a link. */
function createSafeFolders(root: string) {
  const known = new Map<string, boolean>([['.', true]])
  async function make(folder: string): Promise<boolean> {
    const before = known.get(folder)
    if (before !== undefined) return before
    const isSafe = (await make(dirname(folder))) && (await isFolderAt(join(root, folder)))
    known.set(folder, isSafe)
    return isSafe
  }
  return { make }
}

async function isFolderAt(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    return (await lstat(path)).isDirectory()
  }
}
