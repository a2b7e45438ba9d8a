/**
 * The worktrees of isolated sessions on this machine: shows them, merges their work into the branch of the working
 * folder, and removes them. Nothing that exists only in a worktree is removed with it.
 */

import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { removeTempFiles } from '../files/temp-files.ts'
import { firstOf } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, sessionOf } from '../model/case-contents.ts'
import type { Actor, TimedAct } from '../model/history.ts'
import { actText } from '../model/history-act.ts'
import type { Session } from '../model/session.ts'
import { hasEnded } from '../model/session-state.ts'
import { keepWork } from '../sessions/isolation.ts'
import type { WhileFree } from '../sessions/session-jobs.ts'
import type { WorkspaceFolders } from '../settings/workspace-folders.ts'
import { openWorktreeNotes, type WorktreeNote, worktreePaths } from '../snapshots/worktree-notes.ts'
import { commitsOnlyOn, removeWorktree } from '../snapshots/worktree-removal.ts'
import { looseFiles } from '../snapshots/worktree-status.ts'
import type { Store } from '../workspace/store.ts'
import { applyBranch, recoverApply } from './apply.ts'
import { createWorktreeViews, type WorktreeReaders } from './worktree-view.ts'

export interface WorktreesDeps {
  store: Pick<Store, 'read' | 'appendHistory'>
  /** Sessions that plan or work in this process. */
  isRunningHere(sessionId: string): boolean
  sessions: { whileFree: WhileFree }
  now(): string
  log(line: string): void
}

export interface Discarded {
  /** Null if the branch went too, because all its commits are on another one. */
  branch_kept: string | null
  /** How many commits only that branch has. */
  commits_kept: number
}

export interface Worktrees extends WorktreeReaders {
  /** Merges the branch of a session into the branch of the working folder. */
  apply(
    caseId: string,
    id: string,
    asked: Asked,
  ): Promise<{ contents: CaseContents; commit: string }>
  discard(caseId: string, id: string, asked: Asked): Promise<{ contents: CaseContents } & Discarded>
  /** Undoes or ends what a service that died had begun. Call it at start, before anything is read. */
  recover(): Promise<void>
  /** Writes the history of what `recover` found done. Call it when all cases are read. */
  recoverHistory(): Promise<void>
}

interface Asked {
  by: Actor
  /** The commit of the branch that the operator has seen. */
  head?: string | undefined
}

