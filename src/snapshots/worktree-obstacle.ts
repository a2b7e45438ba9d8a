/** Finds what keeps a working folder from having worktrees, before anything is approved. */

import { relative } from 'node:path'
import { isWithin, realPathOf } from '../files/real-path.ts'
import { gitFailed } from '../git/git-error.ts'
import { findRepository } from '../git/repository.ts'
import { findRepositoryFolders } from '../git/repository-folders.ts'
import { programObjection, runGit } from '../git/run-git.ts'

/** Where the worktree of a session comes from. */
export interface WorktreeSource {
  common: string
  top: string
  prefix: string
  record: string | null
  objectFormat: string
  /** The commit that is checked out. */
  head: string
  /** Null for a detached HEAD. */
  branch: string | null
}

const LIMITS = { timeoutMs: 20_000 }
/** `git merge-tree --write-tree`, which merges without touching a file. */
const OLDEST: readonly [number, number] = [2, 38]

/** The source, or a clause that says why there is none and what to do. Pages ask for it, so that git fails is a reason too. */
export async function findWorktreeSource(
  workdir: string,
  memoryRoot: string,
): Promise<WorktreeSource | { obstacle: string }> {
  try {
    return await askGit(workdir, memoryRoot)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { obstacle: `git cannot tell whether it can: ${error.message}. Try again` }
  }
}

async function askGit(
  workdir: string,
  memoryRoot: string,
): Promise<WorktreeSource | { obstacle: string }> {
  const obstacle = (why: string, then: string) => ({ obstacle: `${why}. ${then}` })
  const folders = await findRepositoryFolders(workdir)
  const found = await findRepository(workdir, LIMITS)
  if ('reason' in found || folders === null) {
    const why = 'reason' in found ? found.reason : 'it is in no git repository'
    return obstacle(
      `the working folder has no git repository (${why})`,
      'Run git init there, and commit',
    )
  }
  if (isWithin(memoryRoot, workdir))
    return obstacle(
      'the working folder is part of the record',
      'Choose another working folder for the case',
    )
  const { top, prefix, objectFormat } = found
  const git = { ...LIMITS, cwd: top }
  if (await isTooOld(top))
    return obstacle('git is older than 2.38, so its work could not be applied', 'Update git')
  const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], git)
  if (head.exit !== 0) return obstacle('the repository has no commit yet', 'Make the first commit')
  const commit = head.stdout.toString().trim()
  const program = await programObjection(git)
  if (program !== null)
    return obstacle(
      `${program}, so it is not used`,
      'Move it to your own configuration with git config --global, or work without isolation',
    )
  const why = await obstacleIn(top, commit, prefix)
  if (why !== null) return why
  const branch = await runGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], git)
  const record = await realPathOf(memoryRoot)
  return {
    common: await realPathOf(folders.common),
    top,
    prefix,
    record: isWithin(top, record) ? relative(top, record) : null,
    objectFormat,
    head: commit,
    branch: branch.exit === 0 ? branch.stdout.toString().trim() : null,
  }
}

let tooOld: Promise<boolean> | null = null

function isTooOld(cwd: string): Promise<boolean> {
  tooOld ??= runGit(['version'], { cwd }).then(({ stdout }) => {
    const [, major, minor] = /(?<!\d)(\d+)\.(\d+)/.exec(stdout.toString()) ?? []
    const [least, then] = OLDEST
    return Number(major) < least || (Number(major) === least && Number(minor) < then)
  })
  tooOld.catch(() => {
    tooOld = null
  })
  return tooOld
}

/** What commits hold, by the commit and folder: it cannot change. */
const seen = new Map<string, { obstacle: string } | null>()
const MAX_SEEN = 200

/** Settings and branches may change at any time; the content of a commit cannot. */
async function obstacleIn(
  top: string,
  commit: string,
  prefix: string,
): Promise<{ obstacle: string } | null> {
  const git = { ...LIMITS, cwd: top }
  const sparse = await runGit(['config', '--type=bool', '--get', 'core.sparseCheckout'], git)
  if (sparse.stdout.toString().trim() === 'true') {
    return {
      obstacle:
        'the repository has a sparse checkout. Run git sparse-checkout disable, or work without isolation',
    }
  }
  const taken = await runGit(['show-ref', '--verify', '--quiet', 'refs/heads/casefile'], git)
  if (taken.exit === 0) {
    return {
      obstacle:
        'a branch named casefile keeps git from making branches below that name. Rename it: git branch -m casefile <other name>',
    }
  }
  const key = `${top}\0${commit}\0${prefix}`
  const known = seen.get(key)
  if (known !== undefined) return known
  const result = await obstacleInCommit(top, commit, prefix)
  if (seen.size >= MAX_SEEN) seen.clear()
  seen.set(key, result)
  return result
}

const SHOWN = 3

async function obstacleInCommit(
  top: string,
  commit: string,
  prefix: string,
): Promise<{ obstacle: string } | null> {
  const git = { ...LIMITS, cwd: top }
  if (prefix !== '') {
    const { stdout } = await runGit(['cat-file', '-t', `${commit}:${prefix}`], git)
    if (stdout.toString().trim() !== 'tree')
      return { obstacle: `the folder ${prefix} is in no commit. Commit it` }
  }
  const links = (await lines(top, ['ls-tree', '-r', '-z', commit])).flatMap(
    (entry) => /^160000 [^\t]*\t([\s\S]*)$/.exec(entry)?.[1] ?? [],
  )
  if (links.length > 0) {
    const names = links.slice(0, SHOWN).join(', ')
    return {
      obstacle: `the repository has submodules (${names}${links.length > SHOWN ? ', …' : ''}), which a worktree would not have. Work without isolation`,
    }
  }
  const attributes = await runGit(
    ['grep', '-l', '-E', '(^|[[:space:]])filter=lfs', commit, '--', ':(glob)**/.gitattributes'],
    git,
  )
  if (attributes.exit === 0)
    return { obstacle: 'the repository stores files with git-lfs. Work without isolation' }
  return null
}

async function lines(cwd: string, args: string[]): Promise<string[]> {
  const { exit, stdout, stderr } = await runGit(args, { ...LIMITS, cwd })
  if (exit !== 0) throw gitFailed(args[0]!, stderr)
  return stdout.toString().split('\0')
}
