import { readFileSync, readlinkSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'

/** Returns the /proc path of the calling thread, such as `28327/task/28336`; null on other systems. */
export function ownTask(): string | null {
  try {
    return readlinkSync('/proc/thread-self')
  } catch (error) {
    // no such file, or no permission: the work is then estimated
    if (isSystemError(error)) return null
    throw error
  }
}

/**
 * Returns the CPU milliseconds of a worker thread. On Linux that is exact. Elsewhere it is the time the thread was
 * busy, which includes waiting for a processor.
 */
export function threadWorkMs(worker: Worker, task: string | null): number {
  const counted = task === null ? null : schedulerMs(task)
  return counted ?? worker.performance.eventLoopUtilization().active
}

function schedulerMs(task: string): number | null {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/${task}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch (error) {
    if (isSystemError(error)) return null // the kernel does not count, or the thread has ended
    throw error
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
