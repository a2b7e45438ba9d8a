import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gitText, runGit } from '../workspace/git/git-command.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import type { FolderIndex } from './git-folder-index.ts'
import { listIndex } from './git-index.ts'
import { borrowObjects, EXACT, type GitLimits, initRepository, isolatedGit } from './git-scratch.ts'
import { walkedPath } from './plan-walk.ts'

const WHO = { NAME: 'Casefile', EMAIL: 'casefile@localhost' }
const IDENTITY = {
  ...{ GIT_AUTHOR_NAME: WHO.NAME, GIT_AUTHOR_EMAIL: WHO.EMAIL },
  ...{ GIT_COMMITTER_NAME: WHO.NAME, GIT_COMMITTER_EMAIL: WHO.EMAIL },
}

/** What the user has configured for all repositories must start nothing here, nor be left running. */
const QUIET_CONFIG = `[core]
	fsmonitor = false
	untrackedCache = false
	hooksPath = /dev/null
[gc]
	auto = 0
[maintenance]
	auto = false
`

/**
 * Checks what an index of ours has of the working folder out to a new folder, byte for byte, as the one
 * commit of a repository that borrows the objects. Git's attributes have no say in it, then and
 * later, so its `git status` is clean whatever is configured. Gives the ids of the files by path.
 */
export async function makePlanCopy(
  copy: string,
  index: FolderIndex,
  { prefix, objectFormat }: Pick<GitRepository, 'prefix' | 'objectFormat'>,
  limits: GitLimits,
): Promise<Map<string, string>> {
  await mkdir(copy, { mode: 0o700 })
  await initRepository(copy, ['--initial-branch=main'], objectFormat, limits)
  const gitDir = join(copy, '.git')
  await borrowObjects(gitDir, [index.objects])
  await appendFile(join(gitDir, 'config'), QUIET_CONFIG)
  await mkdir(join(gitDir, 'info'))
  await writeFile(join(gitDir, 'info', 'attributes'), EXACT)

  const isolated = isolatedGit(gitDir, copy, limits, {})
  const git = { ...isolated, env: { ...isolated.env, ...IDENTITY } }
  const of = prefix === '' ? [] : [`--prefix=${prefix}/`]
  const written = await runGit(['write-tree', ...of], index.git)
  // a subfolder without files is in no tree
  const tree = written.exit === 0 ? written.stdout.toString() : await gitText(['mktree'], git)
  const message = 'The working folder as it was when the planning began'
  const commit = await gitText(['commit-tree', '-m', message, tree.trim()], git)
  await gitText(['update-ref', 'HEAD', commit.trim()], git)
  await gitText(['read-tree', 'HEAD'], git)
  await gitText(['checkout-index', '--all', '--index', '--quiet'], git)
  return new Map((await listIndex(git)).map(({ path, id }) => [walkedPath(path), id]))
}
