import { posix } from 'node:path'
import { runGit } from '../git/run-git.ts'
import { findUncommitted } from '../git/uncommitted.ts'
import type { ChecklistItem } from '../model/gate.ts'

/** What the operator starts from when they write an intent. */
export interface ProposedIntent {
  /** Where work goes on: the folders of what is not committed, and of what the branch has changed. */
  paths: string[]
  /** The project's tests, unless the checklist asks for other proof only. */
  proof: string[]
}

const MAX_PATHS = 5

export async function proposeIntent(
  checklist: readonly ChecklistItem[],
  { folder, tests, exclude }: { folder: string; tests: string | null; exclude: string[] },
): Promise<ProposedIntent> {
  const found = await findUncommitted(folder, exclude)
  const files = 'reason' in found ? [] : found.changes.map(({ file }) => file)
  const needsTests = checklist.length === 0 || checklist.some(({ type }) => type === 'test-log')
  return {
    paths: 'reason' in found ? [] : globsOf([...files, ...(await changedOnBranch(folder))]),
    proof: needsTests && tests !== null ? [tests] : [],
  }
}

/** The files that the branch has changed; empty if there is no branch to compare with. */
async function changedOnBranch(folder: string): Promise<string[]> {
  const args = ['diff', '--name-only', '--relative', '-z', 'origin/HEAD...HEAD']
  const { exit, stdout } = await runGit(args, { cwd: folder, timeoutMs: 3_000 })
  return exit === 0 ? stdout.toString().split('\0') : []
}

/** Few globs that have all the files in them. */
function globsOf(files: readonly string[]): string[] {
  const inFolders = (folderOf: (file: string) => string) => {
    const all = files.filter((file) => file !== '' && !file.startsWith('.')).map(folderOf)
    const folders = [...new Set(all)].sort()
    return folders.filter((each) => !folders.some((other) => each.startsWith(`${other}/`)))
  }
  const near = inFolders((file) => (file.includes('/') ? posix.dirname(file) : file))
  const found = near.length <= MAX_PATHS ? near : inFolders((file) => file.split('/')[0]!)
  const isFolder = (path: string) => files.some((file) => file.startsWith(`${path}/`))
  return found.slice(0, MAX_PATHS).map((path) => (isFolder(path) ? `${path}/**` : path))
}
