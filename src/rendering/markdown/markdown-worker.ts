import { parentPort } from 'node:worker_threads'
import { ownTask } from '../../markdown/thread-work.ts'
import type { Ready } from '../../markdown/worker-pool.ts'
import { markdownHtml } from './html.ts'

parentPort!.on('message', (request: string) => {
  const [text, options] = JSON.parse(request)
  parentPort!.postMessage(markdownHtml(text, options))
})
parentPort!.postMessage({ ready: ownTask() } satisfies Ready)
