import { setTimeout as delay } from 'node:timers/promises'
import { diskError } from '../files/storage-error.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { CaseFolder, Decide } from '../model/case-folder.ts'
import type { Actor } from '../model/history.ts'
import type { IdentifiedRun, RunProcess } from '../runners/process/run-processes.ts'
import type { Store, UpdateOptions } from '../workspace/store.ts'

/** Why a job was stopped. */
type Ending = 'abandon' | 'stop' | 'time_out'

/** A session under way in this process: planning, or at work in a folder. */
export interface Job {
  session_id: string
  case_id: string
  number: number
  kind: 'plan' | 'work'
  runId: string
  /** The processes started for it so far. */
  processes: RunProcess[]
  /**
   * The run folder's name. It stays the same per session, because an agent finds its conversation by the folder it
   * ran in.
   */
  folderId: string
  /** The working folder it occupies; null while it plans. */
  folder: string | null
  signal: AbortSignal
  ending: Ending | null
  /** The operator's reason for abandoning. */
  reason: string | undefined
  /** Who abandoned it. */
  endedBy: Actor | undefined
  /** Planning has ended and its end is recorded; only cleanup remains. */
  planned: boolean
}

/** A running session, as needed to recognize requests that its own processes send to this service. */
export interface SessionRun extends IdentifiedRun {
  session_id: string
  case_id: string
  kind: Job['kind']
  /** A person started its agent, not the service. */
  isTerminal?: boolean
}

interface EndingWhy {
  reason?: string | undefined
  by?: Actor
}

type NewJob = Omit<
  Job,
  'signal' | 'ending' | 'reason' | 'endedBy' | 'planned' | 'processes' | 'folderId'
>

export interface Jobs {
  /**
   * Registers a job before anything is written for it. At most one job executes in a folder. Waits for a
   * conflicting job whose end is already recorded: a client that saw that end may start the next one at once.
   */
  open(job: NewJob): Promise<Job>
  /** Runs the job's work; the job closes with it. */
  run(job: Job, work: () => Promise<void>): void
  close(job: Job): void
  find(sessionId: string): Job | undefined
  /** All open jobs, including those that are only cleaning up. */
  active(): Job[]
  /** Stops a job and waits until its end is recorded. False if there is no such job. */
  end(sessionId: string, ending: Ending, why?: EndingWhy): Promise<boolean>
  /** For shutdown: stops all jobs. No job can be opened afterwards. */
  endAll(ending: Ending): Promise<void>
}

interface JobDeps {
  running: Set<string>
  /** Whether the job's end is already recorded. */
  isOver(job: Job): boolean
  /** Called when a job opens or closes. */
  onChange(caseId: string): void
  /** Called if a job could not record its own end; must not reject. */
  onFailure(job: Job, error: unknown): Promise<void>
  log(line: string): void
}

interface Entry {
  job: Job
  controller: AbortController
  closed: Promise<void>
  onClosed(): void
}

