import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { runGit } from '../workspace/git/git-command.ts'

/**
 * Where the repository of a folder keeps its working tree and its own files, also of a linked worktree,
 * as real paths; empty where the folder is in none, or there is no git.
 */
export async function repositoryFolders(folder: string, signal?: AbortSignal): Promise<string[]> {
  const options = { cwd: folder, ...(signal ? { signal } : {}) }
  const found = await runGit(['rev-parse', '--git-common-dir', '--show-toplevel'], options).catch(
    (error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null
      throw error
    },
  )
  const lines = found?.exit === 0 ? found.stdout.toString().split('\n').filter(Boolean) : []
  return Promise.all(lines.map((path) => realpath(resolve(folder, path))))
}
