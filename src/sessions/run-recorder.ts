import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SessionOutput } from '../events/envelope.ts'
import { sessionOf } from '../model/case-contents.ts'
import { isSealed } from '../model/session.ts'
import { hasEnded } from '../model/session-state.ts'
import { addedSince, conversationUsage } from '../model/session-usage.ts'
import { type NewTrailLine, newLine } from '../model/trail.ts'
import { numbered } from '../model/trail-lines.ts'
import { stepArtifacts } from '../model/trail-steps.ts'
import { dollarCount } from '../model/usage.ts'
import type { AgentNote, RunReport, StepOutcome, StepStart } from '../runners/contract.ts'
import { dropArtifact } from '../runners/output/artifacts.ts'
import { runProcess } from '../runners/process/run-processes.ts'
import type { Layout } from '../workspace/layout.ts'
import { boundedNotes } from './agent-notes.ts'
import type { SessionDeps } from './deps.ts'
import { type Job, updateWithRetry } from './jobs.ts'
import { createLiveOutput, type LiveOutput } from './live-output.ts'
import type { RedactedStream, Redactor } from './redaction.ts'
import { type NamedLog, openNamedLog, rawName } from './step-artifacts.ts'

/**
 * Receives what a runner reports for a job: writes audit trail and artifacts, and publishes live output. The lines `first`
 * are written with the first one of the run.
 */
export function openRunReport(
  deps: SessionDeps,
  job: Pick<Job, 'case_id' | 'session_id' | 'number' | 'ending' | 'processes'>,
  first: NewTrailLine[] = [],
): StepRecorder {
  const { layout, outputs, redactor, now } = deps
  const { case_id, session_id, number } = job
  const write = (lines: readonly NewTrailLine[]) =>
    appendLines(deps, job, [...first.splice(0), ...lines])
  const append = inGroups(write)
  const notes = boundedNotes(redactor)
  const recorder = createStepRecorder({
    layout,
    case_id,
    number,
    append,
    redactor,
    publish: (output) => outputs.publish({ case_id, session_id, ...output, time: now() }),
    onProcess: (pid) => void job.processes.push(runProcess(pid)),
    async onNote(note) {
      const lines = notes.lines(await ofThisRun(deps, job, note))
      if (note.event === 'agent_session' && lines.length > 0) {
        deps.conversations.set(session_id, note.fields.agent_session)
      }
      for (const line of lines) await append(line)
    },
    endNotes: async () => {
      for (const line of notes.rest()) await append(line)
    },
  })
  return {
    ...recorder,
    async close() {
      await recorder.close()
      if (first.length > 0) await write([]) // no step has begun
    },
  }
}

/** For agents that count over a whole conversation: subtracts what earlier runs used. */
async function ofThisRun(
  { store }: Pick<SessionDeps, 'store'>,
  { case_id, session_id }: Pick<Job, 'case_id' | 'session_id'>,
  note: AgentNote,
): Promise<AgentNote> {
  if (note.event !== 'agent_usage' || note.cumulative === null) return note
  const { trail } = sessionOf(await store.read(case_id), session_id)
  const before = conversationUsage(trail)
  const { input_tokens, output_tokens, cached_tokens, cost_usd } = note.fields
  const counts =
    note.cumulative === 'cost'
      ? { cost_usd: dollarCount(addedSince(before.cost_usd, cost_usd)) }
      : {
          input_tokens: addedSince(before.input_tokens, input_tokens),
          output_tokens: addedSince(before.output_tokens, output_tokens),
          cached_tokens: addedSince(before.cached_tokens, cached_tokens),
        }
  return { ...note, fields: { ...note.fields, ...counts } }
}

/**
 * Keeps the order of the calls. Items that arrive while a write is pending, or in the same turn of the event loop,
 * are written together.
 */
function inGroups<T>(write: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  let group: T[] | null = null
  let written: Promise<void> = Promise.resolve()
  return (item) => {
    if (group) group.push(item)
    else {
      const items = [item]
      group = items
      written = Promise.allSettled([written])
        .then(() => nextTurn())
        .then(() => {
          group = null
          return write(items)
        })
    }
    return written
  }
}

/**
 * Appends a line to a session's audit trail without changing its state. Does nothing once the session has ended.
 */
export function appendLine(
  deps: Pick<SessionDeps, 'store' | 'now'>,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  line: NewTrailLine,
): Promise<void> {
  return appendLines(deps, job, [line])
}

export async function appendLines(
  { store, now }: Pick<SessionDeps, 'store' | 'now'>,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  added: readonly NewTrailLine[],
): Promise<void> {
  await updateWithRetry(store, job, (contents) => {
    const session = sessionOf(contents, job.session_id)
    if (hasEnded(session.state) || isSealed(session)) return []
    const lines = numbered(session.trail, added, now())
    return [{ file: 'session', number: session.number, edit: { lines } }]
  })
}

interface RecorderDeps {
  layout: Layout
  case_id: string
  number: number
  append(line: NewTrailLine): Promise<void>
  publish(output: Pick<SessionOutput, 'step' | 'stream' | 'text' | 'artifact' | 'offset'>): void
  onProcess(pid: number): void
  onNote(note: AgentNote): Promise<void>
  /** Called after the last note of a step. */
  endNotes(): Promise<void>
  redactor: Redactor
}

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
  hasPrinted: boolean
}

interface StepRecorder extends RunReport {
  /** Closes the files of a step that was still open when a run broke off. */
  close(): Promise<void>
}

