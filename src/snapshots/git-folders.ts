/** The git folders that belong to a working folder: of its repository, its submodules and its linked worktrees. */

import { join } from 'node:path'
import { kindsNow } from '../files/folder-names.ts'
import { existingPaths } from '../files/real-path.ts'
import { findRepositoryFolders } from '../git/repository-folders.ts'

const MAX_DEPTH = 8

export interface GitFolder {
  path: string
  /** For people, such as `.git/modules/lib`. */
  name: string
  /** It has objects and branches; false for the folder of a linked worktree. */
  isWhole: boolean
}

/** Submodules at any depth. */
export async function gitFolders(workdir: string): Promise<GitFolder[]> {
  const found = await findRepositoryFolders(workdir)
  return found === null ? [] : gitFoldersOf(found)
}

export async function gitFoldersOf({
  gitDir,
  common,
}: {
  gitDir: string
  common: string
}): Promise<GitFolder[]> {
  const folders: GitFolder[] = [{ path: common, name: '.git', isWhole: true }]
  if (gitDir !== common) {
    folders.push({ path: gitDir, name: '.git', isWhole: await isRepository(gitDir) })
  }
  for (const each of [...new Set([common, gitDir])])
    folders.push(...(await submodulesIn({ path: join(each, 'modules'), name: '.git/modules' }, 0)))
  for (const { path, name } of folders.filter(({ isWhole }) => isWhole)) {
    for (const tree of namesIn(join(path, 'worktrees'))) {
      const [at, shown] = [join(path, 'worktrees', tree), `${name}/worktrees/${tree}`]
      folders.push({ path: at, name: shown, isWhole: false })
    }
  }
  return [...new Map(folders.map((folder) => [folder.path, folder])).values()]
}

/** The name of a submodule may have slashes. */
async function submodulesIn(
  { path: folder, name: shown }: Pick<GitFolder, 'path' | 'name'>,
  depth: number,
): Promise<GitFolder[]> {
  if (depth > MAX_DEPTH) return []
  const found: GitFolder[] = []
  for (const entry of namesIn(folder)) {
    const [path, name] = [join(folder, entry), `${shown}/${entry}`]
    const isWhole = await isRepository(path)
    if (isWhole) found.push({ path, name, isWhole })
    const below = isWhole
      ? { path: join(path, 'modules'), name: `${name}/modules` }
      : { path, name }
    found.push(...(await submodulesIn(below, depth + 1)))
  }
  return found
}

export async function isRepository(path: string): Promise<boolean> {
  return (await existingPaths([join(path, 'HEAD'), join(path, 'objects')])).length === 2
}

/** What this user cannot read, no git of this user reads either. */
function namesIn(folder: string): string[] {
  const kinds = kindsNow(folder)
  return kinds === null || kinds === 'hidden' ? [] : [...kinds.keys()]
}
