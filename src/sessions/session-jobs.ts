import { setTimeout as delay } from 'node:timers/promises'
import { GitError } from '../git/git-error.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, type Decide, type Edit, sessionOf } from '../model/case-contents.ts'
import { endRun, type RunEnd } from '../model/decide-session.ts'
import type { Session } from '../model/session.ts'
import { hasEnded as hasStateEnded, isActive } from '../model/session-state.ts'
import { lastOf, lineInQueue } from '../model/trail.ts'
import { sweepPipeFolders } from '../runners/enclosure/step-pipes.ts'
import { killRun } from '../runners/process/kill-run.ts'
import type { RunRow } from '../state/runs.ts'
import type { SessionDeps } from './deps.ts'
import { planResults, stepEvidence, testsFields } from './evidence.ts'
import { moveCase } from './finish-run.ts'
import { endIsolation, recoverIsolation } from './isolation.ts'
import {
  createJobs,
  type Job,
  type Jobs,
  type NewJob,
  type Queueing,
  retryWhileUnwritable,
} from './jobs.ts'
import { forgetRun, leftBehind } from './left-behind.ts'
import { outputText } from './output-text.ts'
import { backFromLine } from './queue.ts'
import { noteRunCommits } from './run-commits.ts'

/** Starts and cleans up the job of a session, whatever the job does. */
export interface SessionJobs {
  jobs: Jobs
  /** Registers a job. Its run record is stored before the first change of the session, which must follow. */
  start(newJob: Omit<NewJob, 'runId'>, how?: Queueing): Promise<Job>
  /** `rest` is what may follow the first edit later, if the disk fails between them. */
  begin(job: Job, change: Change, rest?: Decide): Promise<CaseContents>
  whileFree: WhileFree
}

/** Runs `work` while no session executes in the folder, and none starts to. Throws `folder_busy` if one executes. */
export type WhileFree = <T>(
  folder: string,
  session: Pick<Session, 'id' | 'case_id' | 'number'>,
  work: () => Promise<T>,
) => Promise<T>

/** The first update of a job. It must pass its edits through `decided`. */
type Change = (decided: (edits: Edit[]) => Edit[]) => Promise<CaseContents>

/** How long a failed request waits for the end of a job that it already began. */
const BEGIN_ENDS_MS = 2000

