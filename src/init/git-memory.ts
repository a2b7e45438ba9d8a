import { relative, resolve } from 'node:path'
import { makeFolder } from '../files/durable-write.ts'
import { entriesIn, isFolder } from '../files/folder-names.ts'
import { AppError } from '../model/app-error.ts'
import { gitText, runGit } from '../workspace/git/git-command.ts'
import { addToExclude, excludePattern } from '../workspace/git/git-ignoring.ts'
import type { GitRepository } from '../workspace/git/git-repository.ts'
import { MEMORY_ROOT_FILES } from '../workspace/layout.ts'

/**
 * How git keeps the memory root: in the repository of the code, in one of its own, or as a worktree
 * of a branch that shares no history with the code.
 */
export const MEMORY_KINDS = ['with-code', 'own-repo', 'orphan-worktree'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

export const MEMORY_BRANCH = 'casefile'

/** How it is kept now; null while that is open: there is none yet, or nothing of it is tracked. */
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

/** Makes the memory root a repository. What lies in it already stays, untracked. */
export async function makeOwnRepository(memoryRoot: string): Promise<void> {
  await makeFolder(memoryRoot)
  await gitText(['init', '--quiet'], { cwd: memoryRoot })
}

/**
 * Checks the branch of the cases out as the memory root: the one that is there, that of a remote, or
 * else a new one whose first commit holds the git files alone. Gives its name; refuses where something
 * is in the way.
 */
export async function makeWorktree(memoryRoot: string, code: GitRepository): Promise<string> {
  if ((await entriesIn(memoryRoot)).length > 0) {
    throw new AppError(
      'already_exists',
      `${memoryRoot} holds files already, and git checks a branch out into an empty folder only. Move them away, run this again, and move them back in.`,
    )
  }
  const git = { cwd: code.top, env: await identity(code.top) }
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
  throw new AppError('already_exists', `git did not make the worktree: ${added.stderr.trim()}`)
}

/** The user's own, where git knows one. */
async function identity(cwd: string): Promise<Record<string, string>> {
  const given = Object.entries(process.env).filter(([name]) =>
    /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/.test(name),
  ) as [string, string][]
  const env = Object.fromEntries(given)
  const known = await runGit(['var', 'GIT_COMMITTER_IDENT'], { cwd, env })
  const author = await runGit(['var', 'GIT_AUTHOR_IDENT'], { cwd, env })
  if (known.exit === 0 && author.exit === 0) return env
  const [name, email] = ['Casefile', 'casefile@localhost']
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,

    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
}

/** Keeps the memory root out of the code's own commits, in this clone; says whether it had to. */
export async function excludeFromCode(memoryRoot: string, code: GitRepository): Promise<boolean> {
  const ignored = await runGit(['check-ignore', '--quiet', `${memoryRoot}/`], { cwd: code.top })
  if (ignored.exit === 0) return false
  await addToExclude(code.exclude, [`${excludePattern(relative(code.top, memoryRoot))}/`])
  return true
}
