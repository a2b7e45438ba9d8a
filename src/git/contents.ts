/** Checks whether git already has a content, which shows that a change came from git and not from an editor. */

import { hash } from 'node:crypto'
import { hasCode } from '../files/errno.ts'
import { runGit } from './run-git.ts'

/**
 * An environment in which git shows objects as they are stored: `git replace` and grafts, which a run can make, put
 * others in their place.
 */
export const AS_STORED = { GIT_NO_REPLACE_OBJECTS: '1', GIT_GRAFT_FILE: '/dev/null/none' }

/** Returns the git object names of a content, for SHA-1 and SHA-256 repositories. */
export function gitNamesOf(text: string | Uint8Array): string[] {
  const bytes = Buffer.from(text)
  const blob = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes])
  return [hash('sha1', blob), hash('sha256', blob)]
}

/**
 * Whether the repository of a folder has one of these contents: it was added, committed, stashed or fetched. False
 * without a repository or git.
 */
export async function isInGit(folder: string, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false
  const input = names.map((name) => `${name}\n`).join('')
  const args = ['cat-file', '--batch-check=%(objecttype)']
  try {
    const { exit, stdout } = await runGit(args, { cwd: folder, input, timeoutMs: 10_000 })
    return exit === 0 && /^blob$/m.test(stdout.toString())
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Where git may have what it brings: not every branch, as anything can be put into one. */
const BRINGING = ['HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REBASE_HEAD', '--remotes']

/**
 * Whether a file of a folder has one of these contents in a commit that is checked out, fetched, or being merged; an
 * object alone can be made without any.
 */
export async function isCommitted(
  folder: string,
  file: string,
  names: readonly string[],
): Promise<boolean> {
  const args = ['log', '-1', '--format=%H', '--full-history', '--diff-merges=separate']
  const found = await Promise.all(
    names.map(async (name) => {
      if (!(await isInGit(folder, [name]))) return false
      const { exit, stdout } = await runGit(
        [...args, `--find-object=${name}`, '--ignore-missing', ...BRINGING, '--', file],
        { cwd: folder, env: AS_STORED },
      )
      return exit === 0 && stdout.length > 0
    }),
  )
  return found.includes(true)
}

/**
 * Returns the contents of blobs by their ids, or by names such as `HEAD:file`, without what is another object or missing.
 * Ids that begin with `-` cannot harm: they are read from standard input.
 */
export async function readBlobs(
  folder: string,
  ids: Iterable<string>,
): Promise<Map<string, Buffer>> {
  const wanted = [...new Set(ids)]
  const found = new Map<string, Buffer>()
  for (let at = 0; at < wanted.length; at += OBJECTS_AT_ONCE) {
    const some = wanted.slice(at, at + OBJECTS_AT_ONCE)
    const input = some.map((id) => `${id}\n`).join('')
    const { stdout } = await runGit(['cat-file', '--batch'], { cwd: folder, env: AS_STORED, input })
    let from = 0
    for (const id of some) {
      const end = stdout.indexOf('\n', from)
      if (end < 0) break
      const [, type, size] =
        / (blob|commit|tree|tag) (\d+)$/.exec(stdout.toString('latin1', from, end)) ?? []
      from = end + 1
      if (size === undefined) continue // missing
      if (type === 'blob') found.set(id, stdout.subarray(from, from + Number(size)))
      from += Number(size) + 1
    }
  }
  return found
}

/** Session files are small, so these are some MB. */
const OBJECTS_AT_ONCE = 500
