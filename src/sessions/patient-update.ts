import { setTimeout as delay } from 'node:timers/promises'
import { diskError } from '../files/storage-error.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseFolder, Decide } from '../model/case-folder.ts'
import type { Store, UpdateOptions } from '../workspace/store.ts'
import type { Job } from './jobs.ts'

const PAUSE_MS = 200
/** How long a run waits for a person to fix the file that its record belongs in, or the disk. */
const FIXED_MS = 10 * 60_000
/** And where the operator has abandoned it, so that its working folder gets free. */
const ABANDONED_MS = 30_000
/** How long it puts up with somebody who saves the file all the time. */
const CHANGED_MS = 5000

/**
 * An update of a session's file by its own job. A person may have the file half-saved or broken just
 * then, or the disk is full: what the run has to say is kept until it can be written, and only the stop of the
 * service or a long time without any change for the better ends the wait.
 */
export function patientUpdate(
  store: Pick<Store, 'update'>,
  job: Pick<Job, 'case_id' | 'ending'>,
  decide: Decide,
  options?: UpdateOptions,
): Promise<CaseFolder> {
  return patiently(job, () => store.update(job.case_id, decide, options))
}

/** Does the same for other work that may be done again. */
export async function patiently<T>(job: Pick<Job, 'ending'>, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const waited = performance.now() - began
      if (job.ending === 'stop' || waited > patienceWith(error, job.ending)) throw error
    }
    await delay(PAUSE_MS)
  }
}

function patienceWith(error: unknown, ending: Job['ending']): number {
  const refusal = error instanceof AppError ? error : diskError(error)
  switch (refusal?.code) {
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
