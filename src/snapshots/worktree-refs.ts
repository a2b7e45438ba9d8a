/** What the repository of an isolated session leads to besides its own branch. All of it may be forged. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../files/errno.ts'
import { readRegular } from '../files/safe-read.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import type { WorktreeNote } from './worktree-notes.ts'

export interface OtherCommit {
  /** Such as `feature`, `v1` or `stash`. */
  name: string
  commit: string
}

export const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const MAX_BYTES = 16 * 1024 * 1024
const MAX_COMMITS = 100
const MAX_DEPTH = 20

/** The text of a file of the repository; empty if it cannot be read. */
export async function refFile(own: string, name: string): Promise<string> {
  const read = await readRegular(join(own, name), { maxBytes: MAX_BYTES, within: own })
  return read.ok ? read.bytes.toString() : ''
}

/** The objects that branches, tags and stashes name, each once, and how many were too many. */
export async function otherCommits(
  own: string,
  known: readonly string[],
): Promise<{ commits: OtherCommit[]; left: number }> {
  const found: OtherCommit[] = []
  for (const kind of ['heads', 'tags']) {
    for (const ref of await looseRefs(own, `refs/${kind}`, MAX_DEPTH)) {
      found.push({
        name: ref.slice(`refs/${kind}/`.length),
        commit: (await refFile(own, ref)).trim(),
      })
    }
  }
  for (const line of (await refFile(own, 'packed-refs')).split('\n')) {
    const [, commit = '', name = ''] = /^([0-9a-f]+) refs\/(?:heads|tags)\/(.+)$/.exec(line) ?? []
    found.push({ name, commit })
  }
  for (const line of (await refFile(own, 'logs/refs/stash')).split('\n').reverse()) {
    found.push({ name: 'stash', commit: line.split(' ')[1] ?? '' })
  }
  found.push({ name: 'stash', commit: (await refFile(own, 'refs/stash')).trim() })
  const seen = new Set(known)
  const commits = found.filter(({ commit }) => {
    const isNew = COMMIT.test(commit) && !seen.has(commit)
    seen.add(commit)
    return isNew
  })
  return { commits: commits.slice(0, MAX_COMMITS), left: Math.max(0, commits.length - MAX_COMMITS) }
}

async function looseRefs(own: string, folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(join(own, folder), { withFileTypes: true }).catch(unreadable)
  const found = await Promise.all(
    entries.map((entry) => {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory() && depth > 0) return looseRefs(own, name, depth - 1)
      return entry.isFile() ? [name] : []
    }),
  )
  return found.flat()
}

function unreadable(error: unknown): never[] {
  if (codeOf(error) === '') throw error
  return []
}

/**
 * Makes a branch of each commit that no branch, tag or remote of the user has, such as `casefile/count-1-feature`, and
 * returns their names. May be repeated.
 */
export async function keepOthers(
  { branch }: Pick<WorktreeNote, 'branch'>,
  others: readonly OtherCommit[],
  git: GitCommandOptions,
): Promise<string[]> {
  const made: string[] = []
  for (const { name, commit } of others) {
    const known = await madeBefore(branch, commit, git)
    if (known !== null) {
      made.push(known)
      continue
    }
    const only = ['rev-list', '--max-count=1', `${commit}^{commit}`]
    const rest = ['--not', '--branches', '--tags', '--remotes']
    if ((await gitText([...only, ...rest], git)).trim() === '') continue
    const free = await freeBranch(`${branch}-${slug(name)}`, git)
    const head = (await gitText(['rev-parse', `${commit}^{commit}`], git)).trim()
    const log = `casefile: ${name.slice(0, 100).replace(/[^ -~]/g, '?')} of a session`
    await gitText([...DURABLE, 'update-ref', '-m', log, `refs/heads/${free}`, head, ''], git)
    made.push(free)
  }
  return made
}

/** The branch that an end which was killed had made of a commit. */
async function madeBefore(
  branch: string,
  commit: string,
  git: GitCommandOptions,
): Promise<string | null> {
  const of = ['for-each-ref', '--format=%(refname:short)', `--points-at=${commit}^{commit}`]
  const { exit, stdout } = await runGit([...of, `refs/heads/${branch}-*`], git)
  return exit === 0 ? stdout.toString().split('\n')[0] || null : null
}

/** A commit must survive a power cut, as the worktree may be removed then. */
export const DURABLE = ['-c', 'core.fsync=committed,loose-object,reference']
const MAX_SLUG = 60

function slug(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, MAX_SLUG)
  return plain.replace(/^-+|(?<!-)-+$/g, '') || 'other'
}

async function freeBranch(wanted: string, git: GitCommandOptions): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`
    const ref = `refs/heads/${name}`
    if ((await runGit(['rev-parse', '--verify', '--quiet', ref], git)).exit !== 0) return name
  }
}
