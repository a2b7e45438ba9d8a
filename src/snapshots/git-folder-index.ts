/** A git index of our own over the user's working folder. The user's index is never written. */

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitCommandOptions, type GitOutput, runGit } from '../workspace/git/git-command.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import { excludedPaths } from './git-excluded.ts'
import {
  forgetStamps,
  type IndexEntry,
  ignoredAmong,
  listIndex,
  trackedFiles,
  updateIndex,
} from './git-index.ts'
import { createScratchRepository } from './git-scratch.ts'

export interface FolderIndexOptions {
  /** A folder of ours that exists; everything is kept in a new folder in it. */
  scratch: string
  /** Absolute paths that are never part of it; they need not exist. */
  exclude: string[]
  /** Folders of objects, besides the user's, that need not be stored again. */
  borrow?: string[]
  /** For each git command; 2 minutes if not given. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** An index of ours over the user's folder, in a repository of our own. */
export interface FolderIndex {
  /** Where that repository has its objects. */
  objects: string
  git: GitCommandOptions
  /**
   * Brings it up to the folder as it is now, the files in `seen` (relative to the top) too if they are
   * ignored. One call at a time.
   */
  read(seen?: Iterable<string>): Promise<IndexEntry[]>
  /** Git's messages about files that it could not read the last time; they are not in the index. */
  warnings(): string[]
  close(): Promise<void>
}

/** The index begins empty, so that the first reading reads every byte. */
export async function openFolderIndex(
  repository: GitRepository,
  options: FolderIndexOptions,
): Promise<FolderIndex | { reason: string }> {
  const excluded = await excludedPaths(repository, options.exclude)
  if (excluded === null) return { reason: 'the folder is within an excluded one' }
  const ours = (await excludedPaths(repository, [options.scratch])) ?? []

  const folder = await mkdtemp(join(await realpath(options.scratch), 'tree-'))
  try {
    const git = await createScratchRepository(repository, folder, options, options.borrow)
    return folderIndex(repository, [...excluded, ...ours], folder, git)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

function folderIndex(
  repository: GitRepository,
  excluded: string[],
  folder: string,
  git: GitCommandOptions,
): FolderIndex {
  const only = repository.prefix === '' ? '.' : `:(top,literal)${repository.prefix}`
  const paths = [only, ...excluded.map((path) => `:(top,exclude,literal)${path}`)]
  let warnings: string[] = []
  let submodules: string[] = []
  let justChanged: IndexEntry[] = []

  return {
    objects: join(folder, 'objects'),
    git,
    warnings: () => warnings,
    async read(seen = []) {
      // A command that was killed leaves its lock.
      await rm(join(folder, 'index.lock'), { force: true })
      // Git would start another git in each submodule it knows, with that one's configuration.
      await updateIndex(['--force-remove'], submodules, git)
      await forgetStamps(justChanged, git)
      const began = Math.floor(Date.now() / 1000)
      const added = await addAll(paths, git)
      const entries = await listIndex(git)
      submodules = entries.filter((entry) => entry.mode === '160000').map((entry) => entry.path)
      const known = new Set(entries.map((entry) => entry.path))
      const tracked = repository.objects === null ? [] : await trackedFiles(repository, git)
      const ignored = await ignoredAmong([...tracked, ...seen], repository, excluded, known)
      const refused = await updateIndex(['--add', '--replace'], ignored, git)
      warnings = (added.stderr + refused).split('\n').filter((line) => line !== '')
      const all = ignored.length === 0 ? entries : await listIndex(git)
      justChanged = all.filter(({ mode, changed }) => mode !== '160000' && changed >= began - 1)
      return all
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

const ADD = ['add', '--all', '--ignore-errors', '--no-warn-embedded-repo', '--']
const ATTEMPTS = 3

async function addAll(paths: readonly string[], git: GitCommandOptions): Promise<GitOutput> {
  for (let attempt = 1; ; attempt += 1) {
    const added = await runGit([...ADD, ...paths], git)
    if (added.exit <= 1 && added.exit >= 0) return added
    // the one error that it does not ignore: a file went away after its folder was listed
    if (attempt < ATTEMPTS && /^fatal: unable to stat /m.test(added.stderr)) continue
    throw new Error(`git add failed: ${added.stderr.trim()}`)
  }
}
