import { codeOf, hasCode } from '../files/errno.ts'
import { countsWith, listedEvidence } from '../markdown/session-evidence.ts'
import { AppError } from '../model/app-error.ts'
import { type FailedTest, MAX_FAILED_TESTS } from '../model/failed-test.ts'
import { reportFacts } from '../model/report-formats.ts'
import type { Candidate, TestCounts } from '../model/session.ts'
import { type Fields, type NewTrailLine, newLine, type TrailLine } from '../model/trail.ts'
import {
  baselineStepsOf,
  endOf,
  stepsOf,
  type TrailStep,
  workStepsOf,
} from '../model/trail-steps.ts'
import { artifactPath, MAX_REPORT_BYTES, readArtifact } from '../runners/output/artifacts.ts'
import { endOfFile } from '../runners/output/output-log.ts'
import {
  openReportReader,
  type ReportReader,
  type ReportReading,
} from '../runners/reports/report-reader.ts'
import { type TestResults, testNote } from '../runners/reports/test-results.ts'
import type { Layout } from '../workspace/layout.ts'
import { changedText, isOtherArtifact } from './changed-artifacts.ts'
import type { FolderDiff } from './folder-diff.ts'
import type { StepResult } from './output-text.ts'

/** How much of the end of a log is read: the last message of an agent may be long. */
const MAX_PRINTED_BYTES = 32 * 1024

interface StepEvidence {
  results: StepResult[]
  candidates: Candidate[]
  tests: TestCounts | null
  /** The first failed tests, in step order. */
  failed_tests: FailedTest[]
}

/**
 * Collects the evidence of a run's steps. It uses only the audit trail and the artifacts, so the result is the same
 * whether the run ended well, was stopped, or its service died. Never rejects for an artifact: one that cannot be
 * read is named with its step and is not a proof candidate.
 */
export async function stepEvidence(
  layout: Layout,
  case_id: string,
  number: number,
  trail: readonly TrailLine[],
  workdir: string,
): Promise<StepEvidence> {
  const steps = [...baselineStepsOf(number, trail), ...workStepsOf(number, trail)]
  const results: StepResult[] = []
  const candidates: Candidate[] = []
  let tests: TestCounts | null = null
  const failed: FailedTest[] = []
  const reader = openReportReader()
  try {
    for (const step of steps) {
      const { log, report } = step.artifacts
      const output = await ownExcerpt(layout, case_id, step, log)
      const reported = await ownExcerpt(layout, case_id, step, report)
      const result = resultOf(step, output, reported)
      results.push(result)
      if ('isChanged' in output || 'isChanged' in reported) continue
      // a step that should print a report but wrote only to standard error still leaves its log
      const artifact = isThere(reported) ? report : isThere(output) ? log : null
      if (artifact === null) continue
      const reading = await resultsOf(reader, layout, case_id, step, artifact)
      if (reading.results) result.notes.unshift(testNote(reading.results))
      if (step.isBaseline) continue
      if (reading.results) {
        tests = sumOfTests(tests, reading.results)
        failed.push(...failuresOf(step, reading.results))
        result.isFailed ||= !reading.results.ok && !step.finished?.fields.expected
      }
      candidates.push({ artifact, note: noteOf(step, reading) })
    }
  } finally {
    await reader.close()
  }
  const failed_tests = failed.slice(0, MAX_FAILED_TESTS).map((test) => withoutFolder(test, workdir))
  return { results, candidates, tests, failed_tests }
}

/** What an agent printed during its last planning, for a planning that failed. */
export async function planResults(
  layout: Layout,
  case_id: string,
  number: number,
  trail: readonly TrailLine[],
): Promise<StepResult[]> {
  const began = trail.findLastIndex(
    ({ event, fields }) => event === 'session_state_changed' && fields.new_state === 'planning',
  )
  const results: StepResult[] = []
  for (const step of stepsOf(number, trail.slice(began + 1))) {
    const output = await excerptOf(layout, case_id, step.artifacts.log)
    results.push({ ...resultOf(step, output, MISSING), isFailed: true })
  }
  return results
}

function resultOf(step: TrailStep, output: Excerpt, reported: Excerpt): StepResult {
  const { exit, expected } = step.finished?.fields ?? {}
  const unread = [output, reported].flatMap((each) => ('unread' in each ? [each.unread] : []))
  return {
    step,
    notes: expected ? ['as expected', ...unread] : unread,
    isFailed: !step.isBaseline && !(expected ?? exit === 0),
    printed: 'text' in output ? output.text : '',
  }
}

export function noteOf(step: TrailStep, reading: ReportReading): string {
  if (reading.results) return testNote(reading.results)
  if (reading.reason !== undefined) return `${reading.reason}, ${endOf(step)}`
  if (reading.unread !== undefined)
    return `its report is not read by Casefile (${reading.unread}), ${endOf(step)}`
  const missing = reportFacts(step.proof)?.content
  return missing ? `no ${missing} in the output, ${endOf(step)}` : endOf(step)
}

