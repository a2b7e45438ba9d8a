/** Finds the repository of a folder that git uses: its top folder, objects, exclude files and configuration. */

import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { isWithin, realPathOf } from '../files/real-path.ts'
import type { ConfigurationEntry } from './configured-programs.ts'
import { type FoundRepository, findRepositoryFolders, isWhole } from './repository-folders.ts'
import { type GitCommandOptions, readConfiguration, runGit } from './run-git.ts'

export interface GitRepository {
  /** The top folder of its working tree, without symbolic links. */
  top: string
  /** The folder asked for, relative to `top`; empty if it is `top`. */
  prefix: string
  /** Where its index is. */
  gitDir: string
  /** Its object folder. */
  objects: string
  /** `info/exclude`, which need not exist. */
  exclude: string
  /** The user's `core.excludesFile`, if one is configured. */
  excludesFile: string | null
  objectFormat: string
  /** All of git's configuration there. */
  configuration: readonly ConfigurationEntry[]
}

/** Returns the repository of a folder, or git's message why there is none. */
export async function findRepository(
  workdir: string,
  options: Pick<GitCommandOptions, 'timeoutMs' | 'signal'>,
): Promise<GitRepository | { reason: string }> {
  const cwd = await realpath(workdir)
  const found = await findRepositoryFolders(cwd)
  if (found && !(await isWhole(found))) return { reason: `git cannot use .git here: ${DAMAGED}` }
  const configuration =
    found && (await readConfiguration({ ...options, cwd }, found.top).catch(ifNoGit))
  const ask = (...args: string[]) => runGit(args, { ...options, cwd }).catch(gitNotFound)
  if (found === null || configuration === null || !(await isUsed(found, cwd, configuration))) {
    const { exit, stderr } = await ask('rev-parse', '--show-toplevel')
    return { reason: exit === 0 ? ELSEWHERE : firstLine(stderr) }
  }
  const { top, gitDir, common } = found
  // a repository cannot ignore its own top
  if (top !== cwd && (await ask('check-ignore', '--quiet', cwd)).exit === 0) {
    return { reason: 'the folder is ignored by the git repository around it' }
  }
  const excludesFile = lastValue(configuration, 'core.excludesfile')
  return {
    top,
    gitDir,
    objectFormat: lastValue(configuration, 'extensions.objectformat') ?? 'sha1',
    prefix: relative(top, cwd),
    objects: join(common, 'objects'),
    exclude: join(common, 'info/exclude'),
    excludesFile: excludesFile === undefined ? null : resolve(top, homePath(excludesFile)),
    configuration,
  }
}

/** Ends the reason for one that git does not take for a repository. */
export const DAMAGED =
  'its HEAD, refs or objects are missing, damaged or not readable. Put them back'

const ELSEWHERE = 'git has the files of its repository in another folder (core.worktree)'

/**
 * Whether git uses this repository for the folder: git reads the configuration of no other one, and not that of one which
 * belongs to another user.
 */
async function isUsed(
  { top, gitDir, common }: FoundRepository,
  cwd: string,
  configuration: readonly ConfigurationEntry[],
): Promise<boolean> {
  const own = configuration.find(({ scope }) => scope === 'local')
  if (own === undefined || isWithin(await realPathOf(gitDir), cwd)) return false
  if ((await realPathOf(dirname(own.file))) !== (await realPathOf(common))) return false
  const tree = lastValue(configuration, 'core.worktree')
  if (tree !== undefined) return (await realPathOf(resolve(gitDir, tree))) === top
  return lastValue(configuration, 'core.bare') !== 'true'
}

function lastValue(configuration: readonly ConfigurationEntry[], wanted: string) {
  return configuration.findLast(({ key }) => key === wanted)?.value
}

function homePath(path: string): string {
  return path.replace(/^~(?=\/)/, process.env.HOME || homedir())
}

function ifNoGit(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}

/** The result of a query if git is not installed. */
export function gitNotFound(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
  return { exit: -1, value: '', stderr: error.message }
}

function firstLine(stderr: string): string {
  return (stderr.split('\n')[0] ?? '').replace(/^fatal: /, '')
}
