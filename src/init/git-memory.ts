import { join, relative, resolve } from 'node:path'
import { makeFolder } from '../files/durable-write.ts'
import { entriesIn, isFolder } from '../files/folder-names.ts'
import { stampOf } from '../files/safe-read.ts'
import { excludePattern, planExclude, writeExclude } from '../git/exclude-file.ts'
import { gitIdentity } from '../git/identity.ts'
import type { MemoryKind } from '../git/memory-kind.ts'
import type { GitRepository } from '../git/repository.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { MEMORY_ROOT_FILES } from '../workspace/layout.ts'
import type { Step } from './steps.ts'

export const MEMORY_BRANCH = 'casefile'

export interface MemoryFolders {
  root: string
  memoryRoot: string
  /** The repository of the code. */
  code: GitRepository
}

/** How it is stored now; null if that is undecided: it does not exist, or nothing in it is tracked. */
export async function presentKind({ memoryRoot, code }: MemoryFolders): Promise<MemoryKind | null> {
  if (!(await isFolder(memoryRoot))) return null
  const git = { cwd: memoryRoot }
  const own = await runGit(['rev-parse', '--show-cdup', '--git-common-dir'], git)
  const [up = '', common = ''] = own.stdout.toString().split('\n')
  if (own.exit === 0 && up === '') {
    const isWorktree = resolve(memoryRoot, common) === (await commonFolder(code))
    return isWorktree ? 'orphan-worktree' : 'own-repo'
  }
  const tracked = await gitText(['ls-files', '-z', '--', `:(literal)${memoryRoot}`], {
    cwd: code.top,
  })
  return tracked === '' ? null : 'with-code'
}

/** The steps after which git stores the cases in this way; none if it does. Throws if that is impossible. */
export async function memorySteps(place: MemoryFolders, kind: MemoryKind): Promise<Step[]> {
  const present = await presentKind(place)
  if (present !== null && present !== kind) {
    throw new AppError(
      'already_exists',
      `Git already stores the cases as ${present}. Changing that to ${kind} takes a few steps by hand: see the page Git of the console’s Help.`,
    )
  }
  if (kind === 'with-code') return []
  const exclusion = await exclusionStep(place)
  const steps = exclusion === null ? [] : [exclusion]
  if (present === kind) return steps
  const dotGit = join(place.memoryRoot, '.git')
  if ((await stampOf(dotGit)) !== null) {
    throw inTheWay(`${dotGit} is there, but git finds no repository in it. Move it away.`)
  }
  return [
    ...steps,
    kind === 'own-repo' ? repositoryStep(place, dotGit) : await worktreeStep(place, dotGit),
  ]
}

/** Excludes the memory root from the code's commits in this clone; null if that is so. */
async function exclusionStep({ root, memoryRoot, code }: MemoryFolders): Promise<Step | null> {
  const { top, exclude } = code
  const ignored = await runGit(['check-ignore', '--quiet', `${memoryRoot}/`], { cwd: top })
  if (ignored.exit === 0) return null
  const name = relative(root, memoryRoot)
  const edit = await planExclude(exclude, [`${excludePattern(relative(top, memoryRoot))}/`])
  return {
    planned: [`Exclude ${name}/ from the code's repository in this clone (${exclude})`],
    files: [{ path: exclude, bytes: edit.after }],
    async write() {
      await writeExclude(exclude, edit)
      return [
        `The code's repository now ignores ${name}/ in this clone (${exclude})`,
        '  For every clone, add it to .gitignore',
      ]
    },
  }
}

/** Makes the memory root a repository. Existing files stay, untracked. */
function repositoryStep({ root, memoryRoot }: MemoryFolders, dotGit: string): Step {
  const name = relative(root, memoryRoot)
  return {
    planned: [`Make ${name}/ a separate git repository`],
    files: [{ path: dotGit }],
    async write() {
      await makeFolder(memoryRoot)
      await mustRun(['init', '--quiet'], { cwd: memoryRoot }, `make ${memoryRoot} a repository`)
      return [`Made ${name}/ a separate git repository`]
    },
  }
}

/**
 * Checks out the branch for cases as the memory root: the local one, else a remote's, else a new one whose first
 * commit has only the git files. Throws if something is in the way.
 */
