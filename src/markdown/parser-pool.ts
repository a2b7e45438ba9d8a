import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { Parsed } from './parse.ts'

const TIME_LIMIT_MS = 2000
const START_LIMIT_MS = 20_000

/** By content hash: the same text is parsed once, however often it is read. */
const cache = new LRUCache<string, Parsed>({ max: 500 })
let worker: Worker | null = null
let warm = false
let queue: Promise<unknown> = Promise.resolve()

/**
 * What remark sees in `text`, parsed in one worker thread; null when that takes more than 2 s, as
 * deep nesting can (reliability MD-3): the file is then problem `too_complex`. The worker starts
 * with the first text, does not keep the process alive, and is replaced after such a text.
 */
export function parsedMarkdown(text: string): Promise<Parsed | null> {
  const key = createHash('sha256').update(text).digest('hex')
  const known = cache.get(key)
  if (known) return Promise.resolve(known)
  const result = queue.then(async () => {
    const again = cache.get(key)
    if (again) return again
    const parsed = await ask(text)
    if (parsed) cache.set(key, parsed)
    return parsed
  })
  queue = result.catch(() => undefined)
  return result
}

/** Ends the worker, for a process that is about to exit. */
export async function closeParser(): Promise<void> {
  const ending = worker
  worker = null
  warm = false
  await ending?.terminate()
}

function ask(text: string): Promise<Parsed | null> {
  const asked = worker ?? startWorker()
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      asked.off('message', onMessage).off('error', onError)
      asked.unref()
      settle()
    }
    const discard = () => {
      if (worker === asked) worker = null
      warm = false
      void asked.terminate()
    }
    const onMessage = (parsed: Parsed) => {
      warm = true
      finish(() => resolve(parsed))
    }
    // a parser that runs out of stack or memory on a text has found it too complex as well
    const onError = (error: Error) =>
      finish(() => {
        discard()
        const tooMuch = error instanceof RangeError || 'code' in error
        if (tooMuch) resolve(null)
        else reject(error)
      })
    const timer = setTimeout(
      () =>
        finish(() => {
          discard()
          resolve(null)
        }),
      warm ? TIME_LIMIT_MS : START_LIMIT_MS,
    )
    asked.on('message', onMessage).on('error', onError)
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
