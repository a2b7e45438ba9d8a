/** The state of a working folder when a plan was approved, to see later whether it still is the same. */

import { runGit } from '../git/command.ts'
import { excludedPaths } from '../git/excluded.ts'
import { findRepository } from '../git/repository.ts'
import { openTreeSnapshots } from '../git/tree.ts'

export interface FolderPrint {
  /** The commit that is checked out; null before the first one. */
  head: string | null
  /** Null for a detached HEAD. */
  branch: string | null
  /** The git tree of the files, also of those that are not committed; null if only the commit counts. */
  tree: string | null
  /** What is different now; null if nothing is. */
  changes(): Promise<FolderChanges | null>
  close(): Promise<void>
}

export interface FolderChanges {
  /** Another commit or branch, as clauses. */
  head: string[]
  /** Relative to the folder. */
  files: string[]
}

export interface PrintOptions {
  /** Counts the commit alone. */
  isHeadOnly: boolean
  scratch: string
  /** Folders whose changes do not count: the memory root and the state folder. */
  exclude: string[]
  signal: AbortSignal
}

/** Returns git's message if the folder is in no repository. Ignored files do not count. */
export async function takePrint(
  folder: string,
  { isHeadOnly, scratch, exclude, signal }: PrintOptions,
): Promise<FolderPrint | { reason: string }> {
  const repository = await findRepository(folder, { signal })
  if ('reason' in repository) return repository
  const before = await headOf(folder, signal)
  const excluded = (await excludedPaths({ top: repository.top, prefix: '' }, exclude)) ?? []
  const headClauses = async () => {
    const now = await headOf(folder, signal)
    if (now.branch !== before.branch)
      return [`it is on ${branchText(now.branch)} now, and was on ${branchText(before.branch)}`]
    const isSame =
      now.commit === before.commit || (await isSameCode(folder, [before.commit, now.commit]))
    return isSame ? [] : [`its commit is ${short(now.commit)} now, and was ${short(before.commit)}`]
  }
  /** Sync commits the record, which is not what a plan changes. */
  async function isSameCode(cwd: string, [from, to]: [string | null, string | null]) {
    if (from === null || to === null) return false
    const paths = [':(top)', ...excluded.map((path) => `:(top,exclude,literal)${path}`)]
    const words = ['diff-tree', '-r', '--quiet', '--no-ext-diff', from, to, '--', ...paths]
    return (await runGit(words, { cwd, signal })).exit === 0
  }
  const print = { head: before.commit, branch: before.branch }
  if (isHeadOnly) {
    return {
      ...print,
      tree: null,
      async changes() {
        const head = await headClauses()
        return head.length === 0 ? null : { head, files: [] }
      },
      close: async () => {},
    }
  }
  const trees = await openTreeSnapshots(folder, { scratch, exclude, signal })
  if (trees.kind === 'none') return trees
  try {
    const tree = await trees.take()
    return {
      ...print,
      tree,
      async changes() {
        const head = await headClauses()
        const now = await trees.take()
        if (now === tree) return head.length === 0 ? null : { head, files: [] }
        const { files } = await trees.diff(tree, now)
        return { head, files: files.map(({ file }) => file) }
      },
      close: trees.close,
    }
  } catch (error) {
    await trees.close()
    throw error
  }
}

async function headOf(cwd: string, signal: AbortSignal) {
  const commit = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    cwd,
    signal,
  })
  const branch = await runGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], { cwd, signal })
  return { commit: lineOf(commit), branch: lineOf(branch) }
}

function lineOf({ exit, stdout }: { exit: number; stdout: Buffer }): string | null {
  return exit === 0 ? stdout.toString().trim() : null
}

function branchText(branch: string | null): string {
  return branch === null ? 'no branch' : `branch ${branch}`
}

function short(commit: string | null): string {
  return commit?.slice(0, 10) ?? 'none'
}
