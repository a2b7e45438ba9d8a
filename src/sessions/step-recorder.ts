import type { SessionOutput } from '../events/envelope.ts'
import { plainText } from '../files/plain-text.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentNote, RunReport, StepOutcome, StepStart } from '../runners/contract.ts'
import { dropArtifact } from '../runners/output/artifacts.ts'
import type { Layout } from '../workspace/layout.ts'
import { createLiveOutput, type LiveOutput } from './live-output.ts'
import type { RedactedStream, Redactor } from './redaction.ts'
import { type NamedLog, openNamedLog, rawName, stepArtifacts } from './step-artifacts.ts'

/** How many characters of output the `step_finished` line repeats. */
const TAIL = 2000

export interface RecorderDeps {
  layout: Layout
  case_id: string
  number: number
  append(line: NewTrailLine): Promise<void>
  publish(output: StepOutput): void
  onProcess(pid: number): Promise<void>
  onNote(note: AgentNote): Promise<void>
  /** Called after the last note of a step. */
  endNotes(): Promise<void>
  redactor: Redactor
}

/** A piece of a step's output, and its position in the artifact with all output. */
export type StepOutput = Pick<SessionOutput, 'step' | 'stream' | 'text' | 'artifact' | 'offset'>

type Stream = SessionOutput['stream']

interface OpenStep {
  step: StepStart
  live: LiveOutput
  log: NamedLog
  /** Standard output alone, if it is a test report. */
  report: NamedLog | null
  /** The program's original output, if the log is made from it. */
  raw: { log: NamedLog; redacted: RedactedStream } | null
  /** Streams that remove the secrets of the service's environment. */
  redacted: Record<Stream, RedactedStream>
  tail: string
}

export interface StepRecorder extends RunReport {
  /** Closes the files of a step that was still open when a run broke off. */
  close(): Promise<void>
}

/** Records what a runner reports: audit trail lines, artifacts, and live output. */
export function createStepRecorder(deps: RecorderDeps): StepRecorder {
  const { layout, case_id, number, append } = deps
  let open: OpenStep | null = null
  /** Pending until the last ended step's line is in the audit trail. */
  let ending: Promise<unknown> = Promise.resolve()
  let endingId = ''

  return {
    async stepStarted(step, timeoutMs) {
      const names = stepArtifacts(number, step)
      const { id, language, cwd, proof } = step
      // an empty log of that name is about to be deleted
      if (endingId === id) await Promise.allSettled([ending])
      const [log] = await Promise.all([
        openNamedLog(layout, case_id, names.log),
        Promise.allSettled([ending]),
      ])
      const of = { step: id, artifact: log.name }
      const live = createLiveOutput(
        (stream, text, offset) => deps.publish({ ...of, stream, text, offset }),
        `artifacts/${log.name}`,
      )
      const redacted = { stdout: deps.redactor.stream(), stderr: deps.redactor.stream() }
      open = { step, live, log, report: null, raw: null, redacted, tail: '' }
      if (names.report) open.report = await openNamedLog(layout, case_id, names.report)
      if (step.hasRaw) {
        const rawLog = await openNamedLog(layout, case_id, rawName(log.name))
        open.raw = { log: rawLog, redacted: deps.redactor.stream() }
      }
      const { report } = open
      await append({
        event: 'step_started',
        fields: {
          step: id,
          ...(language ? { language } : {}),
          cwd,
          timeout_ms: timeoutMs,
          ...(proof ? { proof } : {}),
          ...(log.name === names.log ? {} : { log: log.name }),
          ...(report === null || report.name === names.report ? {} : { report: report.name }),
        },
      })
    },
    clean: (text) => deps.redactor.text(text),
    note: deps.onNote,
    processStarted: (pid) => deps.onProcess(pid),
    output(stream, bytes) {
      if (open) keep(open, stream, open.redacted[stream].write(bytes))
    },
    raw(bytes) {
      if (open?.raw) open.raw.log.output.write(open.raw.redacted.write(bytes))
    },
    async stepFinished(outcome) {
      const last = open!
      open = null
      const line = lineOfEnd(deps, last, outcome)
      ending = line
      endingId = last.step.id
      await append(await line)
    },
    async close() {
      const left = open
      open = null
      // a disk error here has the same cause as the one that ended the run
      const logs = [left?.log, left?.report, left?.raw?.log]
      await Promise.allSettled([ending, ...logs.map((each) => each?.output.close())])
    },
  }
}

/** Closes the step's files, then returns its `step_finished` line. */
async function lineOfEnd(
  { layout, case_id, endNotes, redactor }: RecorderDeps,
  ended: OpenStep,
  outcome: StepOutcome,
): Promise<NewTrailLine> {
  await endNotes()
  for (const stream of ['stdout', 'stderr'] as const) {
    keep(ended, stream, ended.redacted[stream].end())
  }
  const { step, live, log, report, tail } = ended
  const rest = live.end()
  const kept = await log.output.close()
  const reported = await report?.output.close()
  if (kept.bytes === 0) await dropArtifact(layout, case_id, log.name)
  if (report && reported?.bytes === 0) await dropArtifact(layout, case_id, report.name)
  await closeRaw(ended, layout, case_id)
  const { exit, signal, timedOut, endedByService, startError, durationMs } = outcome
  return {
    event: 'step_finished',
    fields: {
      step: step.id,
      exit,
      ...(signal === null ? {} : { signal }),
      ...(timedOut ? { timed_out: true } : {}),
      ...(endedByService ? { ended_by_service: true } : {}),
      ...(startError === undefined ? {} : { start_error: startError }),
      duration_ms: durationMs,
      output_bytes: kept.bytes,
      ...(kept.bytes > 0 && reported?.bytes === 0 ? { report_bytes: 0 } : {}),
      ...(kept.truncated ? { truncated: true } : {}),
      tail: lastLines(redactor.text(plainText(tail + rest))),
    },
  }
}

async function closeRaw({ raw }: OpenStep, layout: Layout, case_id: string): Promise<void> {
  if (!raw) return
  const { name, output } = raw.log
  output.write(raw.redacted.end())
  const { bytes } = await output.close()
  if (bytes === 0) await dropArtifact(layout, case_id, name)
}

function keep(step: OpenStep, stream: Stream, bytes: Buffer): void {
  if (bytes.length === 0) return
  step.log.output.write(bytes)
  if (stream === 'stdout') step.report?.output.write(bytes)
  const text = step.live.write(stream, bytes)
  if (text !== '') step.tail = (step.tail + text).slice(-2 * TAIL)
}

function lastLines(text: string): string {
  if (text.length <= TAIL) return text
  const cut = text.slice(-TAIL)
  const line = cut.indexOf('\n')
  const whole = line >= 0 && line < TAIL / 2 ? cut.slice(line + 1) : cut
  return whole.isWellFormed() ? whole : whole.toWellFormed()
}
