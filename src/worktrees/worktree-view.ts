/** What the operator sees of a worktree. Read from git, and kept for a moment, as a page asks several times. */

import type { Session } from '../model/session.ts'
import { lastOf } from '../model/trail.ts'
import { workingFolder } from '../settings/workdir.ts'
import type { FoundFolders } from '../settings/workspace-folders.ts'
import { kindAt } from '../snapshots/worktree.ts'
import {
  openWorktreeNotes,
  type WorktreeNote,
  type WorktreeNotes,
  worktreePaths,
} from '../snapshots/worktree-notes.ts'
import {
  type BranchStatus,
  branchStatus,
  isUnmerged,
  type LooseFiles,
  looseFiles,
} from '../snapshots/worktree-status.ts'

export const WORKTREE_STATES = ['kept', 'applied', 'missing'] as const

export interface WorktreeView {
  branch: string
  /** The commit that it began from. */
  base: string
  /** The branch's last commit; null while the session executes, and without the branch. */
  head: string | null
  /** The branch that is checked out in the working folder. */
  onto: string | null
  behind: number
  ahead: number
  /** Files that cannot be merged, as both branches changed them; up to 100 names. */
  conflicts: string[]
  /** What no commit has, up to 100 names. */
  uncommitted: string[]
  /** What git ignores there, up to 100 names. */
  ignored: string[]
  /** Null once it is gone. */
  path: string | null
  /** `applied`: all its commits are on the branch of the working folder. `missing`: it is not on this machine. */
  state: (typeof WORKTREE_STATES)[number]
  /** The session executes in it. */
  is_running: boolean
  /** Why git cannot say what is not committed; null if it can. */
  reason: string | null
}

export interface WorktreeReaders {
  /** Null for a session that has had no worktree. The working folder may have the branch of one that is gone. */
  view(session: Session, workdir: string | null): Promise<WorktreeView | null>
}

export type Workspace = Pick<FoundFolders, 'root' | 'settings'>

const GOOD_FOR_MS = 1000
const MAX_NAMES = 100

export function createWorktreeViews(
  notes: WorktreeNotes,
  isRunningHere: (sessionId: string) => boolean,
  { root, settings }: Workspace,
) {
  const cache = new Map<string, { at: number; of: string; view: Promise<WorktreeView> }>()

  async function fresh(note: WorktreeNote): Promise<WorktreeView> {
    const { tree } = worktreePaths(notes.root, note)
    const isRunning = note.stage === 'making' || note.stage === 'running'
    const [status, isThere] = await Promise.all([
      branchStatus(note.top, note.branch),
      kindAt(tree).then((kind) => kind === 'folder'),
    ])
    // git must not run with settings that a session which executes can write
    const isLive = isRunning && isRunningHere(note.session_id)
    const loose =
      isLive || note.stage === 'making' || !isThere || status === null
        ? { uncommitted: [], ignored: [], reason: null }
        : await looseOrWhy(note)
    return {
      ...viewOf(note, status),
      ...(isRunning ? { head: null, ahead: 0, conflicts: [] } : {}),
      uncommitted: loose.uncommitted.slice(0, MAX_NAMES),
      ignored: loose.ignored.slice(0, MAX_NAMES),
      path: isThere ? tree : null,
      state: isRunning ? 'kept' : stateOf(note, status, isThere),
      is_running: isLive,
      reason: loose.reason,
    }
  }

  /** One worktree that git cannot read must not take away the others. */
  async function looseOrWhy(note: WorktreeNote): Promise<LooseFiles & { reason: string | null }> {
    try {
      return { ...(await looseFiles(notes, note)), reason: null }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return { uncommitted: [], ignored: [], reason: error.message.split('\n')[0]! }
    }
  }

  /** Each git takes a part of a second from other answers, so several pages share one look. */
  function recent(id: string, key: readonly unknown[], read: () => Promise<WorktreeView>) {
    const of = JSON.stringify(key)
    const known = cache.get(id)
    if (known?.of === of && performance.now() - known.at < GOOD_FOR_MS) return known.view
    const view = read()
    cache.set(id, { at: performance.now(), of, view })
    view.catch(() => cache.delete(id))
    return view
  }

  function lately(note: WorktreeNote): Promise<WorktreeView> {
    const { session_id } = note
    // not across a move from one stage to the next: its end is to be seen at once
    return recent(session_id, [note, isRunningHere(session_id)], () => fresh(note))
  }

  /** Of a session without a worktree on this machine. */
  function ofTrail({ id, trail }: Session, workdir: string | null) {
    const { branch, base } = lastOf(trail, 'worktree_made')?.fields ?? {}
    if (typeof branch !== 'string' || typeof base !== 'string') return null
    const commit = lastOf(trail, 'worktree_committed')?.fields.commit
    return recent(id, [branch, base, commit, workdir], async () => {
      const { folders } = await settings()
      const top = await workingFolder(root, workdir, folders).catch(() => null)
      // a branch of that name may be of another session by now
      const isItsOwn = top !== null && (await isUnmerged(top, branch, commit))
      return {
        ...viewOf({ branch, base }, isItsOwn ? await branchStatus(top, branch) : null),
        uncommitted: [],
        ignored: [],
        path: null,
        state: 'missing',
        is_running: false,
        reason: null,
      }
    })
  }

  return {
    fresh,
    lately,
    async of(session: Session, workdir: string | null): Promise<WorktreeView | null> {
      if (session.isolation !== 'worktree') return null
      const note = await notes.read(session.id)
      return note === null ? ofTrail(session, workdir) : lately(note)
    },
    forget: (sessionId: string) => void cache.delete(sessionId),
  }
}

function viewOf(
  { branch, base }: Pick<WorktreeNote, 'branch' | 'base'>,
  status: BranchStatus | null,
) {
  const { head = null, onto = null, behind = 0, ahead = 0, conflicts = [] } = status ?? {}
  return {
    branch,
    base,
    head,
    onto,
    behind,
    ahead,
    conflicts: conflicts.slice(0, MAX_NAMES),
  }
}

function stateOf(
  { base }: WorktreeNote,
  status: BranchStatus | null,
  isThere: boolean,
): WorktreeView['state'] {
  if (status?.head && status.head !== base && status.ahead === 0) return 'applied'
  return isThere ? 'kept' : 'missing'
}

/** The parts that only read. */
export function readWorktrees(stateRoot: string, workspace: Workspace): WorktreeReaders {
  return { view: createWorktreeViews(openWorktreeNotes(stateRoot), () => false, workspace).of }
}
