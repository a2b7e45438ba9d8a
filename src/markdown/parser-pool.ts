import { workerFile } from '../package-files.ts'
import type { Parsed } from './parse.ts'
import { createWorkerPool, useWorkers } from './worker-pool.ts'

const parser = createWorkerPool<Parsed>(workerFile('markdown/parse-worker.ts'))

/**
 * Parses `text` with remark in a worker thread; null when that takes more than 2 s: the file then
 * has problem `too_complex`. Rejects with `stopping` if the workers are closed first.
 */
export function parsedMarkdown(text: string): Promise<Parsed | null> {
  return parser.ask(text)
}

/**
 * Keeps the workers running for a reader of markdown. The workers, which also render markdown, stop
 * with the last user.
 */
export function useParser(): () => Promise<void> {
  return useWorkers()
}
