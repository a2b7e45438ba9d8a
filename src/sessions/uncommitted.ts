import { resolve } from 'node:path'
import { realPathOf } from '../files/real-path.ts'
import type { GitRepository } from '../git/repository.ts'
import { findUncommitted, type UncommittedChange, uncommittedIn } from '../git/uncommitted.ts'
import { isIsolated, type Session } from '../model/session.ts'
import { hasEnded } from '../model/session-state.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { CaseLists } from '../workspace/index/lists.ts'
import type { Layout } from '../workspace/layout.ts'

/** An uncommitted change, with the session that left it if one did. */
export interface FolderChange extends UncommittedChange {
  left_by: LeftBy | null
}

export interface LeftBy {
  case_id: string
  title: string
  session: Session
}

export interface FolderState {
  /** Null for a detached HEAD. */
  branch: string | null
  /** The commit; null if there is none yet. */
  head: string | null
  changes: FolderChange[]
  /** Whether there are more changes than `changes` has. */
  isCut: boolean
}

export interface FolderStateDeps {
  layout: Pick<Layout, 'root' | 'memoryRoot'>
  catalog: Pick<Catalog, 'folder'>
  lists: Pick<CaseLists, 'triage'>
}

/** Only sessions of that many cases, which need the operator most or changed last, are looked through. */
const MAX_CASES = 100
/** A file system may store times less precisely than the trail. */
const TOLERANCE_MS = 2_000

/**
 * What is not committed in a folder, and which session left it; or why that is not known. `repository`: that of the
 * folder, if it was just asked for.
 */
export async function folderState(
  deps: FolderStateDeps,
  folder: string,
  repository?: GitRepository | { reason: string },
): Promise<FolderState | { reason: string }> {
  const { root, memoryRoot } = deps.layout
  const found = await (repository === undefined
    ? findUncommitted(folder, [memoryRoot])
    : uncommittedIn(repository, folder, [memoryRoot]))
  if ('reason' in found) return found
  if (found.changes.length === 0) return { ...found, changes: [] }
  const authors = lastAuthors(deps, await realPathOf(root))
  const changes = found.changes.map((change) => {
    const author = authors.get(resolve(folder, change.file))
    const isLeft = author && (change.mtimeMs ?? 0) <= Date.parse(author.at) + TOLERANCE_MS
    return { ...change, left_by: isLeft ? author.by : null }
  })
  return { ...found, changes }
}

/** The newest session that changed each file, by absolute path. */
function lastAuthors({ catalog, lists }: FolderStateDeps, root: string) {
  const authors = new Map<string, { at: string; by: LeftBy }>()
  for (const { id } of lists.triage({}, null, MAX_CASES)) {
    const contents = catalog.folder(id)
    if (!contents) continue
    const workdir = resolve(root, contents.case.workdir ?? '.')
    for (const session of contents.sessions) {
      const { diff, completed_at } = session
      if (!diff || completed_at === null || !hasEnded(session.state)) continue
      // what it changed is in a worktree, or was committed when it was applied
      if (isIsolated(session)) continue
      const by = { case_id: id, title: contents.case.title, session }
      for (const { file } of diff.files ?? [diff]) {
        const path = resolve(workdir, file)
        const known = authors.get(path)
        if (!known || known.at < completed_at) authors.set(path, { at: completed_at, by })
      }
    }
  }
  return authors
}

/** What sessions left in a folder, the most files first. */
export function authorsOf(
  changes: readonly Pick<FolderChange, 'left_by'>[],
): { by: LeftBy; files: number }[] {
  const authors = new Map<string, { by: LeftBy; files: number }>()
  for (const { left_by } of changes) {
    if (!left_by) continue
    const known = authors.get(left_by.session.id)
    authors.set(left_by.session.id, { by: left_by, files: (known?.files ?? 0) + 1 })
  }
  return [...authors.values()].sort((a, b) => b.files - a.files)
}
