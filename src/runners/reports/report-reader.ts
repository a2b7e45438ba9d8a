import { Worker } from 'node:worker_threads'
import type { ReportFormat } from '../../model/report-formats.ts'
import { workerFile } from '../../package-files.ts'
import type { ReportedTests } from './reported-tests.ts'
import type { TestResults } from './test-results.ts'

/** The time limit for all reports of a run together, since the operator is waiting. */
const BUDGET_MS = 10_000
const START_LIMIT_MS = 120_000
/** What the worker is asked. */
export interface ReportQuestion {
  text: string
  wants: 'counts' | 'tests'
}

/** What the worker posts. */
export type ReportAnswer = 'ready' | { reading: ReportReading } | { tests: ReportedTests | null }

/**
 * `reason` says why a report could not be read, such as `the report took too long to read`. `unread` is the name of a
 * report that Casefile does not read.
 */
export type ReportReading =
  | { format: ReportFormat; results: TestResults }
  | { results: null; reason?: string; unread?: string }

export interface ReportReader {
  /** Reads the report in a text, in any format. One at a time. Never rejects. */
  read(text: string): Promise<ReportReading>
  /** The tests of a report by name; null if there is none, or if it can't be read. */
  readTests(text: string): Promise<ReportedTests | null>
  close(): Promise<void>
}

type Answer = Exclude<ReportAnswer, 'ready'>

const TOO_LONG = failed('the report took too long to read')

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

  async function ask(question: ReportQuestion): Promise<Answer> {
    if (left <= 0) return TOO_LONG
    if (!worker) {
      worker = startWorker()
      ready = false
    }
    const asked = worker
    return new Promise((resolve) => {
      let began = performance.now()
      let timer: NodeJS.Timeout
      const finish = (answer: Answer, keep: boolean) => {
        clearTimeout(timer)
        left -= performance.now() - began
        asked.off('message', onMessage).off('error', onError).off('exit', onExit)
        if (keep) resolve(answer)
        else void close().then(() => resolve(answer))
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
      asked.postMessage(question)
    })
  }

  return {
    async read(text) {
      const answer = await ask({ text, wants: 'counts' })
      return 'reading' in answer ? answer.reading : { results: null }
    },
    async readTests(text) {
      const answer = await ask({ text, wants: 'tests' })
      return 'tests' in answer ? answer.tests : null
    },
    close,
  }
}

/** Usually out of stack or memory. */
function unread(error: Error): Answer {
  return failed(`the report could not be read (${error.message})`)
}

function failed(reason: string): Answer {
  return {
    reading: {
      results: null,
      reason,
    },
  }
}

function startWorker(): Worker {
  // as in markdown/worker-pool.ts
  return new Worker(workerFile('runners/reports/report-worker.ts'), { execArgv: [] })
}
