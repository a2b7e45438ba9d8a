/** Reads and updates the index of git-folder-index.ts with git commands. */

import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isWithin } from '../files/real-path.ts'
import { type GitCommandOptions, gitText, runGit } from '../workspace/git/git-command.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'

export interface IndexEntry {
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
export async function listIndex(git: GitCommandOptions): Promise<IndexEntry[]> {
  const listed = await gitText(['ls-files', '--stage', '--debug', '-z'], git)
  const entries = listed.matchAll(/(\d{6}) ([0-9a-f]+) 0\t([^\0]*)\0 {2}ctime: (\d+):/g)
  return Array.from(entries, ([, mode = '', id = '', path = '', changed]) => {
    return { mode, id, path, changed: Number(changed) }
  })
}

/** Makes git read these files again, even if their stamps did not change. */
export async function forgetStamps(
  entries: readonly IndexEntry[],
  git: GitCommandOptions,
): Promise<void> {
  if (entries.length === 0) return
  const input = entries.map(({ mode, id, path }) => `${mode} ${id} 0\t${path}\0`).join('')
  await gitText(['update-index', '-z', '--index-info'], { ...git, input })
}

/** Returns all files that the user tracks below the folder, also ignored ones, relative to the top. */
export async function trackedFiles(
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
export async function findIgnored(
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
export async function updateIndex(
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
