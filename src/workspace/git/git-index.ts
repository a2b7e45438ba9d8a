import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isWithin } from '../disk/path-within.ts'
import { type GitCommandOptions, gitText, runGit } from './git-command.ts'
import type { GitRepository } from './git-repository.ts'

export interface IndexEntry {
  mode: string
  path: string
}

export async function listIndex(git: GitCommandOptions): Promise<IndexEntry[]> {
  const listed = await gitText(['ls-files', '--stage', '-z'], git)
  return nulSeparated(listed).map((entry) => ({
    mode: entry.slice(0, entry.indexOf(' ')),
    path: entry.slice(entry.indexOf('\t') + 1),
  }))
}

/**
 * Files the user tracks although they are ignored: `git add --all` leaves those out. `known` is what
 * our index has already, paths are relative to the top.
 */
export async function ignoredButTracked(
  { top, prefix }: GitRepository,
  excluded: string[],
  known: Set<string>,
  { env: _ours, ...git }: GitCommandOptions,
): Promise<string[]> {
  const only = prefix === '' ? [] : ['--', `:(top,literal)${prefix}`]
  const listed = nulSeparated(await gitText(['ls-files', '-z', ...only], git))
  const files: string[] = []
  for (const path of new Set(listed)) {
    if (known.has(path) || excluded.some((folder) => isWithin(folder, path))) continue
    if (await isFileAt(join(top, path))) files.push(path)
  }
  return files
}

/** What git said if it refused: then the index is as it was. */
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

/** A file or a link that git can add: what is behind a linked folder is not at that path. */
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
