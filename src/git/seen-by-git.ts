import { findDotGit } from './dot-git.ts'
import { gitNotFound } from './repository.ts'
import { runGit } from './run-git.ts'

/** Why `index.md` is not written where git would see it: it would be committed, and then stop every checkout. */
export const INDEX_SEEN_BY_GIT =
  'git does not ignore it. Add the line index.md to .gitignore beside it (if git tracks the file, also run git rm --cached on it), then restart the service.'

/** Whether the `index.md` of a memory root is in a repository that tracks it or does not ignore it. */
export async function isIndexSeenByGit(memoryRoot: string): Promise<boolean> {
  if ((await findDotGit(memoryRoot, () => null)) === null) return false
  const args = ['check-ignore', '--quiet', 'index.md']
  // 0: ignored; 1: tracked or not ignored; else it is in no repository
  return (await runGit(args, { cwd: memoryRoot }).catch(gitNotFound)).exit === 1
}
