/** A separate git index over the user's working folder. The user's own index is never written. */

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitCommandOptions, type GitOutput, runGit } from '../workspace/git/git-command.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import { excludedPaths } from './git-excluded.ts'
import {
  findIgnored,
  forgetStamps,
  type IndexEntry,
  listIndex,
  trackedFiles,
  updateIndex,
} from './git-index.ts'
import { createScratchRepository } from './git-scratch.ts'

export interface FolderIndexOptions {
  /** An existing scratch folder; everything is stored in a new folder inside it. */
  scratch: string
  /** Absolute paths that are left out; they need not exist. */
  exclude: string[]
  /** More object folders whose objects need not be stored again. */
  borrow?: string[]
  /** Time limit of each git command; 2 minutes by default. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** A separate index over the user's folder, in a scratch repository. */
export interface FolderIndex {
  /** The object folder of the scratch repository. */
  objects: string
  /** For git commands that use this index. */
  git: GitCommandOptions
  /**
   * Updates the index to the current folder. Files in `seen` (relative to the top) are included even if ignored. Do
   * not call it concurrently.
   */
  read(seen?: Iterable<string>): Promise<IndexEntry[]>
  /** Git's messages about files that it could not read last time; they are not in the index. */
  warnings(): string[]
  close(): Promise<void>
}

/**
 * Opens an index that starts empty, so that the first `read` reads every byte. Returns the reason if the folder itself
 * is excluded.
 */
export async function openFolderIndex(
  repository: GitRepository,
  options: FolderIndexOptions,
): Promise<FolderIndex | { reason: string }> {
  const excluded = await excludedPaths(repository, options.exclude)
  if (excluded === null) return { reason: 'the folder is within an excluded one' }
  const scratchPaths = (await excludedPaths(repository, [options.scratch])) ?? []

  const folder = await mkdtemp(join(await realpath(options.scratch), 'tree-'))
  try {
    const git = await createScratchRepository(repository, folder, options, options.borrow)
    return folderIndex(repository, [...excluded, ...scratchPaths], folder, git)
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
  const folderPathspec = repository.prefix === '' ? '.' : `:(top,literal)${repository.prefix}`
  const pathspecs = [folderPathspec, ...excluded.map((path) => `:(top,exclude,literal)${path}`)]
  let warnings: string[] = []
  let submodules: string[] = []
  let justChanged: IndexEntry[] = []

  return {
    objects: join(folder, 'objects'),
    git,
    warnings: () => warnings,
    async read(seen = []) {
      // a killed git command leaves its lock
      await rm(join(folder, 'index.lock'), { force: true })
      // git would start another git in each submodule, with the submodule's configuration
      await updateIndex(['--force-remove'], submodules, git)
      await forgetStamps(justChanged, git)
      const began = Math.floor(Date.now() / 1000)
      const added = await addAll(pathspecs, git)
      const entries = await listIndex(git)
      submodules = entries.filter((entry) => entry.mode === '160000').map((entry) => entry.path)
      const listedPaths = new Set(entries.map((entry) => entry.path))
      const tracked = repository.objects === null ? [] : await trackedFiles(repository, git)
      const ignored = await findIgnored([...tracked, ...seen], repository, excluded, listedPaths)
      const failure = await updateIndex(['--add', '--replace'], ignored, git)
      warnings = (added.stderr + failure).split('\n').filter((line) => line !== '')
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
    // git fails only if a file disappears after its folder was listed
    if (attempt < ATTEMPTS && /^fatal: unable to stat /m.test(added.stderr)) continue
    throw new Error(`git add failed: ${added.stderr.trim()}`)
  }
}
