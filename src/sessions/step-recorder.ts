import type { PlanStep } from '../model/plan-step.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { WorkReport } from '../runners/contract.ts'
import { artifactPath, dropArtifact, makeArtifacts } from '../workspace/artifacts.ts'
import type { Layout } from '../workspace/layout.ts'
import { type OutputLog, openOutputLog } from '../workspace/output-log.ts'
import { plainText } from '../workspace/plain-text.ts'
import { createLiveOutput, type LiveOutput } from './live-output.ts'

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
  log: OutputLog
  /** Standard output alone, where it is a report to be read. */
  report: OutputLog | null
  tail: string
}

/** The names of a step's artifacts: all its output, and the report that it prints, if it is one. */
export function stepArtifacts(number: number, step: Pick<PlanStep, 'id' | 'proof'>) {
  const stem = `${number}-${step.id}`
  const report =
    step.proof === 'tap' ? `${stem}.tap` : step.proof === 'junit' ? `${stem}.xml` : null
  return { log: `${stem}.log`, report }
}

/** Writes what a runner reports: the trail's lines, the artifacts, the live output. */
export function createStepRecorder(needs: RecorderNeeds): WorkReport {
  const { layout, case_id, number, append } = needs
  let open: OpenStep | null = null

  return {
    async stepStarted(step, timeoutMs) {
      const names = stepArtifacts(number, step)
      await makeArtifacts(layout, case_id)
      const path = (name: string) => artifactPath(layout, case_id, name)
      const { id, language, cwd, proof } = step
      const logs = {
        log: await openOutputLog(path(names.log)),
        report: names.report ? await openOutputLog(path(names.report)) : null,
      }
      await append({
        event: 'step_started',
        fields: { step: id, language, cwd, timeout_ms: timeoutMs, ...(proof ? { proof } : {}) },
      })
      open = {
        step,
        live: createLiveOutput(
          (stream, text) => needs.publish(id, stream, text),
          `artifacts/${names.log}`,
        ),
        ...logs,
        tail: '',
      }
    },
    processStarted: (pid) => needs.onProcess(pid),
    output(stream, bytes) {
      if (!open) return
      open.log.write(bytes)
      if (stream === 'stdout') open.report?.write(bytes)
      const text = open.live.write(stream, bytes)
      if (text !== '') open.tail = (open.tail + text).slice(-2 * TAIL)
    },
    async stepFinished(outcome) {
      const { step, live, log, report, tail } = open!
      open = null
      const rest = live.end()
      const names = stepArtifacts(number, step)
      const kept = await log.close()
      const reported = await report?.close()
      if (kept.bytes === 0) await dropArtifact(layout, case_id, names.log)
      if (names.report && reported?.bytes === 0) await dropArtifact(layout, case_id, names.report)
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
          ...(kept.truncated ? { truncated: true } : {}),
          tail: lastLines(plainText(tail + rest)),
        },
      })
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
