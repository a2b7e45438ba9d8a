/** Approved sessions that wait in line for their working folder. */

import { setTimeout as delay } from 'node:timers/promises'
import { plainText } from '../files/plain-text.ts'
import { findUncommitted, type Uncommitted } from '../git/uncommitted.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { isClosedState } from '../model/attention.ts'
import { type CaseContents, type Decide, sessionOf, shownState } from '../model/case-contents.ts'
import { abandon, caseMove, leaveLine } from '../model/decide-session.ts'
import type { EventFields } from '../model/events.ts'
import type { Session } from '../model/session.ts'
import { lastOf } from '../model/trail.ts'
import type { SessionDeps } from './deps.ts'
import { type Job, type Jobs, type Standing, updateWithRetry } from './jobs.ts'
import { type ApprovedPlan, execute, type Worker } from './work-mode.ts'

/** What was approved. */
export interface Waiting {
  session: Session
  approved: Omit<ApprovedPlan, 'start'>
  /** The state of the case was a closed one at the approval. */
  wasClosed: boolean
  /** Checks again whether the plan can be carried out. Rejects if it cannot. */
  prepare(): Promise<{ folder: string; worker: Worker }>
}

/** What the record says about the folder that the job waits for. Throws `folder_busy` if git does not know the folder. */
export async function queuedBase(
  { layout }: Pick<SessionDeps, 'layout'>,
  folder: string,
  standing: Standing | null,
): Promise<QueuedBase> {
  const base = await findUncommitted(folder, [layout.memoryRoot])
  if (!('reason' in base)) return base
  const first = standing?.obstacle?.by[0].job
  throw new AppError(
    'folder_busy',
    `The working folder is not free, and a session can wait in line only in a git repository: its record has to say from which commit it was approved (${base.reason}). Approve the plan again when the other session has ended.`,
    first ? { extra: { running: { case_id: first.case_id, session_id: first.session_id } } } : {},
  )
}

/** The fields of the line that says what a session waits for. */
export function queuedFields(
  { catalog }: Pick<SessionDeps, 'catalog'>,
  standing: Standing | null,
  { head, branch, changes }: QueuedBase,
): Omit<EventFields<'queued'>, 'comments'> {
  const first = standing?.obstacle?.by[0].job
  const waits_for = first && {
    case_id: first.case_id,
    session_id: first.session_id,
    number: first.number,
    title: catalog.row(first.case_id)?.title ?? first.case_id,
  }
  return {
    waits_for: waits_for ?? null,
    head,
    ...(branch === null ? {} : { branch }),
    uncommitted: changes.length,
  }
}

/**
 * Waits until the folder is free, then carries out the plan, unless it can no longer be: then it waits for approval again,
 * with the reason. What changed in the folder meanwhile is for the record to say (`base_recorded`).
 */
export async function runInTurn(
  deps: SessionDeps,
  jobs: Jobs,
  job: Job,
  waiting: Waiting,
): Promise<void> {
  let hasStarted = false
  let why = ''
  try {
    await jobs.turn(job)
    if (job.ending === null) {
      const { worker, folder } = await waiting.prepare()
      if (folder !== job.folder)
        throw changedError('The working folder of the case is another one now.')
      await execute(deps, job, worker, {
        ...waiting.approved,
        async start(decide) {
          const contents = await start(deps, job, waiting, decide)
          hasStarted = true
          return contents
        },
      })
    }
  } catch (error) {
    if (hasStarted) throw error
    if (!(error instanceof AppError) && job.ending === null)
      deps.log(`session ${job.number} left the line: ${String(error)}`)
    why = error instanceof Error ? error.message : String(error)
  }
  if (hasStarted) return
  job.release()
  await back(deps, job, waiting, why)
  job.planned = true
  await deps.runs.remove(job.session_id)
}

/** The commit, and what is not committed. */
export type QueuedBase = Exclude<Uncommitted, { reason: string }>

const changedError = (message: string) => new AppError('wrong_state', message)

const BRIEF_MS = 5_000
const PAUSE_MS = 200

/** Records the start, unless something has changed; errors that pass in a moment are tried again. */
async function start(
  { store }: Pick<SessionDeps, 'store'>,
  job: Job,
  { session, approved, wasClosed }: Waiting,
  decide: Decide,
): Promise<CaseContents> {
  const began = performance.now()
  for (;;) {
    try {
      return await store.update(
        job.case_id,
        (contents) => {
          if (job.ending !== null) throw changedError('It was stopped before it started.')
          if (contents.texts?.plan !== approved.plan)
            throw changedError('The plan in its file is not the approved one any more.')
          const state = shownState(contents)
          if (isClosedState(state) && !wasClosed)
            throw changedError(`The state of its case is ${state} now.`)
          const edits = [...decide(contents), ...caseMove(contents, 'approved', session.type)]
          job.inLine = false
          return edits
        },
        { texts: job.session_id },
      )
    } catch (error) {
      const isBrief =
        error instanceof AppError && ['changed_meanwhile', 'git_busy'].includes(error.code)
      if (!isBrief || job.ending !== null || performance.now() - began > BRIEF_MS) throw error
    }
    await delay(PAUSE_MS)
  }
}

/** The end of the wait without a start. */
async function back(
  deps: SessionDeps,
  job: Job,
  { approved }: Waiting,
  why: string,
): Promise<void> {
  const { store, now } = deps
  const by = job.endedBy ? { by: job.endedBy } : {}
  if (job.ending === 'abandon') {
    const decide: Decide = (contents) => abandon(contents, job.session_id, job.reason, now())
    await updateWithRetry(store, job, decide, by)
    return
  }
  const reason =
    job.ending === 'stop'
      ? 'The service was stopped while the session waited in line.'
      : job.ending === 'leave_line'
        ? 'Taken out of the line.'
        : deps.redactor.text(plainText(why))
  const update = (decide: Decide) =>
    updateWithRetry(store, job, decide, { texts: job.session_id, ...by })
  await leave(deps, job, { reason, update, planSha256: sha256(approved.plan) })
}

/** The same for a session whose service died while it waited. */
export async function backFromLine(
  deps: SessionDeps,
  { case_id, id, trail }: Session,
  { reason }: { reason: string },
): Promise<void> {
  const update = (decide: Decide) => deps.store.update(case_id, decide, { texts: id })
  const planSha256 = String(lastOf(trail, 'plan_approved')?.fields.plan_sha256)
  await leave(deps, { case_id, session_id: id }, { reason, update, planSha256 })
}

async function leave(
  { now, plans, touchedInRun }: Pick<SessionDeps, 'now' | 'plans' | 'touchedInRun'>,
  { session_id }: Pick<Job, 'case_id' | 'session_id'>,
  {
    reason,
    update,
    planSha256,
  }: {
    reason: string
    update: (decide: Decide) => Promise<CaseContents>
    planSha256: string
  },
): Promise<void> {
  let plan = ''
  await update((contents) => {
    // a person may have ended it in the file meanwhile
    if (sessionOf(contents, session_id).state !== 'approved') return []
    plan = contents.texts?.plan ?? ''
    const hash = sha256(plan)
    const edited =
      hash === planSha256 ? undefined : { sha256: hash, inRun: touchedInRun.has(session_id) }
    return leaveLine(contents, session_id, { reason, edited }, now())
  })
  if (plan !== '') await plans.store(plan)
}