/** Test results come from a test report, never from prose. */
async function resultsOf(
  reader: ReportReader,
  layout: Layout,
  case_id: string,
  { proof, artifacts }: TrailStep,
  artifact: string,
): Promise<ReportReading> {
  if (artifact !== artifacts.report && proof !== 'log' && proof !== 'test') return { results: null }
  let text: string | null
  try {
    text = await readArtifact(layout, case_id, artifact, MAX_REPORT_BYTES, true)
  } catch (error) {
    return { results: null, reason: unread(artifact, error) }
  }
  if (text === null) return { results: null }
  return reader.read(text)
}

/** The failed tests of a step. If its report is incomplete, the step itself counts as a failed test. */
function failuresOf({ id }: TrailStep, { ok, failed, failures }: TestResults): FailedTest[] {
  if (ok || failed > 0) return failures
  const message =
    'The report is incomplete: it is cut off, planned tests are missing, or its own totals contradict it.'
  return [{ name: `step ${id}`, message, file: null, line: null }]
}

/** Makes paths relative to the working folder, which differs on other machines. */
function withoutFolder({ name, message, file, line }: FailedTest, workdir: string): FailedTest {
  const text = (value: string) => value.replaceAll(`${workdir}/`, '')
  return {
    name: text(name),
    message: message === null ? null : text(message),
    file: file === null ? null : text(file),
    line,
  }
}

/** An incomplete report, or a bail-out, counts as one more failed test, since tests may be missing from it. */
export function sumOfTests(
  total: TestCounts | null,
  { run, passed, failed, ok, flaky }: Omit<TestResults, 'failures' | 'skipped'>,
): TestCounts {
  const before = total ?? { run: 0, passed: 0, failed: 0 }
  const broken = ok || failed > 0 ? 0 : 1
  const counts = {
    run: before.run + run + broken,
    passed: before.passed + passed,
    failed: before.failed + failed + broken,
  }
  return countsWith(counts, (before.flaky ?? 0) + (flaky?.count ?? 0))
}

type Excerpt = { text: string } | { unread: string; isChanged?: true } | typeof MISSING
const MISSING = { missing: true } as const

function isThere(excerpt: Excerpt): boolean {
  return 'text' in excerpt
}

/** The same, but not what another process put in the place of the step's output. */
async function ownExcerpt(
  layout: Layout,
  case_id: string,
  step: TrailStep,
  name: string | null,
): Promise<Excerpt> {
  const excerpt = await excerptOf(layout, case_id, name)
  if (name === null || !isThere(excerpt)) return excerpt
  if (!(await isOtherArtifact(layout, case_id, step, name))) return excerpt
  return { unread: changedText(name), isChanged: true }
}

async function excerptOf(layout: Layout, case_id: string, name: string | null): Promise<Excerpt> {
  if (name === null) return MISSING
  try {
    return await endOfFile(artifactPath(layout, case_id, name), MAX_PRINTED_BYTES)
  } catch (error) {
    return hasCode(error, 'ENOENT', 'ENOTDIR') ? MISSING : { unread: unread(name, error) }
  }
}

function unread(name: string, error: unknown): string {
  const why = error instanceof AppError ? error.message : codeOf(error) || String(error)
  return `artifacts/${name} could not be read: ${why}`
}

/** The diff, as the audit trail has it. */
export function diffFields(found: FolderDiff): Fields {
  if ('reason' in found) return { reason: found.reason }
  const { diff, warnings, results, patch_sha256, from_start } = found
  const { file, additions, deletions, files } = diff
  const { diff: listed } = listedEvidence({ diff, failed_tests: [] })
  return newLine('diff_taken', {
    file: file || undefined,
    additions,
    deletions,
    files: files?.length ?? (file === '' ? 0 : 1),
    changed: listed?.files,
    from_start: from_start || undefined,
    warnings: warnings.length || undefined,
    first: warnings.length === 0 ? undefined : shown(warnings),
    patch_sha256: patch_sha256 ?? undefined,
    results: results.entries,
    results_cut: results.isCut || undefined,
  }).fields
}

/** The audit trail's line for changed files outside the scope of the plan; none without any. */
export function scopeLines(found: FolderDiff): NewTrailLine[] {
  if ('reason' in found || found.outside.files.length === 0) return []
  const { files, more } = found.outside
  return [newLine('out_of_scope', { files, more: more || undefined })]
}

/** The tests, as the audit trail has them; undefined without any. */
export function testsFields({
  tests,
  failed_tests,
}: Pick<StepEvidence, 'tests' | 'failed_tests'>): Fields | undefined {
  const { failed_tests: listed } = listedEvidence({ diff: null, failed_tests })
  const names = listed.length === 0 ? undefined : listed
  return tests ? newLine('tests_read', { ...tests, failed_tests: names }).fields : undefined
}

function shown(warnings: readonly string[]): string[] {
  return warnings.slice(0, 3).map((warning) => warning.slice(0, 200).toWellFormed())
}
