import type { Parsed } from './parse.ts'
import { closeWorkers, createWorkerPool } from './worker-pool.ts'

const parser = createWorkerPool<Parsed>(new URL('./parse-worker.ts', import.meta.url))

/**
 * What remark sees in `text`, parsed in a worker thread; null when that takes more than 2 s
 * (reliability MD-3): the file is then problem `too_complex`. Rejects with `stopping` where the
 * workers are closed first.
 */
export function parsedMarkdown(text: string): Promise<Parsed | null> {
  return parser.ask(text)
}

/** Ends every worker that reads or renders markdown, for a process that is about to exit. */
export function closeParser(): Promise<void> {
  return closeWorkers()
}
