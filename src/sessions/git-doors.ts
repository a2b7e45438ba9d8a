/**
 * By what git starts programs, or finds its configuration, hooks and objects. It is closed to a run: a program left there
 * would be started by the operator's next `git status`. Only what exists can be closed: a mount needs something to be
 * mounted on, and a placeholder that one run removes at its end would open the mount of another run of the repository.
 */

import { join } from 'node:path'
import { entriesIn } from '../files/folder-names.ts'
import { existingPaths } from '../files/real-path.ts'
import { findRepositoryFolders } from '../snapshots/repository-state.ts'

/** In a git folder. */
const DOORS = ['commondir', 'config', 'config.worktree', 'hooks', 'objects/info/alternates']
/** In the folder of a linked worktree; the rest is of its repository. */
const OF_WORKTREE = ['commondir', 'config.worktree', 'gitdir']
const MAX_DEPTH = 8

interface GitFolder {
  path: string
  isWhole: boolean
}

/** What a run must not write, of what exists now. */
export async function gitDoors(workdir: string): Promise<string[]> {
  const folders = await gitFolders(workdir)
  const paths = folders.flatMap(({ path, isWhole }) =>
    (isWhole ? DOORS : OF_WORKTREE).map((name) => join(path, name)),
  )
  return existingPaths(paths)
}

/** The git folders of the repository, of its submodules at any depth, and of its linked worktrees. */
async function gitFolders(workdir: string): Promise<GitFolder[]> {
  const found = await findRepositoryFolders(workdir)
  if (found === null) return []
  const { gitDir, common } = found
  const folders: GitFolder[] = [{ path: common, isWhole: true }]
  if (gitDir !== common) folders.push({ path: gitDir, isWhole: await isRepository(gitDir) })
  for (const each of [...new Set([common, gitDir])])
    folders.push(...(await submodulesIn(join(each, 'modules'), 0)))
  for (const { path } of folders.filter(({ isWhole }) => isWhole)) {
    const trees = join(path, 'worktrees')
    for (const name of await entriesIn(trees))
      folders.push({ path: join(trees, name), isWhole: false })
  }
  return [...new Map(folders.map((folder) => [folder.path, folder])).values()]
}

/** The name of a submodule may have slashes. */
async function submodulesIn(folder: string, depth: number): Promise<GitFolder[]> {
  if (depth > MAX_DEPTH) return []
  const found: GitFolder[] = []
  for (const name of await entriesIn(folder)) {
    const path = join(folder, name)
    const isWhole = await isRepository(path)
    if (isWhole) found.push({ path, isWhole })
    found.push(...(await submodulesIn(isWhole ? join(path, 'modules') : path, depth + 1)))
  }
  return found
}

async function isRepository(path: string): Promise<boolean> {
  return (await existingPaths([join(path, 'HEAD'), join(path, 'objects')])).length === 2
}
