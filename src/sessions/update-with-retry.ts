import { setTimeout as delay } from 'node:timers/promises'
import { diskError } from '../files/storage-error.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseFolder, Decide } from '../model/case-folder.ts'
import type { Store, UpdateOptions } from '../workspace/store.ts'
import type { Job } from './jobs.ts'

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
