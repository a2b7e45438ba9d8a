/** What the console and the terminal say about a worktree to an operator who has to decide. */

import { counted, firstOf } from '../model/amounts.ts'
import type { HistoryEntry } from '../model/history.ts'
import type { WorktreeView } from './worktree-view.ts'

/** As the API has it. */
type Facts = {
  readonly [Name in keyof WorktreeView]: WorktreeView[Name] extends string[]
    ? readonly string[]
    : WorktreeView[Name]
}

const SHOWN = 5

export function named(names: readonly string[]): string {
  return firstOf(names, SHOWN)
}

/** Where the work is, in one sentence. */
export function standingText(view: Facts): string {
  const { state, ahead, behind, is_running, path } = view
  const onto = view.onto ?? 'the working folder'
  if (is_running) return 'The session is working there now.'
  if (state === 'applied') return `Applied: ${onto} has all its commits.`
  if (state === 'missing' && ahead === 0)
    return 'The worktree is not on this machine: it was discarded, or made on another one.'
  const has = ahead === 0 ? 'It has no commit' : `It has ${counted(ahead, 'commit')}`
  const since = behind === 0 ? '' : `; ${onto} has ${counted(behind, 'commit')} since it began`
  return `${has}${since}.${path === null ? ' Its folder is gone, its branch is not.' : ''}`
}

/** That the work of a session is not in the working folder yet; null if it is, or if there is none. */
export function unappliedText({
  number,
  worktree,
}: {
  readonly number: number
  readonly worktree: Facts | null
}): string | null {
  if (worktree === null) return null
  const { state, ahead, is_running, onto, branch } = worktree
  if (state === 'applied' || ahead === 0 || is_running) return null
  const where = `${onto ?? 'the working folder'}${state === 'missing' ? ', its worktree was discarded' : ' yet'}`
  return `The work of session ${number} is not in ${where}: ${counted(ahead, 'commit')} on ${branch}.`
}

/** What the history of the case says of the worktree that a session had. */
export interface WorktreeActs {
  applied: { at: string; commit: string } | null
  discarded: { at: string; text: string } | null
}

/** Reads what became of a branch; a session of this number may have had another one before. */
export function worktreeActs(
  history: readonly HistoryEntry[],
  session: number,
  branch: string,
): WorktreeActs {
  const acts: WorktreeActs = { applied: null, discarded: null }
  for (const { act, at, text } of history) {
    if (act?.name !== 'work_applied' && act?.name !== 'worktree_discarded') continue
    if (at === null || act.session !== session) continue
    if (!text?.startsWith(`branch ${branch}`)) continue
    if (!/^[ ,]?$/.test(text.charAt(`branch ${branch}`.length))) continue
    if (act.name === 'work_applied') acts.applied = { at, commit: act.commit }
    else acts.discarded = { at, text }
  }
  return acts
}

/** What a terminal runs to merge a branch that the service cannot merge; null for a name that a shell may read. */
export function mergeCommand(branch: string): string | null {
  return /^[\w/][\w./-]*$/.test(branch) ? `git merge ${branch}` : null
}

/** Why it cannot be applied now, and what to do; null if it can. */
export function applyObjection(view: Facts): string | null {
  const { state, ahead, onto, branch, conflicts, uncommitted, is_running } = view
  if (is_running) return null
  if (state === 'applied') return `It was applied already: ${onto} has all commits of ${branch}.`
  if (state === 'missing') {
    if (ahead === 0) return `It was applied or discarded already: ${branch} has nothing to apply.`
    return `It was discarded; its branch ${branch} has ${counted(ahead, 'commit')}: ${mergeCommand(branch) ?? 'merge it'}`
  }
  if (ahead === 0) return 'There is nothing to apply: its branch has no commit.'
  if (onto === null)
    return 'The working folder has no branch checked out. Run git switch <branch> there, then apply.'
  if (conflicts.length > 0)
    return `It conflicts with ${onto} in ${named(conflicts)}. Merge the branch in a terminal, or discard it and plan again.`
  if (uncommitted.length > 0)
    return `Its folder has changes that no commit has, made after the session ended: ${named(uncommitted)}. Commit or undo them there, then apply.`
  return null
}

export function applyText({ ahead, onto, branch }: Facts): string {
  return `Merges ${counted(ahead, 'commit')} of ${branch} into ${onto} and updates the files in your working folder. Files with uncommitted changes are never overwritten. The worktree stays.`
}

export function discardText({ state, ahead, branch, ignored, uncommitted }: Facts): string {
  const isKept = state !== 'applied' && ahead > 0
  const kept =
    uncommitted.length > 0
      ? `What is not committed (${named(uncommitted)}) is committed on ${branch} first, and the branch stays.`
      : isKept
        ? `The branch ${branch} stays, with ${counted(ahead, 'commit')} that may be nowhere else.`
        : `The branch ${branch} goes too, if another branch has all its commits.`
  const lost = ignored.length === 0 ? '' : ` Files that git ignores are deleted: ${named(ignored)}.`
  return `Removes the folder. ${kept}${lost}`
}
