import { workerFile } from '../package-files.ts'
import type { Parsed } from './parse.ts'
import { createWorkerPool, useWorkers } from './worker-pool.ts'

const parser = createWorkerPool<Parsed>(workerFile('markdown/parse-worker.ts'))

/**
 * What remark sees in `text`, parsed in a worker thread; null when that takes more than 2 s:
 * the file is then problem `too_complex`. Rejects with `stopping` where the
 * workers are closed first.
 */
export function parsedMarkdown(text: string): Promise<Parsed | null> {
  return parser.ask(text)
}

/** For whoever reads markdown; the workers that do, and those that render it, end with the last one. */
export function useParser(): () => Promise<void> {
  return useWorkers()
}
