import { join, resolve } from 'node:path'
import { hasCode } from '../../files/errno.ts'
import { isWithin, nearestExisting } from '../../files/real-path.ts'
import { runGit } from '../../git/run-git.ts'

/** Where an agent works. */
export interface WorkingCopy {
  /** The top folder of its git working tree, else the folder itself, without symbolic links. */
  folder: string
  branch: string | null
}

/**
 * The place of an agent that works in `cwd`; null if that has nothing to do with the workspace: it lies neither inside of
 * `root` nor in a working tree of the same repository.
 */
export async function workingCopyOf(cwd: string, root: string): Promise<WorkingCopy | null> {
  const reached = await reachable(resolve(root, cwd))
  if (reached === null) return null
  const { real, rest } = reached
  const found = await workingTree(real)
  // the folder may not exist yet, or any more
  if (isWithin(root, join(real, rest))) {
    // a repository around the workspace is not the agent's place
    const folder = found && isWithin(root, found.top) ? found.top : root
    return { folder, branch: found?.branch ?? null }
  }
  if (!found) return null
  const own = await workingTree(root)
  return own?.repository === found.repository ? { folder: found.top, branch: found.branch } : null
}

/** The ids of the cases that a branch's name refers to: with a case's whole id, or its first eight characters. */
export function casesOfBranch(branch: string, ids: Iterable<string>): string[] {
  const words = branch
    .toLowerCase()
    .match(
      /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{8}(?![0-9a-f])/g,
    )
  if (!words) return []
  return [...ids].filter((id) => words.some((word) => id.startsWith(word)))
}

async function reachable(path: string) {
  try {
    return await nearestExisting(path)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'))
      return null
    throw error
  }
}

interface WorkingTree {
  top: string
  /** The folder that all working trees of the repository share. */
  repository: string
  branch: string | null
}

async function workingTree(cwd: string): Promise<WorkingTree | null> {
  const options = { cwd, timeoutMs: 5000 }
  try {
    const found = await runGit(
      ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'],
      options,
    )
    const [top, repository] = found.stdout.toString().split('\n')
    if (found.exit !== 0 || !top || !repository) return null
    const head = await runGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], options)
    const branch = head.exit === 0 ? head.stdout.toString().trim() : null
    return { top, repository, branch }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null // no git
    throw error
  }
}
