/** Compares the working folder and its repository before and after planning. */

import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isOpenFolder } from '../files/folder-names.ts'
import { excludedPaths } from '../git/excluded.ts'
import { gitLimits } from '../git/scratch.ts'
import { isIgnored, type ListedFolder } from './file-list.ts'
import { differences } from './plan-differences.ts'
import type { Files } from './plan-files.ts'
import { shownPath } from './plan-walk.ts'
import { type Watch, type WatchOptions, watchFiles, watchStamps } from './plan-watch.ts'
import { countMissing, storedObjects } from './repository-objects.ts'
import { findRepositoryFolders, repositoryState } from './repository-state.ts'

export interface WorkingFolderOptions extends WatchOptions {
  /**
   * More folders to compare by stamps, if ignored files are compared; without those in the working folder's
   * repository or in `exclude`.
   */
  alsoWatch?: string[]
}

export interface WatchedFolder {
  /** All files except ignored ones. */
  files: Files
  objectFormat: string
  /** The object folder of the repository; null without one that git can use. */
  objects: string | null
  warnings: string[]
  /** Returns what changed since, in no particular order; names are relative to the folder. */
  changes(): Promise<string[]>
}

/**
 * Records the state of a working folder, to report changes later, and copies its files to the folder `copy`; with
 * ignored files, also records the rest of its repository.
 */
export async function watchWorkingFolder(
  workdir: string,
  copy: string,
  options: WorkingFolderOptions,
): Promise<WatchedFolder> {
  const top = await realpath(workdir)
  const found = await findRepositoryFolders(top)
  const isUsed = found !== null && !(await isIgnored(found, top, options))
  const folder = isUsed
    ? { top: found.top, prefix: relative(found.top, top), repository: found }
    : { top, prefix: '', repository: null }
  const files = await watchFiles(folder, options, copy)
  const around = options.ignoredToo ? await watchAround(top, folder, options) : []
  const { entries, nested, objectFormat } = files.list
  const isWhole = isUsed && folder.prefix === '' && entries.length > 0
  const inRepository = await watchRepository(top, options, isWhole ? { entries } : {})
  return {
    files: files.files,
    objectFormat,
    objects: isUsed && entries.length > 0 ? join(found.common, 'objects') : null,
    warnings: [files, ...around]
      .flatMap(({ warnings }) => warnings)
      .concat(
        nested.map((path) => `${shownPath(path)} is a separate repository and not in the copy`),
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
  folder: ListedFolder,
  options: WorkingFolderOptions,
): Promise<Watch[]> {
  const watches: Watch[] = []
  const { top } = folder
  if (folder.prefix !== '') {
    const exclude = [...options.exclude, workdir]
    const whole = await watchFiles({ ...folder, prefix: '' }, { ...options, exclude })
    watches.push(named(whole, workdir, top))
  }
  const exclude = [...options.exclude, top]
  for (const path of options.alsoWatch ?? []) {
    const other = await realpath(path)
    const isLeftOut = (await excludedPaths({ top: other, prefix: '' }, exclude)) === null
    if (isLeftOut) continue
    watches.push(named(await watchStamps(other, { ...options, exclude }), workdir, other))
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
  known: { entries?: readonly string[] },
): Promise<() => Promise<string[]>> {
  const state = await repositoryState(top, { ...options, ...known })
  const found = await findRepositoryFolders(top)
  const objects = found && join(found.common, 'objects')
  const stored = objects === null ? new Map() : await storedObjects(objects)
  return async () => {
    const changed = differences(state, await repositoryState(top, options))
    if (objects === null) return changed
    const missing = await countMissing(objects, stored, options.folder, gitLimits(options))
    return missing === 0 ? changed : [...changed, `.git (objects): ${missing} are gone`]
  }
}
