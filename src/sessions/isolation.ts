/** Sessions that work in a git worktree of their own: whether one does, where, and what becomes of its work. */

import { join, relative } from 'node:path'
import { isWithin } from '../files/real-path.ts'
import { repositoryFolders } from '../git/repository-folders.ts'
import { AppError } from '../model/app-error.ts'
import { trailerText } from '../model/commit-trailer.ts'
import type { Session } from '../model/session.ts'
import { lastOf, type NewTrailLine, newLine } from '../model/trail.ts'
import { visibleText } from '../model/visible-text.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import { findAgentFiles, searchTop, type TrustedFiles } from '../settings/agent-files.ts'
import { workingFolder } from '../settings/workdir.ts'
import { makeWorktree, unmakeWorktree } from '../snapshots/worktree.ts'
import { commitWorktree } from '../snapshots/worktree-commit.ts'
import { removeLocks } from '../snapshots/worktree-locks.ts'
import { openWorktreeNotes, type WorktreeNote, worktreePaths } from '../snapshots/worktree-notes.ts'
import { isGone, removeWorktree } from '../snapshots/worktree-removal.ts'
import type { SessionDeps } from './deps.ts'
import { mustHaveWorktree } from './isolation-checks.ts'
import type { Job } from './jobs.ts'
import { appendLine } from './run-recorder.ts'
import { clauseAbout, whyUntrusted } from './start-checks.ts'

type IsolationDeps = Pick<SessionDeps, 'layout' | 'state' | 'store' | 'settings' | 'now' | 'log'>
type Run = Pick<Job, 'case_id' | 'session_id' | 'number' | 'ending'> & {
  runId: string
  signal?: AbortSignal
}

/** The mark by which the next start finds and ends what is left of a run. */
const markOf = ({ runId }: { runId: string }) => ({ CASEFILE_RUN: runId })

export interface IsolatedWork {
  /** The top of the worktree. */
  tree: string
  /** Folders that the session must be able to write to. */
  open: string[]
  /** Folders that it must not be able to write to. */
  closed: string[]
  /** The copy of the record in the worktree. */
  exclude: string[]
  /** The objects of the user's repository. */
  objects: string
  /** Variables by which `casefile` finds the workspace, and not its copy in the worktree. */
  env: Record<string, string>
}

/** Makes the worktree of a session that just began to execute, and moves its job there. Null without isolation. */
export async function beginIsolation(
  deps: IsolationDeps,
  job: Job,
  { isolation, case_title, number }: Session,
): Promise<IsolatedWork | null> {
  if (isolation !== 'worktree') return null
  const { layout, state } = deps
  const notes = openWorktreeNotes(state.root)
  const { case: record } = await deps.store.read(job.case_id)
  const { folders } = await deps.settings()
  const workdir = await workingFolder(layout.root, record.workdir, folders)
  const source = await mustHaveWorktree(workdir, layout.memoryRoot)
  const session = { session_id: job.session_id, case_id: job.case_id, number }
  const { note, folder, leftOut } = await makeWorktree(
    notes,
    source,
    { ...session, slug: slugOf(case_title) || job.case_id.slice(0, 8) },
    // an abandoned session ends as one once this is made
    { env: markOf(job) },
  )
  const line = newLine('worktree_made', {
    branch: note.branch,
    base: note.base,
    left_out: leftOut.length === 0 ? undefined : leftOut.slice(0, MAX_NAMED),
  })
  await appendLine(deps, job, line)
  job.folder = folder
  const { tree, own } = worktreePaths(notes.root, note)
  return {
    tree,
    open: [tree, own],
    closed: await repositoryFolders(workdir),
    exclude: note.record === null ? [] : [join(tree, note.record)],
    objects: join(note.common, 'objects'),
    env: { CASEFILE_ROOT: layout.root, CASEFILE_MEMORY_ROOT: layout.memoryRoot },
  }
}

const MAX_NAMED = 20
const MAX_SLUG = 40

function slugOf(title: string): string {
  const plain = title.replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  return words.slice(0, MAX_SLUG).replace(/-$/, '')
}

/**
 * Commits what is in the worktree of a session whose processes have ended, and adds that to its audit trail. A worktree
 * that was not finished is removed. Does nothing without a worktree, and may be repeated.
 */