export function createWorktrees(folders: WorkspaceFolders, deps: WorktreesDeps): Worktrees {
  const { store } = deps
  const notes = openWorktreeNotes(folders.state.root)
  const views = createWorktreeViews(notes, deps.isRunningHere, folders)
  const order = createKeyedMutex()
  const applied: WorktreeNote[] = []

  /** The worktree of a session that has ended, with everything in it committed. */
  async function readyNote(session: Session, { head }: Asked): Promise<WorktreeNote> {
    const note = await notes.read(session.id)
    if (note === null) throw noWorktree(session)
    if (deps.isRunningHere(session.id) || !hasEnded(session.state)) {
      throw new AppError(
        'wrong_state',
        `Session ${session.number} has not ended (${session.state}), so its branch is not complete. Wait for its end, or abandon it.`,
      )
    }
    const kept = note.stage === 'running' ? await keepNow(note, session) : note
    const present = (await views.fresh(kept)).head
    if (head !== undefined && head !== present) {
      throw new AppError(
        'changed_meanwhile',
        `The branch ${note.branch} is now at ${present?.slice(0, 12) ?? 'no commit'}, not at ${head.slice(0, 12)}, which you saw. Look at it again, then decide.`,
      )
    }
    return kept
  }

  /** Commits everything that can be. */
  async function keepNow(note: WorktreeNote, session: Session): Promise<WorktreeNote> {
    const { note: kept } = await readable(note, keepWork(folders, note, session))
    await notes.write(kept)
    return kept
  }

  /** Git's message, for the operator, if it cannot read or commit what is in a worktree. */
  async function readable<T>(note: WorktreeNote, asked: Promise<T>): Promise<T> {
    try {
      return await asked
    } catch (error) {
      if (error instanceof AppError || !(error instanceof Error)) throw error
      throw new AppError(
        'wrong_state',
        `Nothing was changed: git cannot read or commit the worktree of session ${note.number} (${error.message.split('\n')[0]}). Correct that in ${worktreePaths(notes.root, note).tree}, then try again.`,
      )
    }
  }

  function change<T>(
    caseId: string,
    id: string,
    work: (session: Session) => Promise<T>,
  ): Promise<T & { contents: CaseContents }> {
    return order.run(id, async () => {
      const session = sessionOf(await store.read(caseId), id)
      try {
        const result = await work(session)
        return { ...result, contents: await store.read(caseId) }
      } finally {
        views.forget(id)
      }
    })
  }

  return {
    view: views.of,
    apply: (caseId, id, asked) =>
      change(caseId, id, async (session) => {
        const note = await readyNote(session, asked)
        const { uncommitted } = await readable(note, looseFiles(notes, note))
        if (uncommitted.length > 0) {
          throw new AppError(
            'wrong_state',
            `The worktree of session ${session.number} has changes that were made after its end and are in no commit: ${firstOf(uncommitted, 10)}. Commit them on the branch ${note.branch}, or undo them, then apply it.`,
            { extra: { files: uncommitted } },
          )
        }
        return deps.sessions.whileFree(note.top, session, async () => {
          const { commit, onto } = await applyBranch(notes, note, {
            session,
            by: asked.by,
          })
          await store.appendHistory(
            caseId,
            () => [appliedAct(note, onto, commit, deps.now())],
            asked.by,
          )
          await notes.write({ ...note, applying: null })
          return { commit }
        })
      }),
    discard: (caseId, id, asked) =>
      change(caseId, id, async (session) => {
        const ready = await readyNote(session, asked)
        const note = await keepNow(ready, session)
        const { uncommitted } = await readable(note, looseFiles(notes, note))
        if (uncommitted.length > 0) {
          throw new AppError(
            'wrong_state',
            `Nothing was removed: the worktree of session ${session.number} has what no commit can keep: ${firstOf(uncommitted, 10)}. Move it elsewhere, then discard the worktree.`,
            { extra: { files: uncommitted } },
          )
        }
        const only = await commitsOnlyOn(note)
        const result = { branch_kept: only > 0 ? note.branch : null, commits_kept: only }
        await store.appendHistory(caseId, () => [discardedAct(note, result, deps.now())], asked.by)
        await notes.write({ ...note, stage: 'removing', since: Date.now() })
        await removeWorktree(notes, note)
        return result
      }),
    async recover() {
      await removeTempFiles([notes.root])
      for (const note of await notes.all()) {
        if (note.applying === null) continue
        try {
          if (await recoverApply(note, note.applying)) applied.push(note)
          else await notes.write({ ...note, applying: null })
        } catch (error) {
          deps.log(
            `the merge of ${note.branch} that a service which died had begun is not in order yet: ${String(error)}`,
          )
        }
      }
    },
    async recoverHistory() {
      for (const note of applied.splice(0)) {
        const { to, who, via } = note.applying!
        const by: Actor = { who, from: via as Actor['from'] }
        const act = appliedAct(note, null, to, deps.now())
        await store
          .appendHistory(
            note.case_id,
            ({ history = [] }) =>
              history.some(({ what }) => what === actText(act.act)) ? [] : [act],
            by,
          )
          .catch((error: unknown) => deps.log(`not in the history: ${String(error)}`))
        await notes.write({ ...note, applying: null })
      }
    },
  }

  function noWorktree({ number, isolation }: Session): AppError {
    const why = isolation
      ? 'has no worktree on this machine: it was discarded, not made yet, or made on another machine'
      : 'does not work in a worktree'
    return new AppError('wrong_state', `Session ${number} ${why}.`)
  }
}

function appliedAct(note: WorktreeNote, onto: string | null, commit: string, at: string): TimedAct {
  const text = `branch ${note.branch}${onto === null ? '' : ` into ${onto}`}`
  const session = note.number
  return { at, act: { name: 'work_applied', session, commit: commit.slice(0, 8) }, text }
}

function discardedAct(
  note: WorktreeNote,
  { branch_kept, commits_kept }: Discarded,
  at: string,
): TimedAct {
  const text =
    branch_kept === null
      ? `branch ${note.branch} removed, all its commits are on another branch`
      : `branch ${branch_kept} kept, ${commits_kept === 1 ? 'a commit is' : `${commits_kept} commits are`} only there`
  return { at, act: { name: 'worktree_discarded', session: note.number }, text }
}
