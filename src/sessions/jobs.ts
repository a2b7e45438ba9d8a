import { Refusal } from '../model/refusal.ts'

/** Why a job was told to stop. */
export type Ending = 'abandon' | 'stop' | 'time_out'

/** A session under way in this process: planning, or at work in a folder. */
export interface Job {
  session_id: string
  case_id: string
  number: number
  kind: 'plan' | 'work'
  mark: string
  /** The working folder that it occupies; null while it plans. */
  folder: string | null
  signal: AbortSignal
  ending: Ending | null
  /** The operator's words for abandoning. */
  reason: string | undefined
}

export interface Jobs {
  /** Registers a job before anything is written for it; at most one works in a folder. */
  open(job: Omit<Job, 'signal' | 'ending' | 'reason'>): Job
  /** Runs the job's work; the job closes with it. */
  run(job: Job, work: () => Promise<void>): void
  close(job: Job): void
  find(sessionId: string): Job | undefined
  /** Tells a job to stop, and waits until it has recorded its end. False when there is none. */
  end(sessionId: string, ending: Ending, reason?: string): Promise<boolean>
  endAll(ending: Ending): Promise<void>
}

export interface JobNeeds {
  /** Called when a job opens or closes. */
  onChange(caseId: string): void
  /** Called with what a job's own record keeping could not handle. */
  onFailure(job: Job, error: unknown): void
}

export function createJobs({ onChange, onFailure }: JobNeeds): Jobs {
  const jobs = new Map<string, { job: Job; controller: AbortController; done: Promise<void> }>()

  async function end(sessionId: string, ending: Ending, reason?: string): Promise<boolean> {
    const entry = jobs.get(sessionId)
    if (!entry) return false
    entry.job.ending ??= ending
    entry.job.reason ??= reason
    entry.controller.abort()
    await entry.done
    return true
  }

  function close(job: Job): void {
    if (jobs.get(job.session_id)?.job !== job) return
    jobs.delete(job.session_id)
    onChange(job.case_id)
  }

  return {
    open(wanted) {
      const busy = [...jobs.values()].find(
        ({ job }) => job.folder !== null && job.folder === wanted.folder,
      )
      if (busy) throw folderBusy(busy.job)
      if (jobs.has(wanted.session_id)) {
        throw new Refusal('already_active', 'This session is at work already.')
      }
      const controller = new AbortController()
      const job: Job = { ...wanted, signal: controller.signal, ending: null, reason: undefined }
      jobs.set(job.session_id, { job, controller, done: Promise.resolve() })
      onChange(job.case_id)
      return job
    },
    run(job, work) {
      const entry = jobs.get(job.session_id)!
      entry.done = work()
        .catch((error: unknown) => onFailure(job, error))
        .finally(() => close(job))
    },
    close,
    find: (sessionId) => jobs.get(sessionId)?.job,
    end,
    async endAll(ending) {
      await Promise.all([...jobs.keys()].map((id) => end(id, ending)))
    },
  }
}

function folderBusy(job: Job): Refusal {
  return new Refusal(
    'folder_busy',
    `Session ${job.number} of case ${job.case_id} is executing in this working folder; wait for it to finish, or abandon it.`,
    { extra: { running: { case_id: job.case_id, session_id: job.session_id } } },
  )
}
