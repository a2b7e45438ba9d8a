/**
 * Git runs programs named in these files. A run must not write them, so they are mounted read-only; missing ones are
 * created first and never removed.
 */

import { mkdir, readlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { hasCode, isBarred } from '../files/errno.ts'
import { isFolder } from '../files/folder-names.ts'
import { existingPaths, realPathOf } from '../files/real-path.ts'
import { findRepositoryFolders } from '../git/repository-folders.ts'
import { type GitFolder, gitFolders, isRepository } from '../snapshots/git-folders.ts'

interface Protected {
  name: string
  /** What means the same to git as nothing; null if nothing does (see git-redirects.ts). */
  make: 'file' | 'folder' | null
}

const COMMONDIR: Protected = { name: 'commondir', make: null }
const WORKTREE_CONFIG: Protected = { name: 'config.worktree', make: 'file' }
const PROTECTED: readonly Protected[] = [
  COMMONDIR,
  { name: 'config', make: 'file' },
  WORKTREE_CONFIG,
  { name: 'hooks', make: 'folder' },
  { name: 'objects/info/alternates', make: 'file' },
]
/** In the git folder of a linked worktree; the others are in that of its repository. */
const PROTECTED_IN_WORKTREE: readonly Protected[] = [
  COMMONDIR,
  WORKTREE_CONFIG,
  { name: 'gitdir', make: null },
]

/** Returns the existing paths that a run must not write. */
export async function findProtectedPaths(workdir: string): Promise<string[]> {
  const paths = (await gitFolders(workdir)).flatMap((folder) =>
    listProtected(folder).map(({ name }) => join(folder.path, name)),
  )
  return existingPaths([...paths, ...(await findGitFile(workdir))])
}

export async function makeProtectedPaths(workdir: string): Promise<void> {
  for (const folder of await gitFolders(workdir)) {
    if (folder.isWhole && !(await isRepository(folder.path))) continue
    for (const { name, make } of listProtected(folder))
      if (make) await makeEmpty(join(folder.path, name), make).catch(ignoreExisting)
  }
}

function listProtected({ isWhole }: GitFolder): readonly Protected[] {
  return isWhole ? PROTECTED : PROTECTED_IN_WORKTREE
}

/** Where a link leads to nothing, its target is made: a run could make it otherwise. */
async function makeEmpty(path: string, make: 'file' | 'folder'): Promise<void> {
  if ((await existingPaths([path])).length > 0) return
  const link = await readlink(path).catch(ifNoLink)
  if (link !== null) return makeEmpty(resolve(await realPathOf(dirname(path)), link), make)
  if (make === 'folder') await mkdir(path, { recursive: true })
  else await writeFile(path, '', { flag: 'wx' })
}

function ifNoLink(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) return null
  throw error
}

/** The `.git` of a linked worktree or a submodule: a file that names the git folder. */
async function findGitFile(workdir: string): Promise<string[]> {
  const found = await findRepositoryFolders(workdir)
  const path = found && join(found.top, '.git')
  return path !== null && (await existingPaths([path]))[0] === path && !(await isFolder(path))
    ? [path]
    : []
}

/** Also ignores a folder that is gone, and what this user may not write: no run of this user makes it either. */
function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST', 'ENOENT', 'ENOTDIR', 'EROFS') && !isBarred(error)) throw error
}
