import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { stoppingRefusal } from '../model/refusal.ts'
import type { Parsed } from './parse.ts'

const TIME_LIMIT_MS = 2000
/** For loading the parser; the text's own time begins once it is loaded. */
const START_LIMIT_MS = 20_000

/** What came of a text. `final`: it would come of it again. */
interface Outcome {
  parsed: Parsed | null
  final: boolean
}

/** By content hash: the same text is parsed once, however often it is read, also one that was too complex. */
const cache = new LRUCache<string, Outcome>({ max: 500 })
let worker: Worker | null = null
let ready = false
let queue: Promise<unknown> = Promise.resolve()

/**
 * What remark sees in `text`, parsed in one worker thread; null when that takes more than 2 s, as
 * deep nesting can (reliability MD-3): the file is then problem `too_complex`. The worker starts
 * with the first text, does not keep the process alive, and is replaced after such a text.
 * Rejects with `stopping` where `closeParser` comes first.
 */
export function parsedMarkdown(text: string): Promise<Parsed | null> {
  const key = createHash('sha256').update(text).digest('hex')
  const known = cache.get(key)
  if (known) return Promise.resolve(known.parsed)
  const result = queue.then(async () => {
    const outcome = cache.get(key) ?? (await ask(text))
    if (outcome.final) cache.set(key, outcome)
    return outcome.parsed
  })
  queue = result.catch(() => undefined)
  return result
}

/** Ends the worker, for a process that is about to exit. */
export async function closeParser(): Promise<void> {
  await discard(worker)
}

async function discard(which: Worker | null): Promise<void> {
  if (worker === which) {
    worker = null
    ready = false
  }
  await which?.terminate()
}

function ask(text: string): Promise<Outcome> {
  const asked = worker ?? startWorker()
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      asked.off('message', onMessage).off('error', onError).off('exit', onExit)
      asked.unref()
      settle()
    }
    const giveUp = (final: boolean) =>
      finish(() => {
        void discard(asked)
        resolve({ parsed: null, final })
      })
    const onMessage = (said: Parsed | 'ready') => {
      if (said !== 'ready') return finish(() => resolve({ parsed: said, final: true }))
      ready = true
      clearTimeout(timer)
      timer = setTimeout(() => giveUp(true), TIME_LIMIT_MS)
    }
    // a parser that runs out of stack or memory on a text has found it too complex as well
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
    timer = ready
      ? setTimeout(() => giveUp(true), TIME_LIMIT_MS)
      : setTimeout(() => giveUp(false), START_LIMIT_MS)
    asked.on('message', onMessage).on('error', onError).on('exit', onExit)
    asked.ref()
    asked.postMessage(text)
  })
}

function startWorker(): Worker {
  const file = import.meta.url.endsWith('.ts') ? './parse-worker.ts' : './parse-worker.js'
  worker = new Worker(new URL(file, import.meta.url))
  worker.unref()
  return worker
}
