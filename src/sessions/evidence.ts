import type { Candidate, Diff, TestCounts } from '../model/session.ts'
import type { NewTrailLine, TrailLine } from '../model/trail.ts'
import { readJunit } from '../runners/junit-results.ts'
import { readTap } from '../runners/tap-results.ts'
import { type TestResults, testNote } from '../runners/test-results.ts'
import { artifactPath, readArtifact } from '../workspace/artifacts.ts'
import { hasCode } from '../workspace/errno.ts'
import type { Layout } from '../workspace/layout.ts'
import { headAndTail } from '../workspace/output-excerpt.ts'
import { headAndTailOfFile } from '../workspace/output-log.ts'
import { stepArtifacts } from './step-recorder.ts'

/** `## Execution output` holds at most this; the whole is in artifacts/ (design §2). */
const MAX_OUTPUT_BYTES = 64 * 1024
const MAX_REPORT_BYTES = 21 * 1024 * 1024

/** A step as the trail tells of it. */
interface TrailStep {
  id: string
  proof: 'tap' | 'junit' | 'log' | null
  finished: TrailLine | null
}

export interface StepEvidence {
  output: string
  candidates: Candidate[]
  tests: TestCounts | null
}

/**
 * What a run's steps leave, taken from the trail and the artifacts alone: so it is the same whether
 * the run ended well, was stopped, or its service died.
 */
export async function stepEvidence(
  layout: Layout,
  case_id: string,
  number: number,
  trail: readonly TrailLine[],
): Promise<StepEvidence> {
  const steps = stepsOf(trail)
  const share = Math.max(
    2048,
    Math.floor((MAX_OUTPUT_BYTES - 1024) / Math.max(1, steps.length)) - 256,
  )
  const parts: string[] = []
  const candidates: Candidate[] = []
  let tests: TestCounts | null = null
  for (const step of steps) {
    const names = stepArtifacts(number, step)
    const path = artifactPath(layout, case_id, names.log)
    const output = await excerptOf(path, share, `artifacts/${names.log}`)
    parts.push(stepText(step, output ?? ''))
    const results = await resultsOf(layout, case_id, names, step)
    if (results) tests = sum(tests, results)
    const reported =
      names.report && (await excerptOf(artifactPath(layout, case_id, names.report), 1, ''))
    // a step that was to print a report and wrote to standard error alone still leaves its log
    const artifact = reported === null ? (output === null ? null : names.log) : names.report
    if (artifact !== null) candidates.push({ artifact, note: noteOf(step, results) })
  }
  return { output: boundedOutput(number, parts), candidates, tests }
}

/** The parts that say something as the text of `## Execution output`. */
export function boundedOutput(number: number, parts: readonly string[]): string {
  const text = parts.filter((part) => part !== '').join('\n\n')
  return headAndTail(text, MAX_OUTPUT_BYTES, `artifacts/${number}-*.log`)
}

function stepsOf(trail: readonly TrailLine[]): TrailStep[] {
  const steps: TrailStep[] = []
  for (const { event, fields } of trail) {
    if (event !== 'step_started') continue
    const proof = fields.proof as TrailStep['proof'] | undefined
    steps.push({ id: String(fields.step), proof: proof ?? null, finished: null })
  }
  for (const line of trail) {
    if (line.event !== 'step_finished') continue
    const step = steps.find((each) => each.id === String(line.fields.step))
    if (step) step.finished = line
  }
  return steps
}

function stepText(step: TrailStep, output: string): string {
  const body = output === '' || output.endsWith('\n') ? output : `${output}\n`
  return `$ step ${step.id}\n${body}[${endOf(step)}]`
}

function endOf({ finished }: TrailStep): string {
  if (!finished) return 'not finished'
  const { exit, signal, timed_out, start_error, duration_ms } = finished.fields
  const time = `${(Number(duration_ms) / 1000).toFixed(1)} s`
  if (start_error) return `could not be started: ${start_error}`
  if (timed_out) return `stopped by its time-out after ${time}`
  if (exit !== null) return `exit ${exit} after ${time}`
  return signal ? `ended by ${signal} after ${time}` : 'stopped before it began'
}

function noteOf(step: TrailStep, results: TestResults | null): string {
  if (results) return testNote(results)
  const report =
    step.proof === 'tap'
      ? 'no TAP in the output, '
      : step.proof === 'junit'
        ? 'no JUnit XML in the output, '
        : ''
  return report + endOf(step)
}

/** Results come from TAP or JUnit XML, never from prose (design §6). */
async function resultsOf(
  layout: Layout,
  case_id: string,
  names: ReturnType<typeof stepArtifacts>,
  step: TrailStep,
): Promise<TestResults | null> {
  if (names.report === null && step.proof !== 'log') return null
  const text = await readArtifact(
    layout,
    case_id,
    names.report ?? names.log,
    MAX_REPORT_BYTES,
    true,
  )
  if (text === null) return null
  if (step.proof === 'junit') return readJunit(text)
  return step.proof === 'tap' || /^TAP version 1[34]$/m.test(text) ? readTap(text) : null
}

function sum(total: TestCounts | null, { run, passed, failed }: TestResults): TestCounts {
  const before = total ?? { run: 0, passed: 0, failed: 0 }
  return { run: before.run + run, passed: before.passed + passed, failed: before.failed + failed }
}

async function excerptOf(path: string, maxBytes: number, where: string): Promise<string | null> {
  try {
    return await headAndTailOfFile(path, maxBytes, where)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}

/** The trail's own words for what was found. */
export function evidenceLines(
  diff: { diff: Diff } | { reason: string },
  tests: TestCounts | null,
): NewTrailLine[] {
  const lines: NewTrailLine[] = []
  if ('diff' in diff) {
    const { file, additions, deletions, files } = diff.diff
    const count = files?.length ?? (file === '' ? 0 : 1)
    lines.push({ event: 'diff_taken', fields: { file, additions, deletions, files: count } })
  } else {
    lines.push({ event: 'diff_taken', fields: { diff: null, reason: diff.reason } })
  }
  if (tests) lines.push({ event: 'tests_read', fields: { ...tests } })
  return lines
}
