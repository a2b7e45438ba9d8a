import { relative, resolve } from 'node:path'
import { makeFolder } from '../files/durable-write.ts'
import { entriesIn, isFolder } from '../files/folder-names.ts'
import { AppError } from '../model/app-error.ts'
import { gitText, runGit } from '../workspace/git/git-command.ts'
import { gitIdentity } from '../workspace/git/git-identity.ts'
import { addToExclude, excludePattern } from '../workspace/git/git-ignoring.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import type { MemoryKind } from '../workspace/git/memory-kind.ts'
import { MEMORY_ROOT_FILES } from '../workspace/layout.ts'

export const MEMORY_BRANCH = 'casefile'

/** How it is stored now; null if that is undecided: it does not exist, or nothing in it is tracked. */
export async function presentKind(
  memoryRoot: string,
  code: GitRepository,
): Promise<MemoryKind | null> {
  if (!(await isFolder(memoryRoot))) return null
  const git = { cwd: memoryRoot }
  const own = await runGit(['rev-parse', '--show-cdup', '--git-common-dir'], git)
  const [up = '', common = ''] = own.stdout.toString().split('\n')
  if (own.exit === 0 && up === '') {
    const codes = await gitText(['rev-parse', '--git-common-dir'], { cwd: code.top })
    const isWorktree = resolve(memoryRoot, common) === resolve(code.top, codes.trimEnd())
    return isWorktree ? 'orphan-worktree' : 'own-repo'
  }
  const tracked = await gitText(['ls-files', '-z', '--', `:(literal)${memoryRoot}`], {
    cwd: code.top,
  })
  return tracked === '' ? null : 'with-code'
}

/** Makes the memory root a repository. Existing files stay, untracked. */
export async function makeOwnRepository(memoryRoot: string): Promise<void> {
  await makeFolder(memoryRoot)
  await gitText(['init', '--quiet'], { cwd: memoryRoot })
}

/**
 * Checks out the branch for cases as the memory root: the local one, else a remote's, else a new one whose first
 * commit has only the git files. Returns its name; throws if something is in the way.
 */
export async function makeWorktree(memoryRoot: string, code: GitRepository): Promise<string> {
  if ((await entriesIn(memoryRoot)).length > 0) {
    throw new AppError(
      'already_exists',
      `${memoryRoot} already has files, and git checks out a branch only into an empty folder. Move them away, run this again, then move them back.`,
    )
  }
  const git = { cwd: code.top, env: await gitIdentity(code.top) }
  const refs = ['refs/heads/', 'refs/remotes/*/'].map((place) => place + MEMORY_BRANCH)
  if ((await gitText(['for-each-ref', ...refs], git)) === '') {
    const entries: string[] = []
    for (const [name, input] of Object.entries(MEMORY_ROOT_FILES)) {
      const blob = await gitText(['hash-object', '-w', '--stdin'], { ...git, input })
      entries.push(`100644 blob ${blob.trim()}\t${name}\n`)
    }
    const tree = await gitText(['mktree'], { ...git, input: entries.join('') })
    const first = ['commit-tree', '-m', 'The cases begin', tree.trim()]
    await gitText(['branch', MEMORY_BRANCH, (await gitText(first, git)).trim()], git)
  }
  const added = await runGit(['worktree', 'add', '--quiet', memoryRoot, MEMORY_BRANCH], git)
  if (added.exit === 0) return MEMORY_BRANCH
  throw new AppError('already_exists', `git could not create the worktree: ${added.stderr.trim()}`)
}

export async function isExcluded(memoryRoot: string, { top }: GitRepository): Promise<boolean> {
  const ignored = await runGit(['check-ignore', '--quiet', `${memoryRoot}/`], { cwd: top })
  return ignored.exit === 0
}

/** Excludes the memory root from the code's commits in this clone. Returns whether that was necessary. */
export async function excludeFromCode(memoryRoot: string, code: GitRepository): Promise<boolean> {
  if (await isExcluded(memoryRoot, code)) return false
  await addToExclude(code.exclude, [`${excludePattern(relative(code.top, memoryRoot))}/`])
  return true
}
