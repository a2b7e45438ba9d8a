/** Creates scratch repositories that borrow the user's objects, without the user's configuration and hooks. */

import { copyFile, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import type { GitCommandOptions } from './run-git.ts'

export type GitLimits = Pick<GitCommandOptions, 'timeoutMs' | 'signal'>

export function gitLimits({ timeoutMs, signal }: GitLimits): GitLimits {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
  }
}

/** Attributes for exact bytes: no line-end conversion, filter, keyword, encoding or diff driver. */
const EXACT = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff\n'

export interface ScratchOptions extends GitLimits {
  /** `sha1` if not given. */
  objectFormat?: string
  /** A file of exclude rules to copy; it need not exist. */
  exclude?: string
  /** The user's `core.excludesFile`. */
  excludesFile?: string | null
  /** Object folders to read from. */
  borrow?: readonly string[]
}

/**
 * Creates a scratch repository in an empty folder, over the working tree `top`. Returns the options for running git
 * there. It has the given exclude rules, and nothing of the user's configuration.
 */
export async function createScratchRepository(
  gitDir: string,
  top: string,
  options: ScratchOptions,
): Promise<GitCommandOptions> {
  const { objectFormat = 'sha1', exclude, excludesFile, borrow = [] } = options
  await initRepository(gitDir, objectFormat)
  if (exclude !== undefined && (await isRegular(exclude)))
    await copyFile(exclude, join(gitDir, 'info', 'exclude'))
  await borrowObjects(gitDir, borrow)
  return isolatedGit(
    gitDir,
    top,
    options,
    excludesFile ? { 'core.excludesFile': excludesFile } : {},
  )
}

/** Creates a scratch folder with an unpredictable name in a folder, which is made if it is missing. */
export async function openScratchFolder(folder: string) {
  await makeFolder(folder, 0o700)
  const path = await mkdtemp(join(await realpath(folder), 'tree-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/**
 * Writes what `git init` writes, without starting git: an empty repository on the branch `main`, whose attributes keep
 * every byte.
 */
export async function initRepository(
  gitDir: string,
  objectFormat: string,
  config = '',
): Promise<void> {
  await mkdir(gitDir, { recursive: true, mode: 0o700 })
  for (const folder of ['objects', 'refs', 'info']) await mkdir(join(gitDir, folder))
  const extensions =
    objectFormat === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${objectFormat}\n`
  const version = objectFormat === 'sha1' ? 0 : 1
  await writeFile(
    join(gitDir, 'config'),
    `[core]\n\trepositoryformatversion = ${version}\n${config}${extensions}`,
  )
  await writeFile(join(gitDir, 'info', 'attributes'), EXACT)
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n')
}

/** Lets a repository read the objects of others, which stay in place. */
export async function borrowObjects(gitDir: string, objects: readonly string[]): Promise<void> {
  if (objects.length === 0) return
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
): GitCommandOptions & { env: Record<string, string> } {
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
