import type { WorkResult } from '../runners/contract.ts'
import type { Job } from './jobs.ts'

/** Why the run failed; null if it succeeded. */
export function failure(job: Pick<Job, 'ending'>, outcome: WorkResult): string | null {
  if (job.ending === 'abandon') return 'The operator abandoned the session.'
  if (job.ending === 'stop') return 'The service was stopped while the session was executing.'
  if (job.ending === 'time_out')
    return 'The session reached the time limit for work (timeout.work in casefile.md).'
  return outcome.ok ? null : `The run stopped: ${outcome.reason}.`
}
