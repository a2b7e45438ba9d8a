import { hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { stoppingRefusal } from '../model/refusal.ts'
import { limitWork } from './work-limit.ts'

/** Of work: where the machine is busy with much else, an innocent text would be called too complex. */
const TIME_LIMIT_MS = 2000
/** For loading the worker; the text's own time begins once it is loaded. Long, as it is nobody's fault. */
const START_LIMIT_MS = 120_000

export interface WorkerPool<Answer> {
  /**
   * What the worker makes of `text`; null when that takes more than 2 s, as deep nesting can. Rejects
   * with `stopping` where the pool is closed first. The same text is asked once, however often.
   */
  ask(text: string): Promise<Answer | null>
}

export interface CacheSize<Answer> {
  /** What an answer counts; by default, each counts 1. */
  weigh(answer: Answer | null): number
  max: number
}

/** What came of a text. `final`: it would come of it again. */
interface Outcome<Answer> {
  answer: Answer | null
  final: boolean
}

const closers = new Set<() => Promise<void>>()

let users = 0

/**
 * To be called by whoever may ask, who gets what ends it: with the last of them the workers of all pools
 * end. One process may have several workspaces open.
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
 * One worker thread for one text at a time. It starts with the first text, does not keep the process
 * alive, and is replaced after a text that took too long. It posts `'ready'` once it is loaded, and
 * then one answer for each text.
 *
 * `file` is the worker's source, as in `new URL('./x-worker.ts', import.meta.url)`.
 */
export function createWorkerPool<Answer extends object>(
  file: URL,
  { weigh, max }: CacheSize<Answer> = { weigh: () => 1, max: 500 },
): WorkerPool<Answer> {
  /** By content hash; a text that was too complex is remembered as well. */
  const cache = new LRUCache<string, Outcome<Answer>>({
    max: 1000, // what a short text takes is mostly its place
    maxSize: max,
    sizeCalculation: ({ answer }) => weigh(answer),
  })
  let worker: Worker | null = null
  let ready = false
  let queue: Promise<unknown> = Promise.resolve()
  closers.add(() => discard(worker))

  return {
    ask(text) {
      const key = hash('sha256', text)
      const known = cache.get(key)
      if (known) return Promise.resolve(known.answer)
      const result = queue.then(async () => {
        const outcome = cache.get(key) ?? (await askWorker(text))
        if (outcome.final) cache.set(key, outcome)
        return outcome.answer
      })
      queue = result.catch(() => undefined)
      return result
    },
  }

  async function discard(which: Worker | null): Promise<void> {
    if (worker === which) {
      worker = null
      ready = false
    }
    await which?.terminate()
  }

  function askWorker(text: string): Promise<Outcome<Answer>> {
    const asked = worker ?? startWorker()
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        cancel()
        asked.off('message', onMessage).off('error', onError).off('exit', onExit)
        asked.unref()
        settle()
      }
      const giveUp = (final: boolean) =>
        finish(() => {
          void discard(asked)
          resolve({ answer: null, final })
        })
      const onMessage = (said: Answer | 'ready') => {
        if (said !== 'ready') return finish(() => resolve({ answer: said, final: true }))
        ready = true
        cancel()
        cancel = limitWork(TIME_LIMIT_MS, giveUp)
      }
      // a worker that runs out of stack or memory on a text has found it too complex as well
      const onError = (error: Error) => {
        if (error instanceof RangeError || 'code' in error) return giveUp(ready)
        finish(() => {
          void discard(asked)
          reject(error)
        })
      }
      const onExit = () =>
        finish(() => {
          void discard(asked)
          reject(stoppingRefusal())
        })
      let cancel = ready ? limitWork(TIME_LIMIT_MS, giveUp) : startLimit(() => giveUp(false))
      asked.on('message', onMessage).on('error', onError).on('exit', onExit)
      asked.ref()
      asked.postMessage(text)
    })
  }

  function startWorker(): Worker {
    const compiled = import.meta.url.endsWith('.js')
    worker = new Worker(compiled ? new URL(file.href.replace(/\.ts$/, '.js')) : file)
    worker.unref()
    return worker
  }
}

function startLimit(over: () => void): () => void {
  const timer = setTimeout(over, START_LIMIT_MS)
  return () => clearTimeout(timer)
}
