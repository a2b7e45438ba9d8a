/** Finds the paths by which git and shells run files later: those in the configuration of git, and the PATH. */

import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin } from '../files/real-path.ts'
import type { ConfigurationEntry } from '../git/configured-programs.ts'
import type { GitRepository } from '../git/repository.ts'
import { findRepositoryFolders } from '../git/repository-folders.ts'
import { readConfiguration } from '../git/run-git.ts'

/** Keys whose values are paths or commands. */
const KEYS =
  /^(alias|pager)\.|(path|file|fsmonitor|clean|smudge|process|driver|command|cmd|program|editor|pager|helper|askpass|textconv|external|filter|proxy|pack|hook|templatedir)$/
/** A word of a shell command. */
const WORDS = /"[^"]*"|'[^']*'|(?:\\.|[^\s"'\\;&|()<>])+/g

/**
 * Returns the paths in the working folder that git's configuration names, such as hooks, filters and other
 * configuration. Folders end with a slash. Null if git cannot read the configuration. `repository` is that of the folder.
 */
export async function findConfiguredPaths(
  workdir: string,
  repository: GitRepository | { reason: string },
): Promise<string[] | null> {
  const found = await findRepositoryFolders(workdir)
  if (found === null) return []
  const { top, gitDir, common } = found
  // naming the git folder skips git's check of its owner; this command starts no program
  const asked = { cwd: workdir, env: { GIT_DIR: gitDir } }
  const read =
    'reason' in repository
      ? await readConfiguration(asked).catch(ifNoGit)
      : repository.configuration
  if (read === null) return null
  const paths = read.filter(({ key }) => KEYS.test(key)).flatMap(parsePaths)
  const whole = paths.flatMap((path) =>
    [top, gitDir, common].map((from) => resolve(from, path) + (path.endsWith('/') ? '/' : '')),
  )
  return [...new Set(whole)].filter((path) => resolve(path) !== workdir && isWithin(workdir, path))
}

/** The paths in a value: all of it, and its words. */
function parsePaths({ scope, key, value }: ConfigurationEntry): string[] {
  // those of `runGit` itself
  if (scope === 'command' || (key.startsWith('alias.') && !value.startsWith('!'))) return []
  const words = value.replace(/^!/, '').match(WORDS) ?? []
  const unquoted = words.map((word) => word.replace(/^["']|["']$|\\(?=.)/g, ''))
  const paths = [value, ...unquoted].map((path) => path.replace(/^~(?=\/)/, homedir()))
  // only the folder of hooks counts as a whole
  return paths.map((path) => path.replace(/\/?$/, key === 'core.hookspath' ? '/' : ''))
}

function ifNoGit(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}

/** Returns the folders on a PATH, as it is used in the working folder. */
export function foldersOnPath(path: string, workdir: string): string[] {
  const folders = path.split(':').map((each) => (isAbsolute(each) ? each : resolve(workdir, each)))
  return [...new Set(folders)]
}
