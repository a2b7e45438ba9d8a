/** Compares a folder before and after planning: tracked files by git, other files by stamps. */

import { join } from 'node:path'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import { excludedPaths } from './git-excluded.ts'
import { type FolderIndex, openFolderIndex } from './git-folder-index.ts'
import type { IndexEntry } from './git-index.ts'
import { type GitLimits, gitLimits } from './git-scratch.ts'
import { MAX_STAMPS, type Stamps, stampsBelow } from './ignored-files.ts'
import { differences } from './plan-differences.ts'
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

export interface IndexedWatch extends Watch {
  /** Index of all files except ignored ones. */
  index: FolderIndex
  /** Nested repositories, of which the index contains only a commit. */
  submodules: string[]
}

/** By path, in the form of plan-walk.ts. */
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
  const look = (before?: Stamps) => stampsOf(top, options, { known, skip: ['.git'], before })
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
 * Reads the files again in a new scratch repository, as an agent could have changed the first one. File times are
 * ignored, since git compares whole seconds, and the user's index is not used.
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
