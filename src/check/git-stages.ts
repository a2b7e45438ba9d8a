import { basename, dirname } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type GitCommandOptions, type GitOutput, runGit } from '../git/run-git.ts'

/** A file that both sides of a merge, rebase or stash pop added, with both versions. */
export interface BothMade {
  /** The version of the target: `HEAD` in a merge, the new base in a rebase. */
  ours: Buffer
  theirs: Buffer
  /** Which version came from this clone's own commits (or stash). */
  own: 'ours' | 'theirs'
}

/**
 * Reads both versions of `path` from git's index. Null if there is no such conflict: no conflict at all, the file
 * existed before, no repository, no git, or a version cannot be read or has more than `maxBytes`.
 */
export async function bothMade(path: string, maxBytes: number): Promise<BothMade | null> {
  const git: GitCommandOptions = { cwd: dirname(path), maxBytes }
  const listed = await output(
    ['ls-files', '--unmerged', '-z', '--', `:(literal)${basename(path)}`],
    git,
  )
  if (listed === null) return null
  const stages = new Map(
    listed
      .toString()
      .split('\0')
      .map((entry) => /^100\d{3} ([0-9a-f]+) ([123])\t/.exec(entry))
      .flatMap((found) => (found ? [[Number(found[2]), found[1]!] as const] : [])),
  )
  if (stages.has(1)) return null
  const side = async (stage: number) => {
    const id = stages.get(stage)
    return id === undefined ? null : output(['cat-file', 'blob', id], git)
  }
  const [ours, theirs] = [await side(2), await side(3)]
  if (!ours || !theirs) return null
  const isMerge = await output(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'], git)
  return { ours, theirs, own: isMerge ? 'ours' : 'theirs' }
}

/** Null if git fails: the path is in no readable repository, or the object does not exist. */
async function output(args: string[], git: GitCommandOptions): Promise<Buffer | null> {
  const { exit, stdout } = await runGit(args, git).catch(missingGit)
  return exit === 0 ? stdout : null
}

function missingGit(error: unknown): Pick<GitOutput, 'exit' | 'stdout'> {
  if (!hasCode(error, 'ENOENT')) throw error
  return { exit: -1, stdout: Buffer.alloc(0) }
}
