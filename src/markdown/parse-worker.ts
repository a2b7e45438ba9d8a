import { parentPort } from 'node:worker_threads'
import { ownTask } from '../platform/thread-work.ts'
import { parseMarkdown } from './parse.ts'
import type { Ready } from './worker-pool.ts'

parentPort!.on('message', (text: string) => parentPort!.postMessage(parseMarkdown(text)))
parentPort!.postMessage({ ready: ownTask() } satisfies Ready)
