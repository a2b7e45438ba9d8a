import { parentPort } from 'node:worker_threads'
import type { Ready } from '../markdown/worker-pool.ts'
import { ownTask } from '../platform/thread-work.ts'
import { highlightSource } from './highlight/source.ts'
import { markdownHtml } from './markdown/html.ts'
import type { RenderAnswer, RenderRequest } from './render-pool.ts'

parentPort!.on('message', (text: string) => {
  const request: RenderRequest = JSON.parse(text)
  parentPort!.postMessage(answer(request))
})
parentPort!.postMessage({ ready: ownTask() } satisfies Ready)

function answer(request: RenderRequest): RenderAnswer {
  if (request.kind === 'markdown') return markdownHtml(request.text, request.options)
  return { sources: request.sources.map((source) => highlightSource(source, request.language)) }
}
