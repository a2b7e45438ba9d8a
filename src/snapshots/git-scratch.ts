/** Creates scratch repositories that borrow the user's objects, without the user's configuration and hooks. */

import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type GitCommandOptions, gitText } from '../workspace/git/git-command.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'

export type GitLimits = Pick<GitCommandOptions, 'timeoutMs' | 'signal'>

export function gitLimits({ timeoutMs, signal }: GitLimits): GitLimits {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
  }
}

/** Attributes for exact bytes: no line-end conversion, filter, keyword, encoding or diff driver. */
export const EXACT = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff\n'

/**
 * Creates a scratch repository in an empty folder, over the user's working tree, with access to the user's objects
 * and those in `borrow`. Returns the options for running git there. It has the user's current exclude rules, and
 * nothing else of the user's configuration.
 */
export async function createScratchRepository(
  repository: GitRepository,
  folder: string,
  limits: GitLimits,
  borrowed: readonly string[] = [],
): Promise<GitCommandOptions> {
  const { top, objects, exclude, excludesFile, objectFormat } = repository
  const config = excludesFile === null ? {} : { 'core.excludesFile': excludesFile }
  const git = isolatedGit(folder, top, limits, config)
  await initRepository(folder, ['--bare'], objectFormat, limits)
  await mkdir(join(folder, 'info'))
  await writeFile(join(folder, 'info', 'attributes'), EXACT)
  if (await isRegular(exclude)) await copyFile(exclude, join(folder, 'info', 'exclude'))
  await borrowObjects(folder, [...(objects === null ? [] : [objects]), ...borrowed])
  return git
}

/** Like `git init`, without the user's configuration and templates. */
export async function initRepository(
  folder: string,
  how: readonly string[],
  objectFormat: string,
  limits: GitLimits,
): Promise<void> {
  const init = ['init', '--quiet', '--template=', `--object-format=${objectFormat}`, ...how]
  await gitText([...init, folder], { ...limits, cwd: dirname(folder), env: NO_CONFIG })
}

/** Lets a repository read the objects of others, which stay in place. */
export async function borrowObjects(gitDir: string, objects: readonly string[]): Promise<void> {
  const info = join(gitDir, 'objects', 'info')
  await mkdir(info, { recursive: true })
  await writeFile(join(info, 'alternates'), objects.map((path) => `${alternate(path)}\n`).join(''))
}

/** Formats a path for a line of the alternates file; git unquotes lines that begin with a quotation mark. */
function alternate(path: string): string {
  return path.includes('\n') ? JSON.stringify(path) : path
}

/** Follows links, as git does; a FIFO would block a copy forever. */
async function isRegular(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

const NO_CONFIG = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** Returns the options for running git in a scratch repository, with no configuration but its own and `more`. */
export function isolatedGit(
  gitDir: string,
  top: string,
  limits: GitLimits,
  more: Record<string, string>,
): GitCommandOptions {
  const config: Record<string, string> = {
    'core.bare': 'false',
    'core.quotePath': 'false',
    // allows names that are invalid on Windows or macOS: the folder already has them
    'core.protectNTFS': 'false',
    'core.protectHFS': 'false',
    // nothing here must survive a crash
    'core.fsync': 'none',
    // no compression, as deflating a large file takes five times as long as storing it
    'core.compression': '0',
    'advice.addIgnoredFile': 'false',
    ...more,
  }
  const env: Record<string, string> = {
    ...NO_CONFIG,
    GIT_DIR: gitDir,
    GIT_WORK_TREE: top,
    GIT_CONFIG_COUNT: String(Object.keys(config).length),
  }
  Object.entries(config).forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return { cwd: top, env, ...gitLimits(limits) }
}
