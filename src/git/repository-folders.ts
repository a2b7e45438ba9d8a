/** The folders of a repository, found without asking git, so also of one that git would not use. */

import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode, isBarred } from '../files/errno.ts'
import { existingPaths } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'
import { asPath, type DotGit, findDotGit } from './dot-git.ts'

const MAX_BYTES = 4096

/** A repository by its folders. */
export interface FoundRepository extends DotGit {
  /** The git folder with objects and refs; another one than `gitDir` in a linked worktree. */
  common: string
}

export async function findRepositoryFolders(folder: string): Promise<FoundRepository | null> {
  const found = await findDotGit(folder, ignoreUnreadable)
  return found && { ...found, common: await commonOf(found.gitDir) }
}

async function commonOf(gitDir: string): Promise<string> {
  return resolve(gitDir, asPath(await textOf(join(gitDir, 'commondir'))) ?? '.')
}

/** Whether it has what makes a folder a repository to git, which else takes one around it. */
export async function isWhole({ gitDir, common }: FoundRepository): Promise<boolean> {
  const head = await textOf(join(gitDir, 'HEAD'))
  const folders = await existingPaths([join(common, 'objects'), join(common, 'refs')])
  return /^(?:ref:|[0-9a-f]{40})/.test(head ?? '') && folders.length === 2
}

/** The branch that is checked out where a folder is; null without one. Starts no git. */
export async function currentBranch(folder: string): Promise<string | null> {
  const found = await findDotGit(folder, ignoreUnreadable)
  const head = found && (await textOf(join(found.gitDir, 'HEAD')))
  return /^ref: refs\/heads\/(\S+)/.exec(head ?? '')?.[1] ?? null
}

function ignoreUnreadable(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR') || isBarred(error)) return null
  throw error
}

async function textOf(path: string): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (read.ok) return read.bytes.toString()
  return read.reason === 'missing' ? null : read.reason
}

/** Returns the real paths of a repository's working tree and git folders, also of a linked worktree. */
export async function repositoryFolders(folder: string): Promise<string[]> {
  const found = await findRepositoryFolders(await realpath(folder))
  if (found === null) return []
  const paths = [found.top, found.gitDir, found.common].map((path) =>
    realpath(path).catch(ignoreUnreadable),
  )
  return (await Promise.all(paths)).filter((path) => path !== null)
}
