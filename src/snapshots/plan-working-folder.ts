/** Compares the working folder and its repository before and after planning. */

import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isOpenFolder } from '../files/folder-names.ts'
import {
  findRepository,
  type GitRepository,
  noRepository,
} from '../workspace/git/git-repository.ts'
import { excludedPaths } from './git-excluded.ts'
import type { FolderIndex } from './git-folder-index.ts'
import { gitLimits } from './git-scratch.ts'
import { differences } from './plan-differences.ts'
import { shownPath } from './plan-walk.ts'
import { type Watch, type WatchOptions, watchFiles, watchStamps } from './plan-watch.ts'
import { countMissing, storedObjects } from './repository-objects.ts'
import { objectsFolder, repositoryState } from './repository-state.ts'

export interface WorkingFolderOptions extends WatchOptions {
  /**
   * More folders to compare by stamps, if ignored files are compared; without those in the working folder's
   * repository or in `exclude`.
   */
  alsoWatch?: string[]
}

export interface WatchedFolder {
  repository: GitRepository
  /** Index of all files except ignored ones. */
  index: FolderIndex
  warnings: string[]
  /** Returns what changed since, in no particular order; names are relative to the folder. */
  changes(): Promise<string[]>
}

/**
 * Records the state of a working folder, to report changes later; with ignored files, also the rest of its
 * repository.
 */
export async function watchWorkingFolder(
  workdir: string,
  options: WorkingFolderOptions,
): Promise<WatchedFolder> {
  const top = await realpath(workdir)
  const found = await findRepository(top, gitLimits(options))
  const repository = 'reason' in found ? noRepository(top) : found
  const files = await watchFiles(repository, options)
  const around = options.ignoredToo ? await watchAround(top, repository, options) : []
  const inRepository = await watchRepository(top, options)
  return {
    repository,
    index: files.index,
    warnings: [files, ...around]
      .flatMap(({ warnings }) => warnings)
      .concat(
        files.submodules.map((path) => `${path} is a repository of its own, and not in the copy`),
      ),
    async changes() {
      if (!(await isOpenFolder(top))) return ['./']
      const certain = await inRepository()
      try {
        const names = (await files.changes()).map(shownPath)
        for (const watch of around) names.push(...(await watch.changes()))
        return [...names, ...certain]
      } catch (error) {
        // certain changes are reported even if git cannot compare the rest
        if (certain.length === 0 || options.signal?.aborted) throw error
        return certain
      }
    },
  }
}

/** Records what surrounds the working folder, by names relative to it. */
async function watchAround(
  workdir: string,
  repository: GitRepository,
  options: WorkingFolderOptions,
): Promise<Watch[]> {
  const watches: Watch[] = []
  const { top } = repository
  if (repository.prefix !== '') {
    const exclude = [...options.exclude, workdir]
    const whole = await watchFiles({ ...repository, prefix: '' }, { ...options, exclude })
    watches.push(named(whole, workdir, top))
  }
  const exclude = [...options.exclude, top]
  for (const path of options.alsoWatch ?? []) {
    const folder = await realpath(path)
    const isLeftOut = (await excludedPaths({ top: folder, prefix: '' }, exclude)) === null
    if (isLeftOut) continue
    watches.push(named(await watchStamps(folder, { ...options, exclude }), workdir, folder))
  }
  return watches
}

function named(watch: Watch, workdir: string, top: string): Watch {
  const nameOf = (path: string) =>
    relative(workdir, join(top, path)) + (path.endsWith('/') ? '/' : '')
  return { ...watch, changes: async () => (await watch.changes()).map(shownPath).map(nameOf) }
}

/** Reads the repository's own files, whether or not git would use it. */
async function watchRepository(
  top: string,
  options: WorkingFolderOptions,
): Promise<() => Promise<string[]>> {
  const state = await repositoryState(top, options)
  const objects = await objectsFolder(top)
  const stored = objects === null ? new Map() : await storedObjects(objects)
  return async () => {
    const changed = differences(state, await repositoryState(top, options))
    if (objects === null) return changed
    const missing = await countMissing(objects, stored, options.folder, gitLimits(options))
    return missing === 0 ? changed : [...changed, `.git (objects): ${missing} are gone`]
  }
}