export function createSessionJobs(deps: SessionDeps): SessionJobs {
  const { runs, newId } = deps
  const jobs: Jobs = createJobs({
    running: deps.running,
    onChange: (caseId) => deps.catalog.invalidate(caseId),
    hasEnded,
    parallel: async () => (await deps.settings()).parallel,
    titleOf: (caseId) => deps.catalog.row(caseId)?.title ?? caseId,
    onFailure: failed,
    log: deps.log,
  })
  // the end is recorded, although the job is still cleaning up
  deps.caseChanges.subscribe(({ caseId }) => {
    if (deps.running.size === 0) return
    for (const { value } of deps.catalog.entry(caseId)?.sessions.values() ?? [])
      if (value && hasStateEnded(value.state)) deps.running.delete(value.id)
  })

  async function start(newJob: Omit<NewJob, 'runId'>, how?: Queueing) {
    const job = await jobs.open({ ...newJob, runId: newId() }, how)
    const { session_id, case_id, number, runId } = job
    runs.add({ session_id, case_id, number, mark: runId })
    return job
  }

  /**
   * Makes the first change of a job. If the change is rejected, nothing of the job remains. If it failed after its
   * first edit (the disk failed between two files), an approval is withdrawn; a new session is made, and its `rest`
   * follows; another one is ended.
   */
  async function begin(job: Job, change: Change, rest?: Decide): Promise<CaseContents> {
    let began = false
    try {
      return await change((edits) => {
        began = true
        return edits
      })
    } catch (error) {
      const state = stateOf(job)
      if (began && state === 'created' && rest) {
        deps.log(failureLine(job, error))
        retryWhileUnwritable(job, () => deps.store.update(job.case_id, rest)).catch(
          (again: unknown) => deps.log(failureLine(job, again)),
        )
        return deps.catalog.folder(job.case_id)!
      }
      if (began && state !== undefined && isActive(state)) {
        const ended = failed(job, error, state === 'approved').finally(() => jobs.close(job))
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

  function hasEnded(job: Job): boolean {
    const state = stateOf(job)
    return job.planned || (state !== undefined && hasStateEnded(state))
  }

  /**
   * Ends the session of a job that could not record its own end, or withdraws its approval: as soon as that can be
   * written, else at the next start.
   */
  async function failed(job: Job, error: unknown, isWithdrawn = false): Promise<void> {
    deps.log(failureLine(job, error))
    const isOfGit = error instanceof GitError
    const why = error instanceof AppError || isOfGit ? error.message : String(error)
    const stop = isOfGit ? 'The run stopped' : 'The service could not continue'
    try {
      await retryWhileUnwritable(job, () => killRun(job, deps.limits.endRun))
      await retryWhileUnwritable(job, () => deps.runGuard.end(job.session_id))
      await endIsolation(deps, job).catch((error: unknown) => deps.log(failureLine(job, error)))
      await retryWhileUnwritable(job, () =>
        isWithdrawn
          ? withdraw(deps, job, `The approval was not stored: ${why}`)
          : failSession(deps, job, () => `${stop}: ${why}`),
      )
      await retryWhileUnwritable(job, () => forgetRun(deps, job.session_id))
    } catch (again) {
      deps.log(failureLine(job, again))
    }
  }

  const whileFree: WhileFree = async (folder, { id, case_id, number }, work) => {
    const named = { session_id: id, case_id, number }
    const job = await jobs.open({ ...named, runId: newId(), kind: 'work', folder, isolated: false })
    try {
      return await work()
    } finally {
      jobs.close(job)
    }
  }

  return { jobs, start, begin, whileFree }
}

function failureLine(job: Job, error: unknown): string {
  const what = error instanceof AppError ? error.message : String((error as Error)?.stack ?? error)
  return `session ${job.number} of case ${job.case_id} could not record its ${job.kind}: ${what}`
}

/**
 * Cleans up after a service that died: ends its processes and marks its sessions as `failed`, with the output they
 * had. Runs before the address is printed.
 */
export async function recover(deps: SessionDeps): Promise<void> {
  const records = deps.runs.all()
  const endings = await Promise.allSettled(
    records.map(({ mark, session_id }) =>
      killRun({ runId: mark, processes: [], folderId: session_id }, deps.limits.endCrashed),
    ),
  )
  await sweepPipeFolders()
  await deps.runGuard.recover()
  for (const [index, record] of records.entries()) {
    try {
      const ending = endings[index]!
      if (ending.status === 'rejected') throw ending.reason
      await endIsolation(deps, { ...record, runId: record.mark, ending: 'stop' })
      await noteRunCommits(deps, { ...record, ending: 'stop' })
      await endSession(deps, record)
      await forgetRun(deps, record.session_id)
    } catch (error) {
      // the record stays, so that the next start tries again
      const why =
        error instanceof AppError ? error.message : String((error as Error)?.stack ?? error)
      deps.log(`session ${record.number} of case ${record.case_id} could not be ended: ${why}`)
    }
  }
  const left = new Set(deps.runs.all().map(({ session_id }) => session_id))
  await recoverIsolation(deps, (id) => left.has(id))
}

async function endSession(deps: SessionDeps, record: RunRow): Promise<void> {
  try {
    await failSession(deps, record, (state) => `The service died while the session was ${state}.`)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  }
}

/** An approved plan that did not start is ready again. */
async function withdraw(deps: SessionDeps, job: Job, reason: string): Promise<void> {
  const session = sessionOf(await deps.store.read(job.case_id), job.session_id)
  if (session.state === 'approved') await backFromLine(deps, session, { reason })
}

/** Marks a running session as `failed`, with its output so far. */
async function failSession(
  deps: SessionDeps,
  run: Pick<RunRow, 'case_id' | 'session_id' | 'number'>,
  why: (state: string) => string,
): Promise<void> {
  const { store, layout, now } = deps
  const { case_id, session_id, number } = run
  const contents = await store.read(case_id)
  const present = sessionOf(contents, session_id)
  if (present.state === 'complete') await moveCase(deps, case_id, present.type)
  if (!isActive(present.state)) return
  if (lineInQueue(present.trail)) {
    return backFromLine(deps, present, { reason: why('waiting in line') })
  }
  const worked = present.state === 'executing'
  const steps = worked
    ? await stepEvidence(layout, case_id, number, present.trail, layout.root)
    : null
  const results = steps?.results ?? (await planResults(layout, case_id, number, present.trail))
  const left = worked ? await leftBehind(deps, { ...run, ending: 'stop' }) : null
  const edit = (contents: CaseContents): Edit[] => {
    const session = sessionOf(contents, session_id)
    const strange = contents.texts ? strangePlan(session, contents.texts.plan) : ''
    const also = left?.why ? ` The run should have been stopped: ${left.why}.` : ''
    const reason = why(present.state) + strange + also
    const output = outputText({
      results,
      failed_tests: steps?.failed_tests,
      failed: steps?.tests?.failed,
      notes: steps || results.length > 0 ? [reason] : [],
    })
    const isAbandoned = !worked && session.origin === 'terminal'
    const end: RunEnd = {
      mode: worked ? 'work' : 'plan',
      // the agent goes on in its terminal, and its next plan begins another session
      state: isAbandoned ? 'abandoned' : 'failed',
      reason,
      results: left?.lines ?? [],
      ...(steps ? { made: { tests: testsFields(steps) } } : {}),
      ...(output ? { texts: { output, candidates: steps?.candidates ?? [] } } : {}),
      ...(steps ? { evidence: { tests: steps.tests, failed_tests: steps.failed_tests } } : {}),
    }
    return [endRun(contents, session_id, end, now())]
  }
  await store.update(case_id, edit, worked ? { texts: session_id } : {})
}

/**
 * A sentence for the record if the plan in the file is not the one that ran. The text that ran is gone; the audit
 * trail has its hash.
 */
function strangePlan({ trail }: Session, plan: string): string {
  const approved = lastOf(trail, 'plan_approved')?.fields.plan_sha256
  if (approved === undefined || approved === sha256(plan)) return ''
  return ' The plan in this file is not the one that was approved and executed.'
}
