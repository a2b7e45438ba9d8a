/** Snapshots of the working folder as git trees. The snapshots before and after a run give its diff. */

import { gitText, runGit } from './command.ts'
import { parseTreeDiff, type TreeDiff } from './diff.ts'
import { type FolderIndex, type FolderIndexOptions, openFolderIndex } from './folder-index.ts'
import { findRepository, type GitRepository } from './repository.ts'

export type TreeSnapshotOptions = FolderIndexOptions

export interface TreeSnapshots {
  kind: 'git'
  /** Returns the tree id of the current working folder. Do not call it concurrently. */
  take(): Promise<string>
  /** Git's messages about files that the last `take` could not read; they are not in the tree. */
  warnings(): string[]
  diff(before: string, after: string): Promise<TreeDiff>
  /** Returns a patch for people: limited in length, without the contents of binary files. */
  patch(
    before: string,
    after: string,
    maxBytes: number,
  ): Promise<{ text: string; truncated: boolean }>
  close(): Promise<void>
}

export interface NoTreeSnapshots {
  kind: 'none'
  /** Git's message, such as `not a git repository` or `detected dubious ownership in repository at '/x'`. */
  reason: string
}

/**
 * Takes snapshots of a folder in a git repository: tracked and untracked files, not ignored ones, byte for byte
 * (without line-end conversion and filters, so a git-lfs file is itself). From the user's repository only the list of
 * tracked files and the exclude rules are read.
 *
 * The snapshots are made in a scratch repository that borrows the user's objects and has its own index, configuration
 * and attributes: nothing that the user or a step configures can start a program or change the user's bytes (git may
 * set the times of existing object files). The index starts empty, because flags and times in the user's index could
 * hide a change. It is reused between snapshots, so that the next one reads only what changed. A file that was seen
 * once stays in the snapshots even if it is ignored later.
 *
 * A nested repository (a submodule) counts as the commit it is at.
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
      const args = [...compare, '-z', '--raw', '--no-abbrev', '--numstat', before, after]
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
