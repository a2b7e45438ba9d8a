import { parentPort } from 'node:worker_threads'
import { readJunit } from './junit-results.ts'
import type { ReportAnswer, ReportQuestion } from './report-reader.ts'
import { readTap } from './tap-results.ts'

const say = (answer: ReportAnswer) => parentPort!.postMessage(answer)

parentPort!.on('message', ({ kind, text }: ReportQuestion) => {
  say({ results: kind === 'tap' ? readTap(text) : readJunit(text) })
})
say('ready')
