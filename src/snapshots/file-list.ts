/** Lists the files of a working folder by git's rules, without reading them. */

import { stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin } from '../files/real-path.ts'
import { type GitCommandOptions, runGit } from '../git/command.ts'
import { excludedPaths } from '../git/excluded.ts'
import {
  createScratchRepository,
  type GitLimits,
  gitLimits,
  missingGit,
  openScratchFolder,
  userGit,
} from '../git/scratch.ts'
import type { FoundRepository } from './repository-state.ts'

/** A folder to list: in a repository, or its own top without one. */
export interface ListedFolder {
  top: string
  /** The folder relative to `top`; empty if it is `top`. */
  prefix: string
  repository: FoundRepository | null
}

export interface ListOptions extends GitLimits {
  /** The real path of an existing scratch folder. */
  folder: string
  /** Absolute paths that are left out; they need not exist. */
  exclude: string[]
}

export interface FileList {
  /** From the folder, in the form of plan-walk.ts: tracked files, which need not exist, and untracked ones. */
  paths: string[]
  /** Nested repositories, of which no file is listed. */
  nested: string[]
  /** The entries of the user's index below the folder, as `repositoryState` compares them. */
  entries: string[]
  /** `sha1` if the folder has no tracked file. */
  objectFormat: string
  /** Git's messages about folders that it could not read. */
  warnings: string[]
}

/**
 * Asks git for the tracked and untracked files of a folder, without the ignored ones. Whether git trusts the repository
 * does not matter. Where git cannot use it, the folder is listed by its own `.gitignore` files.
 */
export async function listFiles(folder: ListedFolder, options: ListOptions): Promise<FileList> {
  const listed = folder.repository && (await listIn(folder.repository, folder, options, {}))
  return listed ?? listPlain(folder, options)
}

/** Lists the files as `listFiles` does, as if no file was tracked. */
export async function listUntracked(folder: ListedFolder, options: ListOptions): Promise<FileList> {
  const { repository } = folder
  // git would wait for a FIFO
  const canRead = repository && (await isRegularOrMissing(join(repository.common, 'info/exclude')))
  const noIndex = { GIT_INDEX_FILE: join(options.folder, 'no-index') }
  const listed = canRead ? await listIn(repository, folder, options, noIndex) : null
  return listed ?? listPlain(folder, options)
}

/** Whether the repository of a folder ignores the folder itself. */
export async function isIgnored(
  { gitDir, top }: FoundRepository,
  workdir: string,
  limits: GitLimits,
): Promise<boolean> {
  if (top === workdir) return false
  const git = userGit(gitDir, top, limits)
  return (await runGit(['check-ignore', '--quiet', workdir], git).catch(missingGit)).exit === 0
}

/** Null if git cannot use the repository. */
async function listIn(
  { gitDir }: FoundRepository,
  folder: ListedFolder,
  options: ListOptions,
  env: Record<string, string>,
): Promise<FileList | null> {
  const git = userGit(gitDir, folder.top, options)
  return list({ ...git, env: { ...git.env, ...env } }, folder, options)
}

async function listPlain({ top, prefix }: ListedFolder, options: ListOptions): Promise<FileList> {
  const workdir = join(top, prefix)
  const scratch = await openScratchFolder(options.folder)
  try {
    const exclude = join(workdir, '.git', 'info', 'exclude')
    const git = await createScratchRepository(scratch.path, workdir, {
      ...gitLimits(options),
      exclude,
    })
    const listed = await list(git, { top: workdir, prefix: '' }, options)
    if (listed === null) throw new Error(`git cannot list the files of ${workdir}`)
    return listed
  } finally {
    await scratch.remove()
  }
}

const LIST = ['ls-files', '--stage', '-v', '-z', '--cached', '--others', '--exclude-standard']

async function list(
  git: GitCommandOptions,
  place: { top: string; prefix: string },
  { folder, exclude }: ListOptions,
): Promise<FileList | null> {
  const workdir = join(place.top, place.prefix)
  const excluded = await excludedPaths({ top: workdir, prefix: '' }, exclude)
  if (excluded === null) throw new Error('the folder is within an excluded one')
  const scratch = isWithin(workdir, folder) ? [relative(workdir, folder)] : []
  const without = [...excluded, ...scratch].map((path) => `:(exclude,literal)${path}`)
  const { exit, stdout, stderr } = await runGit([...LIST, '--', '.', ...without], {
    ...git,
    cwd: workdir,
  }).catch(missingGit)
  if (exit !== 0) return null
  return parseList(stdout.toString('latin1'), stderr)
}

/** A line is `? PATH` for an untracked file, or the index entry `TAG MODE ID STAGE<tab>PATH`. */
function parseList(output: string, stderr: string): FileList {
  const paths = new Set<string>()
  const nested = new Set<string>()
  const entries: string[] = []
  for (const line of output.split('\0')) {
    if (line.startsWith('? ')) {
      const path = line.slice(2)
      if (path.endsWith('/')) nested.add(path.slice(0, -1))
      else paths.add(path)
    } else if (line !== '') {
      entries.push(line)
      const path = line.slice(line.indexOf('\t') + 1)
      if (line.startsWith('160000 ', 2)) nested.add(path)
      else paths.add(path)
    }
  }
  const [, id = ''] = /^. \d+ ([0-9a-f]+)/.exec(entries[0] ?? '') ?? []
  return {
    paths: [...paths],
    nested: [...nested],
    entries,
    objectFormat: id.length === 64 ? 'sha256' : 'sha1',
    warnings: stderr.split('\n').filter((line) => line !== ''),
  }
}

async function isRegularOrMissing(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return true
    throw error
  }
}
