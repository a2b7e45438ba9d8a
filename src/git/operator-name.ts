import { userInfo } from 'node:os'
import { hasCode } from '../files/errno.ts'
import { runGit } from './run-git.ts'

/**
 * Returns a function that gives the operator's name: git's `user.name` in `folder`, else the user of the operating
 * system. Git is called once.
 */
export function createOperatorName(
  folder: string,
  log: (line: string) => void,
): () => Promise<string> {
  let name: Promise<string> | null = null
  return () => {
    name ??= gitName(folder, log).then((named) => named || userName() || 'unknown')
    return name
  }
}

async function gitName(folder: string, log: (line: string) => void): Promise<string> {
  try {
    const { exit, stdout } = await runGit(['config', 'user.name'], {
      cwd: folder,
      maxBytes: 10_000,
      timeoutMs: 5000,
    })
    return exit === 0 ? stdout.toString().trim() : ''
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) log(`git could not be asked for user.name: ${String(error)}`)
    return ''
  }
}

/** Returns an empty string if the user has no entry, as in some containers. */
function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ERR_SYSTEM_ERROR')) return ''
    throw error
  }
}
