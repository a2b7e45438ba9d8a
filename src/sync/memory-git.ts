/** What git knows of the repository that stores the record, and git commands in it. */

import { relative, resolve } from 'node:path'
import type { MemoryKind } from '../git/memory-kind.ts'
import {
  type GitCommandOptions,
  type GitOutput,
  gitText,
  runGit,
  runProgramObjection,
} from '../git/run-git.ts'
import { isRecordPath } from '../workspace/record-paths.ts'
import { SyncStop, stopFor } from './sync-stop.ts'

/** Whether sync shares a file. With the code, what Casefile does not keep is code, also in the memory root. */
export function isShared({ prefix }: Pick<MemoryGit, 'prefix'>, path: string): boolean {
  return prefix === '' || (path.startsWith(prefix) && isRecordPath(path.slice(prefix.length)))
}

type Options = Omit<GitCommandOptions, 'cwd'>

export interface MemoryGit {
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
export async function openMemoryGit(
  root: string,
  memoryRoot: string,
  programs: Pick<GitCommandOptions, 'hasPrograms'> = {},
): Promise<MemoryGit> {
  const asked = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir']
  const found = await runGit(['rev-parse', ...asked], { cwd: memoryRoot }).catch(notFound)
  if (found.exit !== 0) throw notStored(found.stderr)
  const [top = '', gitDir = '', common = ''] = found.stdout.toString().split('\n')
  const below = relative(top, memoryRoot)
  if (below !== '' && (await isIgnored(memoryRoot)))
    throw notStored('the folder is ignored by the git repository around it')
  if (programs.hasPrograms) await mustStartNothingOfRuns(top, [gitDir, resolve(memoryRoot, common)])
  const run: MemoryGit['run'] = (args, options) =>
    runGit(args, { ...options, ...programs, cwd: top })
  return {
    kind: below === '' ? await kindOf(root, memoryRoot, resolve(memoryRoot, common)) : 'with-code',
    top,
    prefix: below === '' ? '' : `${below}/`,
    gitDir,
    run,
    text: (args, options) => gitText(args, { ...options, ...programs, cwd: top }),
    find: (revision) => findRevision(run, revision),
  }
}

async function mustStartNothingOfRuns(top: string, gitFolders: readonly string[]): Promise<void> {
  const objection = await runProgramObjection(top, gitFolders)
  if (objection === null) return
  throw new SyncStop(
    'program_of_run',
    `The configuration of git names a program that Casefile does not start: ${objection}. Nothing was done. Move it outside of the workspace, caches and temporary folders, and configure its new path, or sync by hand: git -C ${top} pull, then push`,
  )
}

/** Git commands on the whole of a working tree. */
export async function openTreeGit(top: string): Promise<MemoryGit> {
  const run: MemoryGit['run'] = (args, options) => runGit(args, { ...options, cwd: top })
  const text: MemoryGit['text'] = (args, options) => gitText(args, { ...options, cwd: top })
  return {
    kind: 'own-repo',
    top,
    prefix: '',
    gitDir: (await text(['rev-parse', '--absolute-git-dir'])).replace(/\n$/, ''),
    run,
    text,
    find: (revision) => findRevision(run, revision),
  }
}

async function findRevision(run: MemoryGit['run'], revision: string): Promise<string | null> {
  const { exit, stdout } = await run(['rev-parse', '--verify', '--quiet', revision])
  return exit === 0 ? stdout.toString().trim() : null
}

function notFound(error: unknown): never {
  throw stopFor(error) ?? error
}

function notStored(why: string): SyncStop {
  const reason = (why.split('\n')[0] ?? '').replace(/^fatal: /, '')
  return new SyncStop(
    'no_repository',
    `Git does not store this record: ${reason}. Choose how it should with: casefile init`,
  )
}

async function isIgnored(folder: string): Promise<boolean> {
  return (await runGit(['check-ignore', '--quiet', folder], { cwd: folder })).exit === 0
}

async function kindOf(root: string, memoryRoot: string, common: string): Promise<MemoryKind> {
  if (root === memoryRoot) return 'own-repo'
  const { exit, stdout } = await runGit(['rev-parse', '--git-common-dir'], { cwd: root })
  const code = exit === 0 ? resolve(root, stdout.toString().replace(/\n$/, '')) : null
  return code === common ? 'orphan-worktree' : 'own-repo'
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
export async function findUpstream(git: MemoryGit): Promise<Upstream> {
  const head = await git.run(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  const branch = head.stdout.toString().trim()
  if (head.exit !== 0) {
    throw new SyncStop(
      'detached_head',
      'No branch is checked out here (detached HEAD), so there is nothing to push to. Check one out with: git switch <branch>',
    )
  }
  const config = await readConfig(git, '^(branch|remote)\\.')
  const [remote, merge] = ['remote', 'merge'].map((key) => config.get(`branch.${branch}.${key}`))
  const remotes = [...config.keys()].flatMap((key) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? [])
  if (remote === '.') {
    const own = merge?.replace(/^refs\/heads\//, '') ?? 'a branch'
    throw new SyncStop(
      'no_remote',
      `The upstream of the branch ${branch} is ${own} in this same repository, not a branch of a remote. Choose another with: git -C ${git.top} push -u ${remotes[0] ?? '<remote>'} ${branch}`,
    )
  }
  const chosen = remote ?? (remotes.includes('origin') ? 'origin' : remotes[0])
  if (chosen === undefined || !remotes.includes(chosen)) {
    throw new SyncStop(
      'no_remote',
      `The repository ${git.top} has no remote to share the record with. Add one with: git -C ${git.top} remote add origin <url>`,
    )
  }
  const name = merge?.replace(/^refs\/heads\//, '') ?? branch
  return {
    branch,
    remote: chosen,
    name,
    ref: `refs/remotes/${chosen}/${name}`,
    isSet: remote !== undefined && merge !== undefined,
  }
}

/** The settings whose names match; of those with several values, the last. */
async function readConfig(git: MemoryGit, names: string): Promise<Map<string, string>> {
  const { stdout } = await git.run(['config', '-z', '--get-regexp', names])
  const entries = stdout.toString().split('\0').slice(0, -1)
  return new Map(
    entries.map((entry) => {
      const end = entry.indexOf('\n')
      return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)]
    }),
  )
}
