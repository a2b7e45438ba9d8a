/** What git knows of the repository that stores the record, and git commands in it. */

import { join, resolve } from 'node:path'
import { stampNow } from '../files/read-now.ts'
import {
  type GitCommandOptions,
  type GitOutput,
  gitText,
  runGit,
} from '../workspace/git/git-command.ts'
import { gitIdentity } from '../workspace/git/git-identity.ts'
import { findRepository } from '../workspace/git/git-repository.ts'
import type { MemoryKind } from '../workspace/git/memory-kind.ts'
import { SyncStop } from './sync-stop.ts'

type Options = Omit<GitCommandOptions, 'cwd'>

export interface RecordGit {
  kind: MemoryKind
  /** The top folder of the working tree. */
  top: string
  /** From the top to the memory root: empty, or ends with a slash. */
  prefix: string
  gitDir: string
  run(args: string[], options?: Options): Promise<GitOutput>
  /** Throws if git fails. */
  text(args: string[], options?: Options): Promise<string>
  /** The object that a revision names; null if there is none. */
  find(revision: string): Promise<string | null>
}

/** Throws a `SyncStop` if no repository stores the record. */
export async function openRecordGit(root: string, memoryRoot: string): Promise<RecordGit> {
  const repository = await findRepository(memoryRoot, {})
  if ('reason' in repository) {
    throw new SyncStop(
      'no_repository',
      `Git does not store this record: ${repository.reason}. Choose how it should with: casefile init`,
    )
  }
  const { top, prefix } = repository
  const env = await gitIdentity(top)
  const run: RecordGit['run'] = (args, options) =>
    runGit(args, { ...options, cwd: top, env: { ...env, ...options?.env } })
  const text: RecordGit['text'] = (args, options) =>
    gitText(args, { ...options, cwd: top, env: { ...env, ...options?.env } })
  const gitDir = (await text(['rev-parse', '--absolute-git-dir'])).replace(/\n$/, '')
  return {
    kind:
      prefix !== ''
        ? 'with-code'
        : (await isWorktreeOf(root, memoryRoot))
          ? 'orphan-worktree'
          : 'own-repo',
    top,
    prefix: prefix === '' ? '' : `${prefix}/`,
    gitDir,
    run,
    text,
    async find(revision) {
      const { exit, stdout } = await run(['rev-parse', '--verify', '--quiet', revision])
      return exit === 0 ? stdout.toString().trim() : null
    },
  }
}

async function isWorktreeOf(root: string, memoryRoot: string): Promise<boolean> {
  const common = async (cwd: string) => {
    const { exit, stdout } = await runGit(['rev-parse', '--git-common-dir'], { cwd })
    return exit === 0 ? resolve(cwd, stdout.toString().replace(/\n$/, '')) : null
  }
  const code = root === memoryRoot ? null : await common(root)
  return code !== null && code === (await common(memoryRoot))
}

/** The branch that is checked out, and where it is pushed to. */
export interface Upstream {
  branch: string
  remote: string
  /** The branch of the remote. */
  name: string
  /** The local copy of the remote's branch. */
  ref: string
  /** Whether the branch has this upstream in the configuration. */
  isSet: boolean
}

/** Throws a `SyncStop` for a detached HEAD, or without a remote. */
export async function findUpstream(git: RecordGit): Promise<Upstream> {
  const head = await git.run(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  const branch = head.stdout.toString().trim()
  if (head.exit !== 0) {
    throw new SyncStop(
      'detached_head',
      'No branch is checked out here (detached HEAD), so there is nothing to push to. Check one out with: git switch <branch>',
    )
  }
  const config = async (key: string) => {
    const { exit, stdout } = await git.run(['config', '--get', `branch.${branch}.${key}`])
    return exit === 0 ? stdout.toString().trim() : null
  }
  const [remote, merge] = [await config('remote'), await config('merge')]
  const remotes = (await git.text(['remote'])).split('\n').filter((name) => name !== '')
  const chosen = remote ?? (remotes.includes('origin') ? 'origin' : remotes[0])
  if (chosen === undefined || !remotes.includes(chosen)) {
    throw new SyncStop(
      'no_remote',
      `The repository ${git.top} has no remote to share the record with. Add one with: git -C ${git.top} remote add origin <url>`,
    )
  }
  const name = (remote === chosen ? merge?.replace(/^refs\/heads\//, '') : null) ?? branch
  return {
    branch,
    remote: chosen,
    name,
    ref: `refs/remotes/${chosen}/${name}`,
    isSet: remote === chosen && merge !== null,
  }
}

const UNFINISHED = {
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  MERGE_HEAD: 'merge',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
} as const

/** What git has begun and not finished, such as a merge with conflicts; null if nothing. */
export function unfinishedWork(git: RecordGit): string | null {
  for (const [name, what] of Object.entries(UNFINISHED))
    if (stampNow(join(git.gitDir, name)) !== null) return what
  return null
}
