import { setTimeout as delay } from 'node:timers/promises'
import { diskError } from '../files/storage-error.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { CaseContents, Decide } from '../model/case-contents.ts'
import type { Actor } from '../model/history.ts'
import type { Store, UpdateOptions } from '../workspace/store.ts'
import {
  busyError,
  type Claim,
  type FolderUse,
  findObstacle,
  isSameUse,
  type Obstacle,
} from './folder-lock.ts'
import type { Ending, EndingWhy, Job, NewJob } from './job.ts'

export type { Job, NewJob, SessionRun } from './job.ts'

export interface Queueing {
  /** Waits in line where the folder is not free. */
  queue: boolean
  /** Whether it could: an error says so. */
  canWait: boolean
}

/** The place in line of a session. */
export interface Standing {
  job: Job
  /** What it waits for; null if it is about to start. */
  obstacle: Obstacle | null
  /** 1 is the next one. */
  position: number
}

export interface Jobs {
  /**
   * Registers a job before anything is written for it. At most one job executes in a folder: with `queue`, the job
   * waits for it in line. Waits for a conflicting job whose end is already recorded: a client that saw that end may
   * start the next one at once.
   */
  open(job: NewJob, how?: Queueing): Promise<Job>
  /** Resolves when the job has its folder, or was stopped. */
  turn(job: Job): Promise<void>
  /** The job in line, and what it waits for; null if it does not wait. */
  standing(sessionId: string): Standing | null
  /** Why a session could not start there now; null if it could. */
  obstacle(place: FolderUse): Obstacle | null
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
  hasEnded(job: Job): boolean
  /** How many isolated sessions may work at the same time. */
  parallel(): Promise<number>
  titleOf(caseId: string): string
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
  /** The folder that the job waits for. */
  wanted: string | null
  turn: Promise<void>
  onTurn(): void
}

export function createJobs(deps: JobDeps): Jobs {
  const { running, hasEnded, parallel, titleOf, onChange, onFailure, log } = deps
  const jobs = new Map<string, Entry>()
  let closing = false
  let limit = 1

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
    if (entry.job.inLine) entry.onTurn()
    await entry.closed
    return true
  }

  /** The folders that are taken, and those that others wait for; the line is in the order of the map. */
  function claims(until?: Entry): Claim[] {
    const all = [...jobs.values()]
    const waiting = all.slice(0, until ? all.indexOf(until) : all.length)
    return [
      ...all.filter((each) => each !== until).map((each) => claimOf(each, each.job.folder, false)),
      ...waiting.map((each) => claimOf(each, each.wanted, true)),
    ].filter((claim) => claim !== null)
  }

  function claimOf({ job }: Entry, folder: string | null, isWaiting: boolean): Claim | null {
    return folder === null ? null : { job, folder, isolated: job.isolated, isWaiting }
  }

  const obstacleOf = (entry: Entry, folder: string) =>
    findObstacle({ folder, isolated: entry.job.isolated }, claims(entry), limit)

  /** Gives free folders to those that wait for them. */
  function advance(): void {
    for (const entry of jobs.values()) {
      const { job, wanted } = entry
      if (wanted === null || job.ending !== null || obstacleOf(entry, wanted)) continue
      entry.wanted = null
      job.folder = wanted
      entry.onTurn()
    }
  }

  function onFree(): void {
    const waiting = [...jobs.values()].filter(({ job }) => job.inLine)
    if (waiting.length === 0) return
    advance()
    for (const { job } of waiting) onChange(job.case_id)
    if (!waiting.some(({ job }) => job.isolated)) return
    parallel()
      .then((present) => {
        limit = present
        advance()
      })
      .catch((error: unknown) => log(`the line of isolated sessions waits: ${String(error)}`))
  }

  function release(job: Job): void {
    const entry = jobs.get(job.session_id)
    if (entry?.job !== job) return
    job.folder = null
    entry.wanted = null
    onFree()
  }

  function close(job: Job): void {
    const entry = jobs.get(job.session_id)
    if (entry?.job !== job) return
    release(job)
    jobs.delete(job.session_id)
    running.delete(job.session_id)
    onChange(job.case_id)
    entry.onClosed()
  }

  function placeOf({ folder, isolated }: NewJob): FolderUse | null {
    return folder === null ? null : { folder, isolated }
  }

  const conflicting = (newJob: NewJob) => {
    const place = placeOf(newJob)
    return [...jobs.values()].filter(({ job }) => {
      const theirs = placeOf(job)
      const isSame = place !== null && theirs !== null && isSameUse(place, theirs)
      return job.session_id === newJob.session_id || isSame
    })
  }

  return {
    async open(newJob, { queue, canWait } = { queue: false, canWait: true }) {
      if (newJob.isolated) limit = await parallel()
      const ending = conflicting(newJob).filter(({ job }) => hasEnded(job))
      await Promise.all(ending.map((entry) => entry.closed))
      if (closing) throw stoppingError()
      if (jobs.has(newJob.session_id)) {
        throw new AppError('already_active', 'This session is already running.')
      }
      const place = placeOf(newJob)
      const obstacle = place && findObstacle(place, claims(), limit)
      if (obstacle && !(queue && canWait)) throw busyError(obstacle, place!, { titleOf, canWait })
      const controller = new AbortController()
      const job: Job = {
        ...newJob,
        signal: controller.signal,
        folder: obstacle ? null : newJob.folder,
        inLine: obstacle !== null,
        ending: null,
        reason: undefined,
        endedBy: undefined,
        release: () => release(job),
        planned: false,
        processes: [],
        folderId: newJob.session_id,
      }
      const [closed, onClosed] = signal()
      const [turn, onTurn] = signal()
      jobs.set(job.session_id, {
        job,
        controller,
        closed,
        onClosed,
        turn,
        onTurn,
        wanted: obstacle ? newJob.folder : null,
      })
      running.add(job.session_id)
      onChange(job.case_id)
      return job
    },
    turn: async (job) => {
      if (job.inLine) await jobs.get(job.session_id)?.turn
    },
    standing(sessionId) {
      const entry = jobs.get(sessionId)
      if (!entry?.job.inLine || (entry.wanted ?? entry.job.folder) === null) return null
      const obstacle = entry.wanted === null ? null : obstacleOf(entry, entry.wanted)
      const before = obstacle?.by.filter(({ isWaiting }) => isWaiting) ?? []
      return { job: entry.job, obstacle, position: before.length + 1 }
    },
    obstacle: (place) => findObstacle(place, claims(), limit),
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

function signal(): [Promise<void>, () => void] {
  let onSignal = () => {}
  const come = new Promise<void>((resolve) => {
    onSignal = resolve
  })
  return [come, onSignal]
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
): Promise<CaseContents> {
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