export async function endIsolation(deps: IsolationDeps, run: Run): Promise<void> {
  const notes = openWorktreeNotes(deps.state.root)
  const note = await notes.read(run.session_id)
  if (note?.stage === 'making') await unmakeWorktree(notes, note)
  if (note?.stage !== 'running') return
  const contents = await deps.store.read(run.case_id).catch(ifDeleted)
  const session = contents?.sessions.find(({ id }) => id === run.session_id) ?? null
  const made = await keepWork(deps, note, session, run)
  const { head, commits, others, reason } = made
  const isKnown =
    session === null || lastOf(session.trail, 'worktree_committed')?.fields.commit === head
  if (!isKnown && (commits > 0 || others.length > 0 || reason !== null)) {
    const more = {
      ...(others.length === 0 ? {} : { others }),
      ...(reason === null ? {} : { reason: visibleText(reason) }),
    }
    const line: NewTrailLine = {
      event: 'worktree_committed',
      fields: { commit: head, commits, ...more },
    }
    await appendLine(deps, run, line)
  }
  await notes.write(made.note)
}

/** The same; a clause that says why it failed, or null. The worktree stays as it is then. */
export async function whyNotKept(deps: IsolationDeps, run: Run): Promise<string | null> {
  try {
    await endIsolation(deps, run)
    return null
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    deps.log(
      `the worktree of session ${run.number} of case ${run.case_id} was not committed: ${why}`,
    )
    return `what it changed could not be committed in its worktree: ${why.split('\n')[0]}`
  }
}

function ifDeleted(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_found') return null
  throw error
}

/** Commits everything in a worktree; the caller writes the note. */
export async function keepWork(
  { state }: Pick<SessionDeps, 'state'>,
  note: WorktreeNote,
  session: Session | null,
  run?: { runId: string },
) {
  const end = { scratch: state.scratch, message: messageOf(note, session) }
  return commitWorktree(openWorktreeNotes(state.root), note, end, run ? { env: markOf(run) } : {})
}

function messageOf({ case_id, number, stage }: WorktreeNote, session: Session | null): string {
  const title = visibleText(session?.case_title ?? 'A case')
    .replace(/\s+/g, ' ')
    .slice(0, 80)
  const subject = `${title.toWellFormed()} (session ${number})`
  // not by the session, so no trailer says that its plan made this
  if (stage === 'kept') return `${subject}, later\n\nWhat was in its worktree after its end.\n`
  const plan = session && lastOf(session.trail, 'plan_approved')?.fields.plan_sha256
  const trailer =
    typeof plan === 'string' ? [trailerText({ case_id, session: number, plan_sha256: plan })] : []
  const about = 'What the session had not committed at its end.'
  return [subject, '', about, '', ...trailer, ''].join('\n')
}

/** Puts the worktrees in order that a service which died had not finished to make, to keep or to remove. */
export async function recoverIsolation(
  deps: IsolationDeps,
  isOpen: (sessionId: string) => boolean,
): Promise<void> {
  const notes = openWorktreeNotes(deps.state.root)
  for (const note of await notes.all()) {
    try {
      if (note.stage === 'removing') await removeWorktree(notes, note)
      // a person removed it with git
      else if (note.stage === 'kept' && (await isGone(notes, note)))
        await notes.remove(note.session_id)
      // of an apply or discard
      else if (note.stage === 'kept') await removeLocks(note, worktreePaths(notes.root, note))
      else if (!isOpen(note.session_id))
        await endIsolation(deps, { ...note, ending: 'stop', runId: note.session_id })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      deps.log(
        `the worktree of session ${note.number} of case ${note.case_id} is not in order yet: ${why}`,
      )
    }
  }
}

/** Like `whyUntrusted`, for the folder of a job: a file in a worktree is trusted by its path in the working folder. */
export async function whyUntrustedAt(
  { layout, state }: Pick<SessionDeps, 'layout' | 'state'>,
  job: Pick<Job, 'session_id'>,
  spec: AgentSpec,
  { folder, trusted }: { folder: string; trusted: TrustedFiles },
): Promise<string | null> {
  const notes = openWorktreeNotes(state.root)
  const note = await notes.read(job.session_id)
  if (note === null) return whyUntrusted(spec, { root: layout.root, folder }, trusted)
  const { tree } = worktreePaths(notes.root, note)
  const found = await findAgentFiles(
    folder,
    await searchTop(layout.root, folder),
    spec.projectFiles,
  )
  const files = found.map((file) =>
    isWithin(tree, file.path) ? { ...file, path: join(note.top, relative(tree, file.path)) } : file,
  )
  return clauseAbout(files, join(note.top, note.prefix), trusted)
}
