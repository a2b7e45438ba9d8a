import type { Worker } from 'node:worker_threads'
import { readProc, readProcLink } from './proc.ts'

/** Names the calling thread for the system, such as `28327/task/28336`; null if its time is not counted here. */
export function ownTask(): string | null {
  return readProcLink('thread-self')
}

/**
 * Returns the CPU milliseconds of a worker thread. On Linux that is exact. Elsewhere it is the time the thread was
 * busy, which includes waiting for a processor.
 */
export function threadWorkMs(worker: Worker, task: string | null): number {
  // the kernel may not count, or the thread has ended
  const schedule = task === null ? null : readProc(`${task}/schedstat`)
  if (schedule === null) return worker.performance.eventLoopUtilization().active
  const [nanoseconds = ''] = schedule.split(' ')
  return Number(nanoseconds) / 1e6
}
