import { join } from 'node:path'
import { readJsonFile } from '../files/json-file.ts'
import type { Layout } from '../workspace/layout.ts'
import { countCommits, countUnpushed } from './commits.ts'
import { findUpstream, isShared, openMemoryGit } from './memory-git.ts'
import type { SyncResult, SyncStatus } from './sync-result.ts'
import { mustBeFinished } from './sync-rules.ts'
import { SyncStop } from './sync-stop.ts'
import { below } from './trees.ts'

/** The result of the last sync, in the state folder. */
export function lastResultFile(stateDir: string): string {
  return join(stateDir, 'sync.json')
}

/** Reads where the record is, without asking the remote. Writes nothing. */
export async function readSyncStatus(
  { root, memoryRoot }: Pick<Layout, 'root' | 'memoryRoot'>,
  stateDir: string,
): Promise<SyncStatus> {
  const found: SyncStatus = {
    kind: null,
    branch: null,
    upstream: null,
    reason: null,
    ahead: 0,
    behind: 0,
    uncommitted: 0,
    last: (await readJsonFile(lastResultFile(stateDir))) as SyncResult | null,
  }
  try {
    const git = await openMemoryGit(root, memoryRoot)
    found.kind = git.kind
    const changed = await git.text([
      'status',
      '--porcelain',
      '-z',
      '--no-renames',
      '-uall',
      ...below(git.prefix),
    ])
    const names = changed.split('\0').slice(0, -1)
    found.uncommitted = names.filter((line) => isShared(git, line.slice(3))).length
    const upstream = await findUpstream(git)
    found.branch = upstream.branch
    found.upstream = `${upstream.remote}/${upstream.name}`
    const [head, theirs] = [await git.find('HEAD'), await git.find(upstream.ref)]
    if (head !== null)
      found.ahead = await countUnpushed(git, head, { remote: upstream.remote, theirs })
    if (theirs !== null) found.behind = await countCommits(git, theirs, head)
    mustBeFinished(git)
  } catch (error) {
    if (!(error instanceof SyncStop)) throw error
    found.reason = error.message
  }
  return found
}
