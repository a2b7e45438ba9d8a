import { setTimeout as delay } from 'node:timers/promises'
import type { CaseFolder, Decide } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import type { Store, UpdateOptions } from '../workspace/store.ts'
import type { Job } from './jobs.ts'

const PAUSE_MS = 200
/** How long a run waits for a person to mend the file that its record belongs in. */
const UNREADABLE_MS = 10 * 60_000
/** And where the operator has abandoned it, so that its working folder gets free. */
const ABANDONED_MS = 30_000
/** How long it puts up with somebody who saves the file all the time. */
const CHANGED_MS = 5000

/**
 * An update of a session's file by its own job. A person may have the file half-saved or broken just
 * then: what the run has to say is kept until it can be written, and only the stop of the service or
 * a long time without any change for the better ends the wait.
 */
export async function patientUpdate(
  store: Pick<Store, 'update'>,
  job: Pick<Job, 'case_id' | 'ending'>,
  decide: Decide,
  options?: UpdateOptions,
): Promise<CaseFolder> {
  const began = performance.now()
  for (;;) {
    try {
      return await store.update(job.case_id, decide, options)
    } catch (error) {
      const waited = performance.now() - began
      if (job.ending === 'stop' || waited > patienceWith(error, job.ending)) throw error
    }
    await delay(PAUSE_MS)
  }
}

function patienceWith(error: unknown, ending: Job['ending']): number {
  if (!(error instanceof Refusal)) return 0
  if (error.code === 'unreadable_file') return ending === 'abandon' ? ABANDONED_MS : UNREADABLE_MS
  if (error.code === 'git_busy') return UNREADABLE_MS
  return error.code === 'changed_meanwhile' ? CHANGED_MS : 0
}
