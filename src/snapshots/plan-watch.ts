/** Compares a folder before and after planning: tracked files by git, other files by stamps. */

import { join } from 'node:path'
import { excludedPaths } from '../git/excluded.ts'
import type { GitLimits } from '../git/scratch.ts'
import { type FileList, type ListedFolder, listFiles, listUntracked } from './file-list.ts'
import { MAX_STAMPS, type Stamps, stampsBelow } from './ignored-files.ts'
import { differences } from './plan-differences.ts'
import { type Files, readFiles } from './plan-files.ts'
import { walkedPath } from './plan-walk.ts'

export interface WatchOptions extends GitLimits {
  /** The real path of an empty scratch folder. */
  folder: string
  /** Absolute paths that are neither copied nor compared; they need not exist. */
  exclude: string[]
  /** Whether ignored files are compared too, by their stamps. */
  ignoredToo: boolean
}

export interface Watch {
  warnings: string[]
  /** Changed paths below the folder, in the form of plan-walk.ts. */
  changes(): Promise<string[]>
}

export interface FilesWatch extends Watch {
  /** All files except ignored ones. */
  list: FileList
  files: Files
}

/** Records the files of a folder except ignored ones, and copies them to `copyTo` if given. */
export async function watchFiles(
  folder: ListedFolder,
  options: WatchOptions,
  copyTo?: string,
): Promise<FilesWatch> {
  const top = join(folder.top, folder.prefix)
  const { signal } = options
  const list = await listFiles(folder, options)
  const { objectFormat } = list
  const read = (paths: readonly string[], more: { copyTo?: string } = {}) =>
    readFiles(top, paths, { objectFormat, ...(signal ? { signal } : {}), ...more })
  const { files, warnings } = await read(list.paths, copyTo === undefined ? {} : { copyTo })
  const known = (path: string) => files.has(path)
  const look = (before?: Stamps) => stampsOf(top, options, { known, skip: ['.git'], before })
  const stamps = options.ignoredToo ? await look() : null
  return {
    list,
    files,
    warnings: [...list.warnings, ...warnings, ...unstamped(stamps)],
    async changes() {
      // files that were seen count even if they are ignored now
      const again = async () => {
        const { paths } = await listUntracked(folder, options)
        return (await read([...new Set([...files.keys(), ...paths])])).files
      }
      if (stamps === null) return differences(files, await again())
      const now = await look(stamps)
      if (now.blocksGit) return differences(stamps.byPath, now.byPath)
      const after = await again()
      for (const path of after.keys()) {
        // a file that is no longer ignored is compared by its stamp, a new file by its content
        if (!files.has(path)) (stamps.byPath.has(path) ? after : now.byPath).delete(path)
      }
      return differences(joinedMap(files, stamps.byPath), joinedMap(after, now.byPath))
    },
  }
}

/** Records everything below a folder by stamps only. */
export async function watchStamps(top: string, options: WatchOptions): Promise<Watch> {
  const look = (before?: Stamps) => stampsOf(top, options, { known: () => false, skip: [], before })
  const stamps = await look()
  return {
    warnings: unstamped(stamps),
    changes: async () => differences(stamps.byPath, (await look(stamps)).byPath),
  }
}

function joinedMap(files: Files, stamps: Files): Files {
  return new Map([...files, ...stamps])
}

interface StampsDeps {
  known(path: string): boolean
  skip: string[]
  before: Stamps | undefined
}

async function stampsOf(
  top: string,
  { folder, exclude, signal }: WatchOptions,
  { known, skip, before }: StampsDeps,
): Promise<Stamps> {
  const excluded = (await excludedPaths({ top, prefix: '' }, [...exclude, folder])) ?? []
  return stampsBelow(top, {
    isKnown: known,
    skip: new Set([...skip, ...excluded.map(walkedPath)]),
    ...(before ? { before } : {}),
    ...(signal ? { signal } : {}),
  })
}

function unstamped(stamps: Stamps | null): string[] {
  const { uncounted } = stamps ?? { uncounted: 0 }
  if (uncounted === 0) return []
  return [`${uncounted} ignored files are not compared: there are more than ${MAX_STAMPS}`]
}
