/** Asks git what is not committed in a working folder. */

import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { stampOf } from '../files/safe-read.ts'
import { excludedPaths } from './excluded.ts'
import { gitFailed } from './git-error.ts'
import { DAMAGED, findRepository, type GitRepository } from './repository.ts'
import { runGit } from './run-git.ts'

export const CHANGE_KINDS = [
  'modified',
  'added',
  'deleted',
  'renamed',
  'untracked',
  'conflict',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface UncommittedChange {
  /** Relative to the working folder. */
  file: string
  kind: ChangeKind
  /** When the file was last written; null if it is gone. */
  mtimeMs: number | null
}

/** `reason`: why it is not known, such as no repository. */
export type Uncommitted =
  | {
      /** Null for a detached HEAD. */
      branch: string | null
      /** The commit; null if there is none yet. */
      head: string | null
      changes: UncommittedChange[]
      /** Whether there are more changes than `changes` has. */
      isCut: boolean
    }
  | { reason: string }

const OPTIONS = { timeoutMs: 3_000 }
const MAX_BYTES = 512 * 1024
const MAX_CHANGES = 500

/** Lists uncommitted and untracked files in a folder, without those below the absolute paths of `exclude`. */
export async function findUncommitted(folder: string, exclude: string[]): Promise<Uncommitted> {
  try {
    return await uncommittedIn(await findRepository(folder, OPTIONS), folder, exclude)
  } catch (error) {
    return reasonOf(error)
  }
}

/** The same for a folder whose repository is known. */
export async function uncommittedIn(
  repository: GitRepository | { reason: string },
  folder: string,
  exclude: string[],
): Promise<Uncommitted> {
  if ('reason' in repository) {
    const { reason } = repository
    return {
      reason: reason.endsWith(DAMAGED) ? reason : 'the working folder is in no git repository',
    }
  }
  const { top, configuration } = repository
  try {
    const prefix = relative(top, await realpath(folder))
    const left = await excludedPaths({ top, prefix }, exclude)
    if (left === null) return { reason: 'the working folder is part of the record' }
    const paths = [prefix === '' ? '.' : `:(top,literal)${prefix}`]
    for (const path of left) paths.push(`:(top,exclude,literal)${path}`)
    const args = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--']
    const git = { ...OPTIONS, cwd: folder, maxBytes: MAX_BYTES, configuration }
    const { exit, stdout, stderr } = await runGit([...args, ...paths], git)
    const isCut = exit === -1
    if (exit !== 0 && !isCut) return reasonOf(gitFailed('status', stderr))
    const { branch, head, changes } = parseStatus(stdout.toString())
    const shown = changes.slice(0, MAX_CHANGES).map(async ({ file, kind }) => {
      const stamp = await stampOf(join(top, file)).catch(() => null)
      return { file: relative(prefix, file) || file, kind, mtimeMs: stamp?.mtimeMs ?? null }
    })
    return {
      branch,
      head,
      changes: await Promise.all(shown),
      isCut: isCut || changes.length > MAX_CHANGES,
    }
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): { reason: string } {
  if (!(error instanceof Error)) throw error
  return { reason: `git cannot tell: ${error.message}` }
}

/** Parses `git status --porcelain=v2 --branch -z`; the last record may be cut. Paths are relative to the top. */
export function parseStatus(output: string): {
  branch: string | null
  head: string | null
  changes: Omit<UncommittedChange, 'mtimeMs'>[]
} {
  const records = output.split('\0')
  records.pop()
  const changes: Omit<UncommittedChange, 'mtimeMs'>[] = []
  let branch: string | null = null
  let commit: string | null = null
  for (let at = 0; at < records.length; at++) {
    const record = records[at]!
    const head = /^# branch\.head (.*)$/s.exec(record)
    if (head) branch = head[1] === '(detached)' ? null : head[1]!
    const oid = /^# branch\.oid ([0-9a-f]+)$/.exec(record)
    if (oid) commit = oid[1]!
    const found = PATTERNS.find(({ pattern }) => pattern.test(record))
    if (!found) continue
    const [, states = '', file = ''] = found.pattern.exec(record)!
    changes.push({ file, kind: found.kind ?? kindOf(states) })
    if (record.startsWith('2 ')) at++ // the former name is a separate record
  }
  return { branch, head: commit, changes }
}

const PATTERNS: { pattern: RegExp; kind?: ChangeKind }[] = [
  { pattern: /^1 (..) (?:\S+ ){6}(.+)$/s },
  { pattern: /^2 (..) (?:\S+ ){7}(.+)$/s, kind: 'renamed' },
  { pattern: /^u (..) (?:\S+ ){8}(.+)$/s, kind: 'conflict' },
  { pattern: /^(\?) (.+)$/s, kind: 'untracked' },
]

function kindOf(states: string): ChangeKind {
  if (states.includes('D')) return 'deleted'
  return states.includes('A') ? 'added' : 'modified'
}
