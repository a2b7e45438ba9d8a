import { Worker } from 'node:worker_threads'
import { Refusal, stoppingRefusal } from '../model/refusal.ts'
import { workerFile } from '../package-files.ts'
import type { Ask, Told, Where } from './search-messages.ts'

/** The thread that has the index, as long as it lives. */
export interface SearchThread {
  tell(ask: Extract<Ask, { kind: 'cases' }>): void
  ask<T>(ask: (n: number) => Ask): Promise<T>
  /** Lets it keep what it has, and end. */
  end(): Promise<void>
}

/** Longer than the index of any workspace takes to be written. */
const END_MS = 8000

export function startSearchThread(
  where: Where,
  { log, onGone }: { log(line: string): void; onGone(): void },
): SearchThread {
  const worker = new Worker(workerFile('search/search-worker.ts'), { workerData: where })
  const waiting = new Map<number, PromiseWithResolvers>()
  let count = 0
  let isEnding = false
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))

  worker.on('message', (told: Told) => {
    if (told.kind === 'log') return log(told.line)
    const asked = waiting.get(told.n)
    waiting.delete(told.n)
    if (told.kind === 'answer') asked?.resolve(told.answer)
    else asked?.reject(failed(told.why))
    if (waiting.size === 0 && !isEnding) worker.unref()
  })
  worker.on('error', (error) => {
    log(`the thread that searches failed: ${String(error)}`)
    rejectAll(failed(String(error)))
  })
  worker.on('exit', () => {
    onGone()
    rejectAll(isEnding ? stoppingRefusal() : failed('its thread ended'))
  })
  worker.unref() // whoever waits for an answer holds the process, and nobody else

  function rejectAll(error: Error): void {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  return {
    tell: (ask) => worker.postMessage(ask),
    ask<T>(make: (n: number) => Ask): Promise<T> {
      const n = count++
      return new Promise<T>((resolve, reject) => {
        waiting.set(n, { resolve: resolve as (answer: unknown) => void, reject })
        worker.ref()
        worker.postMessage(make(n))
      })
    },
    async end() {
      isEnding = true
      worker.ref()
      worker.postMessage({ kind: 'close' } satisfies Ask)
      const late = setTimeout(() => void worker.terminate(), END_MS)
      await ended
      clearTimeout(late)
    },
  }
}

interface PromiseWithResolvers {
  resolve(answer: unknown): void
  reject(error: Error): void
}

function failed(why: string): Refusal {
  return new Refusal(
    'internal',
    `The search failed (${why}). Try again: the index is made anew from the files.`,
  )
}
