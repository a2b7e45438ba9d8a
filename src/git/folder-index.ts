/** A separate git index over the user's working folder. The user's own index is never written. */

import { lstat, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isWithin } from '../files/real-path.ts'
import { type GitCommandOptions, type GitOutput, gitText, runGit } from './command.ts'
import { excludedPaths } from './excluded.ts'
import type { GitRepository } from './repository.ts'
import { createScratchRepository, gitLimits, openScratchFolder } from './scratch.ts'

export interface FolderIndexOptions {
  /** An existing scratch folder; everything is stored in a new folder inside it. */
  scratch: string
  /** Absolute paths that are left out; they need not exist. */
  exclude: string[]
  /** Time limit of each git command; 2 minutes by default. */
  timeoutMs?: number
  signal?: AbortSignal
  /** Objects to borrow instead of those of the repository. */
  objects?: string | undefined
}

/** A separate index over the user's folder, in a scratch repository. */
export interface FolderIndex {
  git: GitCommandOptions
  /** Updates the index to the current folder. Do not call it concurrently. */
  read(): Promise<void>
  /** Git's messages about files that it could not read last time; they are not in the index. */
  warnings(): string[]
  close(): Promise<void>
}

/** The index starts empty, so that the first call reads every byte. */
export async function openFolderIndex(
  repository: GitRepository,
  options: FolderIndexOptions,
): Promise<FolderIndex | { reason: string }> {
  const excluded = await excludedPaths(repository, options.exclude)
  if (excluded === null) return { reason: 'the folder is within an excluded one' }
  const ours = (await excludedPaths(repository, [options.scratch])) ?? []

  const folder = await openScratchFolder(options.scratch)
  try {
    const { top, objectFormat, exclude, excludesFile } = repository
    const { objects = repository.objects } = options
    const git = await createScratchRepository(folder.path, top, {
      ...gitLimits(options),
      objectFormat,
      exclude,
      excludesFile,
      borrow: [objects],
    })
    return folderIndex(repository, [...excluded, ...ours], folder, git)
  } catch (error) {
    await folder.remove()
    throw error
  }
}

function folderIndex(
  repository: GitRepository,
  excluded: string[],
  folder: Awaited<ReturnType<typeof openScratchFolder>>,
  git: GitCommandOptions,
): FolderIndex {
  const only = repository.prefix === '' ? '.' : `:(top,literal)${repository.prefix}`
  const paths = [only, ...excluded.map((path) => `:(top,exclude,literal)${path}`)]
  let warnings: string[] = []
  let submodules: string[] = []
  let justChanged: IndexEntry[] = []

  return {
    git,
    warnings: () => warnings,
    async read() {
      // a killed git command leaves its lock
      await rm(join(folder.path, 'index.lock'), { force: true })
      // git would start another git in each submodule, with that one's configuration
      await updateIndex(['--force-remove'], submodules, git)
      await forgetStamps(justChanged, git)
      const began = Math.floor(Date.now() / 1000)
      const added = await addAll(paths, git)
      const entries = await listIndex(git)
      submodules = entries.filter((entry) => entry.mode === '160000').map((entry) => entry.path)
      const known = new Set(entries.map((entry) => entry.path))
      const tracked = await trackedFiles(repository, git)
      const ignored = await ignoredAmong(tracked, repository, excluded, known)
      const failure = await updateIndex(['--add', '--replace'], ignored, git)
      warnings = (added.stderr + failure).split('\n').filter((line) => !isExpected(line, excluded))
      const all = ignored.length === 0 ? entries : await listIndex(git)
      justChanged = all.filter(({ mode, changed }) => mode !== '160000' && changed >= began - 1)
    },
    close: folder.remove,
  }
}

const IGNORED = 'The following paths are ignored by one of your .gitignore files:'

/** Git names the folders that we exclude if it ignores them too, as the record usually is. */
function isExpected(line: string, excluded: readonly string[]): boolean {
  return line === '' || line === IGNORED || excluded.includes(line)
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

interface IndexEntry {
  mode: string
  id: string
  path: string
  /**
   * When its file changed, in seconds. Git compares only seconds, so it would miss a later change within the same
   * second that restores length and mtime.
   */
  changed: number
}

/** Lists the entries of an index without conflicts. */
async function listIndex(git: GitCommandOptions): Promise<IndexEntry[]> {
  const listed = await gitText(['ls-files', '--stage', '--debug', '-z'], git)
  const entries = listed.matchAll(/(\d{6}) ([0-9a-f]+) 0\t([^\0]*)\0 {2}ctime: (\d+):/g)
  return Array.from(entries, ([, mode = '', id = '', path = '', changed]) => {
    return { mode, id, path, changed: Number(changed) }
  })
}

/** Makes git read these files again, even if their stamps did not change. */
async function forgetStamps(entries: readonly IndexEntry[], git: GitCommandOptions): Promise<void> {
  if (entries.length === 0) return
  const input = entries.map(({ mode, id, path }) => `${mode} ${id} 0\t${path}\0`).join('')
  await gitText(['update-index', '-z', '--index-info'], { ...git, input })
}

/** Returns all files that the user tracks below the folder, also ignored ones, relative to the top. */
async function trackedFiles(
  { prefix }: GitRepository,
  { env: _ours, ...git }: GitCommandOptions,
): Promise<string[]> {
  const only = prefix === '' ? [] : ['--', `:(top,literal)${prefix}`]
  return nulSeparated(await gitText(['ls-files', '-z', ...only], git))
}

/**
 * Returns the existing ones of `paths` that are missing in our index (`known`), as `git add --all` leaves out ignored
 * files.
 */
async function ignoredAmong(
  paths: Iterable<string>,
  { top }: GitRepository,
  excluded: string[],
  known: Set<string>,
): Promise<string[]> {
  const files: string[] = []
  for (const path of new Set(paths)) {
    if (known.has(path) || excluded.some((folder) => isWithin(folder, path))) continue
    if (await isFileAt(join(top, path))) files.push(path)
  }
  return files
}

/** Updates the index. Returns git's message if it failed; the index is then unchanged. */
async function updateIndex(
  how: string[],
  paths: string[],
  git: GitCommandOptions,
): Promise<string> {
  if (paths.length === 0) return ''
  const input = paths.map((path) => `${path}\0`).join('')
  const { exit, stderr } = await runGit(['update-index', ...how, '-z', '--stdin'], {
    ...git,
    input,
  })
  return exit === 0 ? '' : stderr
}

/** Whether it is a file or link that git can add. A file behind a linked folder is not at that path. */
async function isFileAt(path: string): Promise<boolean> {
  try {
    const stats = await lstat(path)
    if (!stats.isFile() && !stats.isSymbolicLink()) return false
    return (await realpath(dirname(path))) === dirname(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw error
  }
}

function nulSeparated(text: string): string[] {
  return text.split('\0').filter((part) => part !== '')
}
