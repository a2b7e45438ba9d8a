import { parentPort } from 'node:worker_threads'
import { readReport } from './read-report.ts'
import type { ReportAnswer } from './report-reader.ts'

const answer = (message: ReportAnswer) => parentPort!.postMessage(message)

parentPort!.on('message', (text: string) => answer(readReport(text)))
answer('ready')
