import { workerFile } from '../package-files.ts'
import type { Parsed } from './parse.ts'
import { createWorkerPool, useWorkers } from './worker-pool.ts'

const parser = createWorkerPool<Parsed>(workerFile('markdown/parse-worker.ts'))

/**
 * Parses `text` with remark in a worker thread; null if that takes more than 2 s: the file then has the problem
 * `too_complex`. Rejects with `stopping` if the workers are closed first.
 */
export function parsedMarkdown(text: string): Promise<Parsed | null> {
  return parser.ask(text)
}

/** Call it before reading markdown. Returns a function that ends the use; the workers stop with the last user. */
export function useParser(): () => Promise<void> {
  return useWorkers()
}
