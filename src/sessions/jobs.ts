import { AppError, stoppingError } from '../model/app-error.ts'
import type { Actor } from '../model/history.ts'
import type { RunProcess } from '../runners/process/run-members.ts'

/** Why a job was told to stop. */
export type Ending = 'abandon' | 'stop' | 'time_out'

/** A session under way in this process: planning, or at work in a folder. */
export interface Job {
  session_id: string
  case_id: string
  number: number
  kind: 'plan' | 'work'
  mark: string
  /** What was started for it so far. */
  processes: RunProcess[]
  /** Of its session: an agent finds a conversation again by the folder that it worked in. */
  folderId: string
  /** The working folder that it occupies; null while it plans. */
  folder: string | null
  signal: AbortSignal
  ending: Ending | null
  /** The operator's words for abandoning. */
  reason: string | undefined
  /** Who abandons it. */
  endedBy: Actor | undefined
  /** Plan mode has ended and said so: what is left is to clear up. */
  planned: boolean
}

export interface EndingWhy {
  reason?: string | undefined
  by?: Actor
}

type NewJob = Omit<
  Job,
  'signal' | 'ending' | 'reason' | 'endedBy' | 'planned' | 'processes' | 'folderId'
>

export interface Jobs {
  /**
   * Registers a job before anything is written for it; at most one works in a folder. One whose
   * end is told already is waited for: who heard of the end may go on at once.
   */
  open(job: NewJob): Promise<Job>
  /** Runs the job's work; the job closes with it. */
  run(job: Job, work: () => Promise<void>): void
  close(job: Job): void
  find(sessionId: string): Job | undefined
  /** Those that are open, also one that only clears up any more. */
  active(): Job[]
  /** Tells a job to stop, and waits until it has recorded its end. False when there is none. */
  end(sessionId: string, ending: Ending, why?: EndingWhy): Promise<boolean>
  /** For the stop of the service: no job opens from then on. */
  endAll(ending: Ending): Promise<void>
}

export interface JobDeps {
  running: Set<string>
  /** Whether the job's end is told already. */
  isOver(job: Job): boolean
  /** Called when a job opens or closes. */
  onChange(caseId: string): void
  /** Called with what a job's own record keeping could not handle; must not reject. */
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
    for (const process of job.processes) process.release()
    onChange(job.case_id)
    entry.onClosed()
  }

  const inTheWay = ({ session_id, folder }: NewJob) =>
    [...jobs.values()].filter(
      ({ job }) => job.session_id === session_id || (folder !== null && job.folder === folder),
    )

  return {
    async open(wanted) {
      const leaving = inTheWay(wanted).filter(({ job }) => isOver(job))
      await Promise.all(leaving.map((entry) => entry.closed))
      if (closing) throw stoppingError()
      if (jobs.has(wanted.session_id)) {
        throw new AppError('already_active', 'This session is at work already.')
      }
      const [busy] = inTheWay(wanted)
      if (busy) throw folderBusy(busy.job)
      const controller = new AbortController()
      const state = {
        ending: null,
        reason: undefined,
        endedBy: undefined,
        planned: false,
        processes: [],
        folderId: wanted.session_id,
      }
      const job: Job = { ...wanted, signal: controller.signal, ...state }
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
  return `session ${number} of case ${case_id} was left as it is: ${String((error as Error)?.stack ?? error)}`
}

function folderBusy(job: Job): AppError {
  return new AppError(
    'folder_busy',
    `Session ${job.number} of case ${job.case_id} is executing in this working folder; wait for it to finish, or abandon it.`,
    { extra: { running: { case_id: job.case_id, session_id: job.session_id } } },
  )
}

/** Who ends a job, for the history: its operator where they abandon it, else the provider that ran. */
export function endingActor({ ending, endedBy }: Job, provider: string): Actor {
  const ended: Actor = { who: provider, from: 'api' }
  return ending === 'abandon' ? (endedBy ?? ended) : ended
}
