import { setTimeout as delay } from 'node:timers/promises'

/** The result of the work, or undefined after `ms`. A later rejection is ignored. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = delay(ms, undefined, { signal: timer.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort()
  }
}

/** The result of the work. Rejects with the signal's reason if the work has not ended `graceMs` after the abort. */
export async function abortable<T>(signal: AbortSignal, work: Promise<T>, graceMs = 0): Promise<T> {
  const { promise, release } = abortOf(signal, graceMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    release()
  }
}

function abortOf(signal: AbortSignal, graceMs: number) {
  let timer: NodeJS.Timeout | undefined
  let onAbort = () => {}
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => {
      if (graceMs === 0) reject(signal.reason)
      else timer = setTimeout(() => reject(signal.reason), graceMs)
    }
  })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return {
    promise,
    release() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
