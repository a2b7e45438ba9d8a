import { parentPort } from 'node:worker_threads'
import { markdownHtml } from './markdown-html.ts'

parentPort!.on('message', (asked: string) => {
  const [text, options] = JSON.parse(asked)
  parentPort!.postMessage(markdownHtml(text, options))
})
parentPort!.postMessage('ready')