/** Records what a runner reports: audit trail lines, artifacts, and live output. */
export function createStepRecorder(deps: RecorderDeps): StepRecorder {
  const { number, append, layout, case_id } = deps
  let open: OpenStep | null = null
  /** Why the output of a step could not be stored: no further step starts. */
  let lost: unknown = null
  /** Pending until the last ended step's line is in the audit trail. */
  let ending: Promise<unknown> = Promise.resolve()
  let endingId = ''
  /** Pending while the files of a step are opened. */
  let opening: Promise<unknown> = Promise.resolve()

  return {
    async stepStarted(step, timeoutMs) {
      const names = stepArtifacts(number, step)
      const { id, language, cwd, proof, baseline } = step
      // an empty log of that name is about to be deleted
      if (endingId === id) await Promise.allSettled([ending])
      const files = openFiles(deps, step)
      opening = files
      const [{ log, report, raw }] = await Promise.all([files, Promise.allSettled([ending])])
      if (lost) {
        for (const each of [log, report, raw?.log]) {
          await each?.output.close()
          if (each) await dropArtifact(layout, case_id, each.name)
        }
        throw lost
      }
      const of = { step: id, artifact: log.name }
      const live = createLiveOutput(
        (stream, text, offset) => deps.publish({ ...of, stream, text, offset }),
        `artifacts/${log.name}`,
      )
      const redacted = { stdout: deps.redactor.stream(), stderr: deps.redactor.stream() }
      open = { step, live, log, report, raw, redacted, hasPrinted: false }
      const started = newLine('step_started', {
        step: id,
        language,
        cwd,
        timeout_ms: timeoutMs,
        proof: proof ?? undefined,
        baseline: baseline || undefined,
        log: log.name === names.log ? undefined : log.name,
        report: report?.name === names.report ? undefined : report?.name,
      })
      await append(started)
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
      const end = endOf(deps, last, outcome)
      endingId = last.step.id
      // written together with the start of the next step, which has been asked for by then
      const written = end.then(async ({ line, failure }) => {
        lost ??= failure
        await Promise.allSettled([opening])
        return { done: append(line) }
      })
      ending = written
      await (await written).done
      if (lost) throw lost
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

async function openFiles(
  { layout, case_id, number, redactor }: RecorderDeps,
  step: StepStart,
): Promise<Pick<OpenStep, 'log' | 'report' | 'raw'>> {
  const names = stepArtifacts(number, step)
  const opened: NamedLog[] = []
  const open = async (name: string) => {
    const log = await openNamedLog(layout, case_id, name)
    opened.push(log)
    return log
  }
  try {
    const log = await open(names.log)
    const report = names.report ? await open(names.report) : null
    const raw = step.hasRaw ? await open(rawName(log.name)) : null
    return { log, report, raw: raw && { log: raw, redacted: redactor.stream() } }
  } catch (error) {
    await Promise.allSettled(opened.map(({ output }) => output.close()))
    throw error
  }
}

const SILENT = Buffer.from('The step printed nothing, and ended with exit code 0.\n')

/** Closes the step's files, then returns its `step_finished` line, and why its output could not be stored. */
async function endOf(
  { layout, case_id, endNotes }: RecorderDeps,
  ended: OpenStep,
  outcome: StepOutcome,
): Promise<{ line: NewTrailLine; failure: unknown }> {
  await endNotes()
  for (const stream of ['stdout', 'stderr'] as const) {
    keep(ended, stream, ended.redacted[stream].end())
  }
  // a test step that ended well is proof by its log, so it has one
  if (ended.step.proof === 'test' && outcome.exit === 0 && !ended.hasPrinted) {
    keep(ended, 'stdout', SILENT)
  }
  const { step, live, log, report } = ended
  live.end()
  const kept = await log.output.close()
  const reported = await report?.output.close()
  if (kept.bytes === 0) await dropArtifact(layout, case_id, log.name)
  if (report && reported?.bytes === 0) await dropArtifact(layout, case_id, report.name)
  const raw = await closeRaw(ended, layout, case_id)
  const failure = kept.failure ?? reported?.failure ?? raw
  const { exit, signal, timedOut, endedByService, startError, durationMs } = outcome
  const isExpected = exit !== null && !timedOut && (step.expect ?? [0]).includes(exit)
  const line = newLine('step_finished', {
    step: step.id,
    exit,
    expected: isExpected === (exit === 0) ? undefined : isExpected,
    signal: signal ?? undefined,
    timed_out: timedOut || undefined,
    ended_by_service: endedByService || undefined,
    start_error: startError,
    duration_ms: durationMs,
    output_bytes: kept.bytes,
    report_bytes: kept.bytes > 0 && reported?.bytes === 0 ? 0 : undefined,
    truncated: kept.truncated || undefined,
    log_sha256: kept.bytes > 0 && !kept.failure ? kept.sha256 : undefined,
    report_sha256:
      reported && reported.bytes > 0 && !reported.failure ? reported.sha256 : undefined,
  })
  return { line, failure }
}

async function closeRaw({ raw }: OpenStep, layout: Layout, case_id: string): Promise<unknown> {
  if (!raw) return null
  const { name, output } = raw.log
  output.write(raw.redacted.end())
  const { bytes, failure } = await output.close()
  if (bytes === 0) await dropArtifact(layout, case_id, name)
  return failure
}

function keep(step: OpenStep, stream: Stream, bytes: Buffer): void {
  if (bytes.length === 0) return
  step.log.output.write(bytes, stream === 'stderr')
  if (stream === 'stdout') step.report?.output.write(bytes)
  const text = step.live.write(stream, bytes)
  step.hasPrinted ||= text.trim() !== ''
}
