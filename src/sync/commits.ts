/** Questions about commits. */

import type { MemoryGit } from './memory-git.ts'
import type { MergeReport } from './memory-merge.ts'
import { SyncStop } from './sync-stop.ts'
import { emptyTree, type TreeChange } from './trees.ts'

/** The last commit that both have; null if they share none. */
export async function commonCommit(
  git: MemoryGit,
  ours: string,
  theirs: string,
): Promise<string | null> {
  const { exit, stdout } = await git.run(['merge-base', ours, theirs])
  return exit === 0 ? stdout.toString().trim() : null
}

/**
 * The base to merge a remote with that shares no commit: two clones may both have begun a record. A remote that is no
 * record is one that was given by mistake.
 */
export async function unrelatedBase(git: MemoryGit, theirs: string): Promise<string> {
  const names = (await git.text(['ls-tree', '-z', '--name-only', theirs])).split('\0')
  const isRecord = git.prefix === '' && names.every((name) => /^(?:|cases|\..*|.*\.md)$/.test(name))
  if (isRecord) return emptyTree(git)
  throw new SyncStop(
    'unrelated_histories',
    'The remote shares no commit with this repository, and is not a record of cases. Check its address with: git remote -v',
  )
}

export async function timeOf(git: MemoryGit, commit: string): Promise<string> {
  const seconds = Number(await git.text(['show', '--no-patch', '--format=%ct', commit]))
  return new Date(seconds * 1000).toISOString()
}

/** The commits of `tip` that the remote does not have, as far as is known; `theirs` is its branch, if it has one. */
export async function countUnpushed(
  git: MemoryGit,
  tip: string,
  { remote, theirs, paths = [] }: { remote: string; theirs: string | null; paths?: string[] },
): Promise<number> {
  const known = [...(theirs === null ? [] : [theirs]), `--remotes=${remote}`]
  return Number(await git.text(['rev-list', '--count', tip, '--not', ...known, ...paths]))
}

/** What a new branch of the remote is compared with: a commit that the remote has on another branch, or nothing. */
export async function pushedBase(git: MemoryGit, tip: string, remote: string): Promise<string> {
  const args = ['rev-list', '--boundary', '--topo-order', tip, '--not', `--remotes=${remote}`]
  const listed = await git.text(args)
  return /^-([0-9a-f]+)$/m.exec(listed)?.[1] ?? emptyTree(git)
}

export async function countCommits(
  git: MemoryGit,
  tip: string,
  without: string | null,
): Promise<number> {
  const range = without === null ? tip : `${without}..${tip}`
  return Number(await git.text(['rev-list', '--count', range]))
}

export function caseIdsIn(
  { prefix }: MemoryGit,
  changes: readonly Pick<TreeChange, 'path'>[],
): string[] {
  const start = `${prefix}cases/`
  const ids = changes.flatMap(({ path }) =>
    path.startsWith(start)
      ? (/^[0-9a-f-]{36}(?=\/)/.exec(path.slice(start.length))?.[0] ?? [])
      : [],
  )
  return [...new Set(ids)].sort()
}

const RESTORED = 'deleted on one side and changed on the other, so it stays'

/** The cases that were deleted here, and that others have restored in a merge, as its message says. */
export async function restoredByOthers(
  git: MemoryGit,
  ours: string | null,
  theirs: string,
  incoming: readonly TreeChange[],
): Promise<MergeReport['restored']> {
  const added = incoming.filter(({ path, before }) => !before && path.endsWith('/case.md'))
  if (ours === null || added.length === 0) return []
  const messages = await git.text(['log', '--merges', '--format=%B', `${ours}..${theirs}`])
  const restored: MergeReport['restored'] = []
  for (const { path } of added) {
    const [case_id] = caseIdsIn(git, [{ path }])
    if (!messages.includes(`${case_id}: ${RESTORED}\n`)) continue
    const known = await git.text(['rev-list', '-1', ours, '--', `:(top,literal)${path}`])
    if (known !== '') restored.push({ case_id: case_id! })
  }
  return restored
}

export function mergeMessage(
  upstream: string,
  { copies, renumbered, restored }: MergeReport,
): string {
  const lines = [
    ...renumbered.map(
      ({ case_id, from, to }) => `${case_id}: session ${from} is now session ${to}`,
    ),
    ...restored.map(({ case_id }) => `${case_id}: ${RESTORED}`),
    ...copies.map(({ copy }) => `conflict copy: ${copy}`),
  ]
  return [`Merge the cases of ${upstream}`, ...(lines.length > 0 ? ['', ...lines] : []), ''].join(
    '\n',
  )
}
