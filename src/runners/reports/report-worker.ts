import { parentPort } from 'node:worker_threads'
import { readReport, readTests } from './read-report.ts'
import type { ReportAnswer, ReportQuestion } from './report-reader.ts'

const answer = (message: ReportAnswer) => parentPort!.postMessage(message)

parentPort!.on('message', ({ text, wants }: ReportQuestion) =>
  answer(wants === 'tests' ? { tests: readTests(text) } : { reading: readReport(text) }),
)
answer('ready')
