/**
 * By what git starts programs, or finds its configuration, hooks and objects. It is closed to a run: a program left there
 * would be started by the operator's next `git status`. A mount needs something to be mounted on, so while a run works,
 * what is missing is there and says the same as nothing.
 */

import { lstat, mkdir, readFile, rmdir, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../files/errno.ts'
import { entriesIn } from '../files/folder-names.ts'
import { existingPaths } from '../files/real-path.ts'
import { findRepositoryFolders } from '../snapshots/repository-state.ts'

/** Paths in a git folder, with the text that means nothing; null for a folder. */
const DOORS: Readonly<Record<string, string | null>> = {
  commondir: '.\n',
  config: '',
  'config.worktree': '',
  hooks: null,
  'objects/info/alternates': '',
}
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
    (isWhole ? Object.keys(DOORS) : OF_WORKTREE).map((name) => join(path, name)),
  )
  return existingPaths(paths)
}

const held = new Map<string, number>()

/** Makes what is missing. Call what it returns when no process of the run is left: it removes that again. */
export async function holdGitDoors(workdir: string): Promise<() => Promise<void>> {
  const doors = (await gitFolders(workdir)).flatMap(({ path, isWhole }) =>
    Object.entries(DOORS)
      .filter(([name]) => isWhole || name === 'config.worktree')
      .map(([name, text]) => ({ path: join(path, name), text })),
  )
  for (const { path, text } of doors) {
    held.set(path, (held.get(path) ?? 0) + 1)
    const made = text === null ? mkdir(path) : writeFile(path, text, { flag: 'wx' })
    await made.catch(ifNoError) // it exists, or the run cannot make it either
  }
  return async () => {
    for (const { path, text } of doors) {
      const others = (held.get(path) ?? 1) - 1
      if (others > 0) held.set(path, others)
      else {
        held.delete(path)
        await removeEmpty(path, text).catch(ifNoError)
      }
    }
  }
}

/** Also what a service left that was killed: it says nothing. */
async function removeEmpty(path: string, text: string | null): Promise<void> {
  if (text === null) return rmdir(path)
  const isSame = (await lstat(path)).isFile() && (await readFile(path, 'utf8')) === text
  if (isSame && !path.endsWith('/config')) await unlink(path)
}

function ifNoError(error: unknown): void {
  if (codeOf(error) === '') throw error
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
