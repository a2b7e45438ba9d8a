import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../model/app-error.ts'
import type { CaseFolder, Edit } from '../model/case-folder.ts'
import { isOver as isOverState, isRunning } from '../model/session-state.ts'
import { killRun } from '../runners/process/kill-run.ts'
import type { SessionDeps } from './deps.ts'
import { createJobs, type Job, type Jobs } from './jobs.ts'
import { failSession } from './recovery.ts'
import { retryWhileUnwritable } from './update-with-retry.ts'

/** Starts and cleans up the job of a session, whatever the job does. */
export interface SessionJobs {
  jobs: Jobs
  /** Registers a job and writes its run record before anything else. */
  start(newJob: Pick<Job, 'case_id' | 'session_id' | 'number' | 'kind' | 'folder'>): Promise<Job>
  begin(job: Job, change: Change): Promise<CaseFolder>
}

/** The first update of a job. It must pass its edits through `decided`. */
export type Change = (decided: (edits: Edit[]) => Edit[]) => Promise<CaseFolder>

/** How long a failed request waits for the end of a job that it already began. */
const BEGIN_ENDS_MS = 2000

export function createSessionJobs(deps: SessionDeps): SessionJobs {
  const { runs, newId } = deps
  const jobs: Jobs = createJobs({
    running: deps.running,
    onChange: (caseId) => deps.catalog.touch(caseId),
    isOver,
    onFailure: failed,
    log: deps.log,
  })
  // the end is recorded, although the job is still cleaning up
  deps.changes.subscribe((change) => {
    if (change.kind !== 'session' || !change.after) return
    if (isOverState(change.after.state)) deps.running.delete(change.after.id)
  })

  async function start(newJob: Pick<Job, 'case_id' | 'session_id' | 'number' | 'kind' | 'folder'>) {
    const job = await jobs.open({ ...newJob, runId: newId() })
    const { session_id, case_id, number, runId } = job
    try {
      await runs.write({
        session_id,
        case_id,
        number,
        mark: runId,
        process: null,
        agent_session: null,
      })
    } catch (error) {
      jobs.close(job)
      throw error
    }
    return job
  }

  /**
   * Makes the first change of a job. If the change is rejected, nothing of the job remains. If it failed after its
   * first edit (for example on a full disk), the session is ended.
   */
  async function begin(job: Job, change: Change): Promise<CaseFolder> {
    let began = false
    try {
      return await change((edits) => {
        began = true
        return edits
      })
    } catch (error) {
      const state = stateOf(job)
      if (began && state !== undefined && isRunning(state)) {
        const ended = failed(job, error).finally(() => jobs.close(job))
        // answer the request even if the disk cannot record the end now
        await Promise.race([ended, delay(BEGIN_ENDS_MS, null, { ref: false })])
      } else {
        await runs.remove(job.session_id).finally(() => jobs.close(job))
      }
      throw error
    }
  }

  const stateOf = ({ case_id, number }: Job) =>
    deps.catalog.entry(case_id)?.sessions.get(number)?.value?.state

  function isOver(job: Job): boolean {
    const state = stateOf(job)
    return job.planned || (state !== undefined && isOverState(state))
  }

  /**
   * Ends the session of a job that could not record its own end: as soon as that can be written, else at the next
   * start.
   */
  async function failed(job: Job, error: unknown): Promise<void> {
    deps.log(failureLine(job, error))
    await killRun(job)
    const why = error instanceof AppError ? error.message : String(error)
    try {
      await retryWhileUnwritable(job, () => deps.runGuard.end(job.session_id))
      await retryWhileUnwritable(job, () =>
        failSession(deps, job, () => `The service could not continue: ${why}`),
      )
      await retryWhileUnwritable(job, () => runs.remove(job.session_id))
    } catch (again) {
      deps.log(failureLine(job, again))
    }
  }

  return { jobs, start, begin }
}

function failureLine(job: Job, error: unknown): string {
  const what = error instanceof AppError ? error.message : String((error as Error)?.stack ?? error)
  return `session ${job.number} of case ${job.case_id} could not record its ${job.kind}: ${what}`
}
