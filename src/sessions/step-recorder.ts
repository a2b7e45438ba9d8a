import type { PlanStep } from '../model/plan-step.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { WorkReport } from '../runners/contract.ts'
import { plainText } from '../workspace/disk/plain-text.ts'
import type { Layout } from '../workspace/layout.ts'
import { dropArtifact } from '../workspace/output/artifacts.ts'
import { createLiveOutput, type LiveOutput } from './live-output.ts'
import { type NamedLog, openNamedLog, stepArtifacts } from './step-artifacts.ts'

/** How much of a step's output its `step_finished` line repeats, in characters. */
const TAIL = 2000

export interface RecorderNeeds {
  layout: Layout
  case_id: string
  number: number
  append(line: NewTrailLine): Promise<void>
  publish(step: string, stream: 'stdout' | 'stderr', text: string): void
  onProcess(pid: number): Promise<void>
}

interface OpenStep {
  step: PlanStep
  live: LiveOutput
  log: NamedLog
  /** Standard output alone, where it is a report to be read. */
  report: NamedLog | null
  tail: string
}

export interface StepRecorder extends WorkReport {
  /** Lets go of the step that was under way when a run broke off; nothing to do otherwise. */
  close(): Promise<void>
}

/** Writes what a runner reports: the trail's lines, the artifacts, the live output. */
export function createStepRecorder(needs: RecorderNeeds): StepRecorder {
  const { layout, case_id, number, append } = needs
  let open: OpenStep | null = null

  return {
    async stepStarted(step, timeoutMs) {
      const names = stepArtifacts(number, step)
      const { id, language, cwd, proof } = step
      const log = await openNamedLog(layout, case_id, names.log)
      const publish = (stream: 'stdout' | 'stderr', text: string) => needs.publish(id, stream, text)
      const live = createLiveOutput(publish, `artifacts/${log.name}`)
      open = { step, live, log, report: null, tail: '' }
      if (names.report) open.report = await openNamedLog(layout, case_id, names.report)
      const { report } = open
      await append({
        event: 'step_started',
        fields: {
          ...{ step: id, language, cwd, timeout_ms: timeoutMs },
          ...(proof ? { proof } : {}),
          ...(log.name === names.log ? {} : { log: log.name }),
          ...(report === null || report.name === names.report ? {} : { report: report.name }),
        },
      })
    },
    processStarted: (pid) => needs.onProcess(pid),
    output(stream, bytes) {
      if (!open) return
      open.log.output.write(bytes)
      if (stream === 'stdout') open.report?.output.write(bytes)
      const text = open.live.write(stream, bytes)
      if (text !== '') open.tail = (open.tail + text).slice(-2 * TAIL)
    },
    async stepFinished(outcome) {
      const { step, live, log, report, tail } = open!
      const rest = live.end()
      const kept = await log.output.close()
      const reported = await report?.output.close()
      open = null
      if (kept.bytes === 0) await dropArtifact(layout, case_id, log.name)
      if (report && reported?.bytes === 0) await dropArtifact(layout, case_id, report.name)
      const { exit, signal, timedOut, startError, durationMs } = outcome
      await append({
        event: 'step_finished',
        fields: {
          step: step.id,
          exit,
          ...(signal === null ? {} : { signal }),
          ...(timedOut ? { timed_out: true } : {}),
          ...(startError === undefined ? {} : { start_error: startError }),
          duration_ms: durationMs,
          output_bytes: kept.bytes,
          ...(kept.bytes > 0 && reported?.bytes === 0 ? { report_bytes: 0 } : {}),
          ...(kept.truncated ? { truncated: true } : {}),
          tail: lastLines(plainText(tail + rest)),
        },
      })
    },
    async close() {
      const left = open
      open = null
      // a disk error here is the very one, or comes after the one, that broke the run off
      await Promise.allSettled([left?.log.output.close(), left?.report?.output.close()])
    },
  }
}

function lastLines(text: string): string {
  if (text.length <= TAIL) return text
  const cut = text.slice(-TAIL)
  const line = cut.indexOf('\n')
  const whole = line >= 0 && line < TAIL / 2 ? cut.slice(line + 1) : cut
  return whole.isWellFormed() ? whole : whole.toWellFormed()
}
