/**
 * By what git starts programs, or finds its configuration, hooks and objects. It is closed to a run: a program left there
 * would be started by the operator's next `git status`. A mount needs something to be mounted on, so what is missing and
 * means nothing while it is empty is made, and stays: a placeholder that one run removes would open the mount of another
 * run of the repository. `commondir` means something even if it is empty: git-redirects.ts.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, isBarred } from '../files/errno.ts'
import { isFolder } from '../files/folder-names.ts'
import { existingPaths } from '../files/real-path.ts'
import { type GitFolder, gitFolders, isRepository } from '../snapshots/git-folders.ts'
import { findRepositoryFolders } from '../snapshots/repository-state.ts'

/** In a git folder. */
const DOORS = ['commondir', 'config', 'config.worktree', 'hooks', 'objects/info/alternates']
/** In the folder of a linked worktree; the rest is of its repository. */
const OF_WORKTREE = ['commondir', 'config.worktree', 'gitdir']

/** What a run must not write, of what exists now. */
export async function gitDoors(workdir: string): Promise<string[]> {
  const paths = (await gitFolders(workdir)).flatMap((folder) =>
    doorsOf(folder).map((name) => join(folder.path, name)),
  )
  return existingPaths([...paths, ...(await linkFile(workdir))])
}

/** Makes those that are missing, if empty ones mean the same to git. */
export async function makeGitDoors(workdir: string): Promise<void> {
  for (const folder of await gitFolders(workdir)) {
    if (folder.isWhole && !(await isRepository(folder.path))) continue
    for (const name of doorsOf(folder)) {
      const path = join(folder.path, name)
      const isFile = name === 'config' || name === 'config.worktree'
      if (isFile) await writeFile(path, '', { flag: 'wx' }).catch(ifNotMissing)
      else if (name === 'hooks') await mkdir(path).catch(ifNotMissing)
    }
  }
}

function doorsOf({ isWhole }: GitFolder): readonly string[] {
  return isWhole ? DOORS : OF_WORKTREE
}

/** The `.git` of a linked worktree or a submodule: a file that names the git folder. */
async function linkFile(workdir: string): Promise<string[]> {
  const found = await findRepositoryFolders(workdir)
  const path = found && join(found.top, '.git')
  return path !== null && (await existingPaths([path]))[0] === path && !(await isFolder(path))
    ? [path]
    : []
}

/** Where this user may not write, no run of this user makes one either. */
function ifNotMissing(error: unknown): void {
  if (!hasCode(error, 'EEXIST', 'ENOENT', 'ENOTDIR', 'EROFS') && !isBarred(error)) throw error
}
