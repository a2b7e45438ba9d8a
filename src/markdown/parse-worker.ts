import { parentPort } from 'node:worker_threads'
import { parseMarkdown } from './parse.ts'

parentPort!.on('message', (text: string) => parentPort!.postMessage(parseMarkdown(text)))
parentPort!.postMessage('ready')
