/** Snapshots of the working folder as git trees. The snapshots before and after a run give its diff. */

import { gitText, runGit } from '../workspace/git/git-command.ts'
import { findRepository, type GitRepository } from '../workspace/git/git-repository.ts'
import { parseTreeDiff, type TreeDiff } from './git-diff.ts'
import { type FolderIndex, type FolderIndexOptions, openFolderIndex } from './git-folder-index.ts'

export type TreeSnapshotOptions = FolderIndexOptions

export interface TreeSnapshots {
  kind: 'git'
  /** Returns the tree id of the working folder's present state. Allows one call at a time. */
  take(): Promise<string>
  /** Git's messages about files that the last `take` could not read; they are not in the tree. */
  warnings(): string[]
  diff(before: string, after: string): Promise<TreeDiff>
  /** A patch for people: cut at a line end, without the contents of binary files. */
  patch(
    before: string,
    after: string,
    maxBytes: number,
  ): Promise<{ text: string; truncated: boolean }>
  close(): Promise<void>
}

export interface NoTreeSnapshots {
  kind: 'none'
  /** Git's reason, such as `not a git repository` or `detected dubious ownership in repository at '/x'`. */
  reason: string
}

/**
 * Takes snapshots of a folder in a git repository: tracked and untracked files without ignored
 * ones, byte for byte (no line-end conversion and no filter, so git-lfs files have their real
 * content). Reads only the list of tracked files and the exclude rules from the repository.
 *
 * The snapshots are made in a scratch repository that borrows the user's objects and has a separate
 * index, configuration and attributes. So no configuration of the user or a step can start a
 * program or change a byte in them (git may update the times of existing object files). The index
 * starts empty, because flags and time stamps in a copy of the user's index could hide a change. It
 * is reused between snapshots, so that the next one reads only what changed. A file that was in a
 * snapshot stays in later ones even if it becomes ignored.
 *
 * A repository within the folder (a submodule) counts as its present commit.
 */
export async function openTreeSnapshots(
  workdir: string,
  options: TreeSnapshotOptions,
): Promise<TreeSnapshots | NoTreeSnapshots> {
  const repository = await findRepository(workdir, options)
  if ('reason' in repository) return { kind: 'none', reason: repository.reason }
  const index = await openFolderIndex(repository, options)
  return 'reason' in index ? { kind: 'none', ...index } : snapshots(repository, index)
}

function snapshots({ prefix }: GitRepository, index: FolderIndex): TreeSnapshots {
  const { git } = index
  const compare = ['diff-tree', '-r', '-M', '--no-ext-diff', '--no-textconv', '--no-color']
  if (prefix !== '') compare.push(`--relative=${prefix}/`)

  return {
    kind: 'git',
    warnings: index.warnings,
    async take() {
      await index.read()
      return (await gitText(['write-tree'], git)).trim()
    },
    async diff(before, after) {
      const args = [...compare, '-z', '--raw', '--numstat', before, after]
      return parseTreeDiff(await gitText(args, git))
    },
    async patch(before, after, maxBytes) {
      const { exit, stdout, stderr } = await runGit([...compare, '-p', before, after], {
        ...git,
        maxBytes,
      })
      const truncated = stdout.length > maxBytes
      if (exit !== 0 && !truncated) throw new Error(`git diff-tree failed: ${stderr.trim()}`)
      const part = stdout.subarray(0, maxBytes)
      const lines = truncated ? part.subarray(0, part.lastIndexOf(0x0a) + 1) : part
      return { text: lines.toString('utf8'), truncated }
    },
    close: index.close,
  }
}
