import { Worker } from 'node:worker_threads'
import type { ReportFormat } from '../../model/report-formats.ts'
import { workerFile } from '../../package-files.ts'
import type { TestResults } from './test-results.ts'

/** The time limit for all reports of a run together, since the operator is waiting. */
const BUDGET_MS = 10_000
const START_LIMIT_MS = 120_000
/** What the worker posts. */
export type ReportAnswer = 'ready' | ReportReading

/** `reason` says why a report could not be read, such as `the report took too long to read`. */
export type ReportReading =
  | { format: ReportFormat; results: TestResults }
  | { results: null; reason?: string }

export interface ReportReader {
  /** Reads the report in a text, in any format. One at a time. Never rejects. */
  read(text: string): Promise<ReportReading>
  close(): Promise<void>
}

const TOO_LONG: ReportReading = { results: null, reason: 'the report took too long to read' }

/** Reads test reports in a worker thread, because a hostile report may take the parser minutes. */
export function openReportReader(budgetMs = BUDGET_MS): ReportReader {
  let worker: Worker | null = null
  let ready = false
  let left = budgetMs

  async function close(): Promise<void> {
    const ending = worker
    worker = null
    await ending?.terminate()
  }

  function ask(asked: Worker, text: string): Promise<ReportReading> {
    return new Promise((resolve) => {
      let began = performance.now()
      let timer: NodeJS.Timeout
      const finish = (reading: ReportReading, keep: boolean) => {
        clearTimeout(timer)
        left -= performance.now() - began
        asked.off('message', onMessage).off('error', onError).off('exit', onExit)
        if (keep) resolve(reading)
        else void close().then(() => resolve(reading))
      }
      const tooLong = () => {
        finish(TOO_LONG, false)
        if (ready) left = 0 // a timer may fire a moment early
      }
      const onMessage = (answer: ReportAnswer) => {
        if (answer !== 'ready') return finish(answer, true)
        ready = true
        clearTimeout(timer)
        began = performance.now()
        timer = setTimeout(tooLong, left)
      }
      const onError = (error: Error) => finish(unread(error), false)
      const onExit = () => finish(unread(new Error('the worker has exited')), false)
      timer = setTimeout(tooLong, ready ? left : START_LIMIT_MS)
      asked.on('message', onMessage).on('error', onError).on('exit', onExit)
      asked.postMessage(text)
    })
  }

  return {
    async read(text) {
      if (left <= 0) return TOO_LONG
      if (!worker) {
        worker = startWorker()
        ready = false
      }
      return ask(worker, text)
    },
    close,
  }
}

/** Usually out of stack or memory. */
function unread(error: Error): ReportReading {
  return { results: null, reason: `the report could not be read (${error.message})` }
}

function startWorker(): Worker {
  return new Worker(workerFile('runners/reports/report-worker.ts'))
}
