/** Compares a folder before and after planning: tracked files by git, other files by stamps. */

import { join } from 'node:path'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import { excludedPaths } from './git-excluded.ts'
import { type FolderIndex, openFolderIndex } from './git-folder-index.ts'
import type { IndexEntry } from './git-index.ts'
import { type GitLimits, gitLimits } from './git-scratch.ts'
import { MOST_STAMPS, type Stamps, stampsBelow } from './ignored-files.ts'
import { differences } from './plan-differences.ts'
import { walkedPath } from './plan-walk.ts'

export interface WatchOptions extends GitLimits {
  /** An empty folder of the service, as a real path; all data goes into it. */
  folder: string
  /** Absolute paths that are neither copied nor compared; they need not exist. */
  exclude: string[]
  /** Whether ignored files of the working folder are also compared, by their stamps. */
  ignoredToo: boolean
}

export interface Watch {
  warnings: string[]
  /** Changed paths below the watched folder, as the walk names them. */
  changes(): Promise<string[]>
}

export interface IndexedWatch extends Watch {
  /** Everything except ignored files. */
  index: FolderIndex
  /** Nested repositories; the index has only their commits. */
  submodules: string[]
}

/** By path as the walk names it. */
type Files = Map<string, string>

/** Records the files of a repository below its prefix. */
export async function watchFiles(
  repository: GitRepository,
  options: WatchOptions,
): Promise<IndexedWatch> {
  const top = join(repository.top, repository.prefix)
  const index = await indexOf(repository, options)
  const entries = await index.read()
  const files = valuesOf(entries, repository)
  const known = (path: string) => files.has(path)
  const look = (before?: Stamps) => stampsOf(top, options, { known, leaveOut: ['.git'], before })
  const stamps = options.ignoredToo ? await look() : null
  const submodules = entries.filter(({ mode }) => mode === '160000')
  return {
    index,
    submodules: submodules.map(({ path }) => below(path, repository)),
    warnings: [...index.warnings(), ...unstamped(stamps)],
    async changes() {
      const again = () => readAgain(repository, index, entries, options)
      if (stamps === null) return differences(files, await again())
      const now = await look(stamps)
      if (now.blocksGit) return differences(stamps.byPath, now.byPath)
      const after = await again()
      for (const path of after.keys()) {
        // compare a file that is no longer ignored by its stamp, and a new file by its content
        if (!files.has(path)) (stamps.byPath.has(path) ? after : now.byPath).delete(path)
      }
      return differences(joinedMap(files, stamps.byPath), joinedMap(after, now.byPath))
    },
  }
}

/** Records everything below a folder by stamps alone. */
export async function watchStamps(top: string, options: WatchOptions): Promise<Watch> {
  const look = (before?: Stamps) =>
    stampsOf(top, options, { known: () => false, leaveOut: [], before })
  const stamps = await look()
  return {
    warnings: unstamped(stamps),
    changes: async () => differences(stamps.byPath, (await look(stamps)).byPath),
  }
}

function joinedMap(files: Files, stamps: Files): Files {
  return new Map([...files, ...stamps])
}

async function indexOf(
  repository: GitRepository,
  { folder, exclude, ...limits }: WatchOptions,
  borrow: string[] = [],
): Promise<FolderIndex> {
  const options = { scratch: folder, exclude, borrow, ...gitLimits(limits) }
  const index = await openFolderIndex(repository, options)
  if ('reason' in index) throw new Error(index.reason)
  return index
}

/**
 * Reads again with a new scratch repository, because the agent could change the first one. File
 * times are ignored, because git compares only whole seconds. No data of the user's repository is
 * used.
 */
async function readAgain(
  repository: GitRepository,
  { objects }: FolderIndex,
  seen: readonly IndexEntry[],
  options: WatchOptions,
): Promise<Files> {
  const borrow = [objects, ...(repository.objects === null ? [] : [repository.objects])]
  const index = await indexOf({ ...repository, objects: null }, options, borrow)
  try {
    const entries = await index.read(seen.map(({ path }) => path))
    return valuesOf(entries, repository)
  } finally {
    await index.close()
  }
}

function valuesOf(entries: readonly IndexEntry[], repository: GitRepository): Files {
  return new Map(
    entries.map(({ mode, id, path }) => [walkedPath(below(path, repository)), `${mode} ${id}`]),
  )
}

function below(path: string, { prefix }: GitRepository): string {
  return prefix === '' ? path : path.slice(prefix.length + 1)
}

interface StampsDeps {
  known(path: string): boolean
  leaveOut: string[]
  before: Stamps | undefined
}

async function stampsOf(
  top: string,
  { folder, exclude, signal }: WatchOptions,
  { known, leaveOut, before }: StampsDeps,
): Promise<Stamps> {
  const excluded = (await excludedPaths({ top, prefix: '' }, [...exclude, folder])) ?? []
  return stampsBelow(top, {
    isKnown: known,
    leaveOut: new Set([...leaveOut, ...excluded.map(walkedPath)]),
    ...(before ? { before } : {}),
    ...(signal ? { signal } : {}),
  })
}

function unstamped(stamps: Stamps | null): string[] {
  const { uncounted } = stamps ?? { uncounted: 0 }
  if (uncounted === 0) return []
  return [`${uncounted} ignored files are not compared: there are more than ${MOST_STAMPS}`]
}