async function worktreeStep(
  { root, memoryRoot, code }: MemoryFolders,
  dotGit: string,
): Promise<Step> {
  if ((await entriesIn(memoryRoot)).length > 0) {
    throw inTheWay(
      `${memoryRoot} already has files, and git checks out a branch only into an empty folder. Move them away, try again, then move them back.`,
    )
  }
  const git = { cwd: code.top }
  await requireFree(memoryRoot, git)
  const isNew = await isBranchNew(git)
  const common = await commonFolder(code)
  const name = relative(root, memoryRoot)
  const names = isNew ? Object.keys(MEMORY_ROOT_FILES) : []
  return {
    planned: [`Make ${name}/ a worktree of the branch ${MEMORY_BRANCH}`],
    files: [{ path: dotGit }, ...names.map((each) => ({ path: join(memoryRoot, each) }))],
    places: [join(common, 'worktrees', 'new'), join(common, 'refs', 'heads', MEMORY_BRANCH)],
    async write() {
      if (isNew) await makeBranch({ ...git, env: await gitIdentity(code.top) })
      const add = ['worktree', 'add', '--quiet', memoryRoot, MEMORY_BRANCH]
      await mustRun(add, git, `make ${memoryRoot} a worktree of the branch ${MEMORY_BRANCH}`)
      return [`Made ${name}/ a worktree of the branch ${MEMORY_BRANCH}`]
    },
  }
}

/** Throws if another worktree has the branch, or git still lists one that was in the place of this one. */
async function requireFree(memoryRoot: string, git: GitCommandOptions): Promise<void> {
  const listed = await gitText(['worktree', 'list', '--porcelain'], git)
  for (const block of listed.split('\n\n')) {
    const path = /^worktree (.*)$/m.exec(block)?.[1]
    const hasBranch = new RegExp(`^branch refs/heads/${MEMORY_BRANCH}$`, 'm').test(block)
    if (path === undefined || (!hasBranch && path !== memoryRoot)) continue
    if ((await stampOf(path)) === null) {
      throw inTheWay(
        `git still lists the worktree ${path}, which is gone. Run git worktree prune, then try again.`,
      )
    }
    throw inTheWay(
      `The branch ${MEMORY_BRANCH} is checked out in ${path}, and git checks out a branch only once. Check out another branch there, or remove that worktree (git worktree remove), then try again.`,
    )
  }
}

/** Whether no repository has the branch. Throws if git could not tell which one to check out, or create it. */
async function isBranchNew(git: GitCommandOptions): Promise<boolean> {
  const patterns = ['refs/heads/', 'refs/remotes/*/'].map((place) => place + MEMORY_BRANCH)
  const found = await gitText(['for-each-ref', '--format=%(refname)', ...patterns], git)
  const refs = found.split('\n').filter((ref) => ref !== '')
  const local = `refs/heads/${MEMORY_BRANCH}`
  const below = refs.find((ref) => ref.startsWith(`${local}/`))?.slice('refs/heads/'.length)
  if (below !== undefined) {
    throw inTheWay(
      `git cannot have a branch ${MEMORY_BRANCH} beside the branch ${below}. Rename that branch (git branch -m), then try again.`,
    )
  }
  if (refs.length < 2 || refs.includes(local)) return refs.length === 0
  const chosen = await runGit(['config', '--get', 'checkout.defaultRemote'], git)
  if (chosen.exit === 0) return false
  const names = refs.map((ref) => ref.slice('refs/remotes/'.length))
  throw inTheWay(
    `Several remotes have the branch ${MEMORY_BRANCH}: ${names.join(', ')}. Choose one (git branch ${MEMORY_BRANCH} ${names[0]}), then try again.`,
  )
}

async function makeBranch(git: GitCommandOptions): Promise<void> {
  const make = `make the branch ${MEMORY_BRANCH}`
  const entries: string[] = []
  for (const [name, input] of Object.entries(MEMORY_ROOT_FILES)) {
    const blob = await mustRun(['hash-object', '-w', '--stdin'], { ...git, input }, make)
    entries.push(`100644 blob ${blob}\t${name}\n`)
  }
  const tree = await mustRun(['mktree'], { ...git, input: entries.join('') }, make)
  const commit = await mustRun(['commit-tree', '-m', 'The cases begin', tree], git, make)
  await mustRun(['branch', MEMORY_BRANCH, commit], git, make)
}

/** The output without the line end. Throws `storage_failed` with what git could not do, and what it said. */
async function mustRun(args: string[], git: GitCommandOptions, what: string): Promise<string> {
  const { exit, stdout, stderr } = await runGit(args, git)
  if (exit === 0) return stdout.toString().trim()
  throw new AppError('storage_failed', `git could not ${what}: ${stderr.trim()}.`)
}

async function commonFolder({ top }: GitRepository): Promise<string> {
  const common = await gitText(['rev-parse', '--git-common-dir'], { cwd: top })
  return resolve(top, common.replace(/\n$/, ''))
}

function inTheWay(message: string): AppError {
  return new AppError('already_exists', message, { errors: [{ path: 'memory', message }] })
}