export function createJobs({ running, isOver, onChange, onFailure, log }: JobDeps): Jobs {
  const jobs = new Map<string, Entry>()
  let closing = false

  async function end(
    sessionId: string,
    ending: Ending,
    { reason, by }: EndingWhy = {},
  ): Promise<boolean> {
    const entry = jobs.get(sessionId)
    if (!entry) return false
    entry.job.ending ??= ending
    entry.job.reason ??= reason
    entry.job.endedBy ??= by
    entry.controller.abort()
    await entry.closed
    return true
  }

  function close(job: Job): void {
    const entry = jobs.get(job.session_id)
    if (entry?.job !== job) return
    jobs.delete(job.session_id)
    running.delete(job.session_id)
    onChange(job.case_id)
    entry.onClosed()
  }

  const conflicting = ({ session_id, folder }: NewJob) =>
    [...jobs.values()].filter(
      ({ job }) => job.session_id === session_id || (folder !== null && job.folder === folder),
    )

  return {
    async open(newJob) {
      const ending = conflicting(newJob).filter(({ job }) => isOver(job))
      await Promise.all(ending.map((entry) => entry.closed))
      if (closing) throw stoppingError()
      if (jobs.has(newJob.session_id)) {
        throw new AppError('already_active', 'This session is already running.')
      }
      const [busy] = conflicting(newJob)
      if (busy) throw folderBusy(busy.job)
      const controller = new AbortController()
      const state = {
        ending: null,
        reason: undefined,
        endedBy: undefined,
        planned: false,
        processes: [],
        folderId: newJob.session_id,
      }
      const job: Job = { ...newJob, signal: controller.signal, ...state }
      let onClosed = () => {}
      const closed = new Promise<void>((resolve) => {
        onClosed = resolve
      })
      jobs.set(job.session_id, { job, controller, closed, onClosed })
      running.add(job.session_id)
      onChange(job.case_id)
      return job
    },
    run(job, work) {
      void work()
        .catch((error: unknown) => onFailure(job, error))
        .catch((error: unknown) => log(lostLine(job, error)))
        .finally(() => close(job))
    },
    close,
    find: (sessionId) => jobs.get(sessionId)?.job,
    active: () => [...jobs.values()].map(({ job }) => job),
    end,
    async endAll(ending) {
      closing = true
      await Promise.all([...jobs.keys()].map((id) => end(id, ending)))
    },
  }
}

function lostLine({ number, case_id }: Job, error: unknown): string {
  return `session ${number} of case ${case_id} did not end cleanly: ${String((error as Error)?.stack ?? error)}`
}

function folderBusy(job: Job): AppError {
  return new AppError(
    'folder_busy',
    `Session ${job.number} of case ${job.case_id} is executing in this working folder. Wait until it finishes, or abandon it.`,
    { extra: { running: { case_id: job.case_id, session_id: job.session_id } } },
  )
}

/** Who ended a job, for the history: the operator if they abandoned it, else the provider. */
export function endingActor({ ending, endedBy }: Job, provider: string): Actor {
  const ended: Actor = { who: provider, from: 'api' }
  return ending === 'abandon' ? (endedBy ?? ended) : ended
}

const PAUSE_MS = 200
/** How long a run waits for someone to fix a broken session file or free disk space. */
const FIXED_MS = 10 * 60_000
/** The same for an abandoned run: shorter, so that its working folder becomes free. */
const ABANDONED_MS = 30_000
/** How long a run retries while another program keeps saving the file. */
const CHANGED_MS = 5000

/**
 * Updates a session's file for its own job, and retries while the file is broken, half-saved or locked by git, or
 * the disk is full. Gives up when the service stops or when the time limit for the error has passed.
 */
export function updateWithRetry(
  store: Pick<Store, 'update'>,
  job: Pick<Job, 'case_id' | 'ending'>,
  decide: Decide,
  options?: UpdateOptions,
): Promise<CaseFolder> {
  return retryWhileUnwritable(job, () => store.update(job.case_id, decide, options))
}

/** The same for any work that can be repeated. */
export async function retryWhileUnwritable<T>(
  job: Pick<Job, 'ending'>,
  work: () => Promise<T>,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const waited = performance.now() - began
      if (job.ending === 'stop' || waited > retryLimitMs(error, job.ending)) throw error
    }
    await delay(PAUSE_MS)
  }
}

function retryLimitMs(error: unknown, ending: Job['ending']): number {
  const appError = error instanceof AppError ? error : diskError(error)
  switch (appError?.code) {
    case 'unreadable_file':
    case 'storage_full':
    case 'storage_failed':
      return ending === 'abandon' ? ABANDONED_MS : FIXED_MS
    case 'git_busy':
      return FIXED_MS
    case 'changed_meanwhile':
      return CHANGED_MS
    default:
      return 0
  }
}
