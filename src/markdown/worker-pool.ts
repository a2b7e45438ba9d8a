import { hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { stoppingError } from '../model/app-error.ts'
import { threadWorkMs } from '../platform/thread-work.ts'
import { limitWork } from './work-limit.ts'

/** Limit of the worker's own CPU time, so that other threads and programs do not matter. */
const TIME_LIMIT_MS = 2000
/** How long a text that was too complex is not tried again. */
const COMPLEX_MS = 10 * 60_000
/** Same for a text that did not get enough CPU time, as retrying it often would block others. */
const STARVED_MS = 5000
/** Limit for loading the worker; the text's time begins after that. */
const START_LIMIT_MS = 120_000

export interface WorkerPool<Answer> {
  /**
   * Returns the worker's answer for `text`; null if that takes more than 2 s, for example for deep nesting. Rejects
   * with `stopping` if the pool is closed first. Concurrent requests for the same text share one answer.
   */
  ask(text: string): Promise<Answer | null>
}

export interface CacheSize<Answer> {
  /** The cache weight of an answer; 1 by default. */
  weigh(answer: Answer | null): number
  max: number
}

/** The answer for a text, and how long it is valid; 0 is forever. */
interface Outcome<Answer> {
  answer: Answer | null
  ttl: number
}

/** The first message of a worker. */
export interface Ready {
  /** The worker's `ownTask`. */
  ready: string | null
}

const closers = new Set<() => Promise<void>>()

let users = 0

/**
 * Call before using a pool; returns a function that ends the use. The workers of all pools stop with the last user.
 * One process may have several workspaces open.
 */
export function useWorkers(): () => Promise<void> {
  users++
  let isOver = false
  return async () => {
    if (isOver) return
    isOver = true
    users--
    if (users === 0) await Promise.all([...closers].map((close) => close()))
  }
}

/**
 * One worker thread that handles one text at a time. It starts with the first text, does not keep
 * the process alive, and is replaced after a text that took too long. It posts `Ready` once it is
 * loaded, and then one answer for each text.
 *
 * `file` is the worker's program, as `workerFile` returns it.
 */
export function createWorkerPool<Answer extends object>(
  file: URL,
  { weigh, max }: CacheSize<Answer> = { weigh: () => 1, max: 500 },
): WorkerPool<Answer> {
  /** Answers by content hash; too complex texts are cached for a while too. */
  const cache = new LRUCache<string, Outcome<Answer>>({
    max: 1000, // short texts mostly cost their entry
    maxSize: max,
    sizeCalculation: ({ answer }) => weigh(answer),
  })
  let worker: Worker | null = null
  let ready: Ready | null = null
  let queue: Promise<unknown> = Promise.resolve()
  closers.add(() => discard(worker))

  return {
    ask(text) {
      const key = hash('sha256', text)
      const known = cache.get(key)
      if (known) return Promise.resolve(known.answer)
      const result = queue.then(async () => {
        const outcome = cache.get(key) ?? (await askWorker(text))
        cache.set(key, outcome, { ttl: outcome.ttl })
        return outcome.answer
      })
      queue = result.catch(() => undefined)
      return result
    },
  }

  async function discard(which: Worker | null): Promise<void> {
    if (worker === which) {
      worker = null
      ready = null
    }
    await which?.terminate()
  }

  function askWorker(text: string): Promise<Outcome<Answer>> {
    const current = worker ?? startWorker()
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        cancel()
        current.off('message', onMessage).off('error', onError).off('exit', onExit)
        current.unref()
        settle()
      }
      const giveUp = (isTooComplex: boolean) =>
        finish(() => {
          void discard(current)
          resolve({ answer: null, ttl: isTooComplex ? COMPLEX_MS : STARVED_MS })
        })
      const limit = ({ ready: task }: Ready) =>
        limitWork(TIME_LIMIT_MS, () => threadWorkMs(current, task), giveUp)
      const onMessage = (message: Answer | Ready) => {
        if (!('ready' in message)) return finish(() => resolve({ answer: message, ttl: 0 }))
        ready = message
        cancel()
        cancel = limit(ready)
      }
      // a text that exhausts the worker's stack or memory is too complex as well
      const onError = (error: Error) => {
        if (error instanceof RangeError || 'code' in error) return giveUp(ready !== null)
        finish(() => {
          void discard(current)
          reject(error)
        })
      }
      const onExit = () =>
        finish(() => {
          void discard(current)
          reject(stoppingError())
        })
      let cancel = ready ? limit(ready) : startLimit(() => giveUp(false))
      current.on('message', onMessage).on('error', onError).on('exit', onExit)
      current.ref()
      current.postMessage(text)
    })
  }

  function startWorker(): Worker {
    // without what this process loads first, such as the loaders of tap: the file is bundled
    worker = new Worker(file, { execArgv: [] })
    worker.unref()
    return worker
  }
}

function startLimit(over: () => void): () => void {
  const timer = setTimeout(over, START_LIMIT_MS)
  return () => clearTimeout(timer)
}
