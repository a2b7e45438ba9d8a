import { parentPort } from 'node:worker_threads'
import { parseMarkdown } from './parse.ts'
import { ownTask } from './thread-work.ts'
import type { Ready } from './worker-pool.ts'

parentPort!.on('message', (text: string) => parentPort!.postMessage(parseMarkdown(text)))
parentPort!.postMessage({ ready: ownTask() } satisfies Ready)
