/** Which tests failed before the work, and what changed: for steps of a plan with the key `baseline`. */

import { readPlan } from '../markdown/plan-steps.ts'
import {
  type ChangeOfTests,
  MAX_COMPARED_NAMES,
  type TestsCompared,
} from '../model/before-run-text.ts'
import { sessionOf } from '../model/case-contents.ts'
import { baselineId, type PlanStep } from '../model/plan-step.ts'
import type { TestCounts } from '../model/session.ts'
import { type NewTrailLine, newLine, type TrailLine } from '../model/trail.ts'
import { baselineStepsOf, type TrailStep, workStepsOf } from '../model/trail-steps.ts'
import type { WorkRequest } from '../runners/contract.ts'
import type { Sandbox } from '../runners/enclosure/sandbox.ts'
import { MAX_REPORT_BYTES, readArtifact } from '../runners/output/artifacts.ts'
import { killRun } from '../runners/process/kill-run.ts'
import { openReportReader, type ReportReading } from '../runners/reports/report-reader.ts'
import type { ReportedTests, TestOutcome } from '../runners/reports/reported-tests.ts'
import { runBaselineSteps } from '../runners/runbook.ts'
import type { Layout } from '../workspace/layout.ts'
import type { SessionDeps } from './deps.ts'
import { noteOf, sumOfTests } from './evidence.ts'
import type { Job } from './jobs.ts'
import { appendLine } from './run-recorder.ts'

/** The tests before the work, by the id of their step; only those of a report that could be read. */
export type TestsByStep = ReadonlyMap<string, ReportedTests>

const MAX_NAME = 300

/** Runs the baseline steps of the plan, and records their tests. They change neither how the run ends nor its proof. */
export async function runBaseline(
  deps: SessionDeps,
  job: Job,
  request: WorkRequest,
  forSteps: () => Promise<Sandbox>,
): Promise<TestsByStep> {
  const found = new Map<string, ReportedTests>()
  const { steps } = await readPlan(request.plan)
  if (!steps.some(({ baseline }) => baseline)) return found
  const sandbox = await forSteps()
  await runBaselineSteps({ ...request, sandbox }, async (step) => {
    await killRun(job, deps.limits.endRun)
    const tests = await recordTests(deps, job, step, request.workdir)
    if (tests) found.set(step.id, tests)
  })
  return found
}

async function recordTests(
  deps: SessionDeps,
  job: Job,
  planned: PlanStep,
  workdir: string,
): Promise<ReportedTests | null> {
  const { layout, store } = deps
  const { trail, number } = sessionOf(await store.read(job.case_id), job.session_id)
  const step = baselineStepsOf(number, trail).findLast(({ id }) => id === baselineId(planned))
  if (!step) return null
  const { reading, tests } = await readTests(layout, job.case_id, step)
  const names = (tests?.tests ?? [])
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ path }) => shownName(path, workdir))
  const { results } = reading
  const isIncomplete = results !== null && !results.ok && results.failed === 0
  await appendLine(
    deps,
    job,
    newLine('tests_before', {
      step: planned.id,
      ...(results ? sumOfTests(null, results) : {}),
      failing: names.length === 0 ? undefined : names.slice(0, MAX_COMPARED_NAMES),
      reason: results
        ? isIncomplete
          ? 'the report is incomplete: it is cut off, planned tests are missing, or its own totals contradict it'
          : undefined
        : noteOf(step, reading),
    }),
  )
  return results ? tests : null
}

/** What a step printed as its report; `tests` is null without one. */
async function readTests(
  layout: Layout,
  caseId: string,
  { artifacts: { report } }: TrailStep,
): Promise<{ reading: ReportReading; tests: ReportedTests | null }> {
  const none = { reading: { results: null }, tests: null }
  let text: string | null
  try {
    text =
      report === null ? null : await readArtifact(layout, caseId, report, MAX_REPORT_BYTES, true)
  } catch (error) {
    const reason = `artifacts/${report} could not be read: ${(error as Error).message}`
    return { reading: { results: null, reason }, tests: null }
  }
  if (text === null) return none
  const reader = openReportReader()
  try {
    return { reading: await reader.read(text), tests: await reader.readTests(text) }
  } finally {
    await reader.close()
  }
}

/** The lines that compare the tests after the work with those before, one for each step that has both. */
export async function comparedTests(
  layout: Layout,
  caseId: string,
  { number, trail }: { number: number; trail: readonly TrailLine[] },
  { before, workdir }: { before: TestsByStep; workdir: string },
): Promise<NewTrailLine<'tests_compared'>[]> {
  const lines: NewTrailLine<'tests_compared'>[] = []
  for (const [id, former] of before) {
    const step = workStepsOf(number, trail).find((each) => each.id === id)
    if (!step) continue
    const { reading, tests } = await readTests(layout, caseId, step)
    if (!reading.results || !tests) continue
    const { names, is_cut, ...counts } = compareTests(former, tests, {
      counts: sumOfTests(null, reading.results),
      workdir,
    })
    const named = Object.entries(names)
      .filter(([, list]) => list.length > 0)
      .map(([kind, list]) => [kind, [...list]])
    lines.push(
      newLine('tests_compared', {
        step: id,
        ...counts,
        names: named.length === 0 ? undefined : Object.fromEntries(named),
        is_cut: is_cut || undefined,
      }),
    )
  }
  return lines
}

/** Compares by name. If several tests have one name, the worst result counts. */
export function compareTests(
  before: ReportedTests,
  after: ReportedTests,
  { counts, workdir }: { counts: TestCounts; workdir: string },
): TestsCompared {
  const [old, now] = [outcomesIn(before, workdir), outcomesIn(after, workdir)]
  const names: Record<ChangeOfTests, string[]> = {
    fixed: [],
    still: [],
    broken: [],
    added: [],
    gone: [],
  }
  for (const [name, outcome] of old) {
    if (outcome !== 'failed') continue
    const present = now.get(name)
    if (present === 'failed') names.still.push(name)
    else names[present === 'passed' || present === 'flaky' ? 'fixed' : 'gone'].push(name)
  }
  for (const [name, outcome] of now) {
    if (outcome !== 'failed' || old.get(name) === 'failed') continue
    names[old.has(name) ? 'broken' : 'added'].push(name)
  }
  const first = (list: string[]) => list.slice(0, MAX_COMPARED_NAMES)
  return {
    run: counts.run,
    failed: counts.failed,
    fixed: names.fixed.length,
    still: names.still.length,
    broken: names.broken.length,
    added: names.added.length,
    gone: names.gone.length,
    names: {
      fixed: first(names.fixed),
      still: first(names.still),
      broken: first(names.broken),
      added: first(names.added),
      gone: first(names.gone),
    },
    is_cut: before.omitted + after.omitted > 0,
  }
}

const RANK: Record<TestOutcome, number> = { skipped: 0, passed: 1, flaky: 2, failed: 3 }

function outcomesIn({ tests }: ReportedTests, workdir: string): Map<string, TestOutcome> {
  const outcomes = new Map<string, TestOutcome>()
  for (const { path, outcome } of tests) {
    const name = shownName(path, workdir)
    const known = outcomes.get(name)
    if (known === undefined || RANK[known] < RANK[outcome]) outcomes.set(name, outcome)
  }
  return outcomes
}

/** The name of a test with those of its suites, without the path of the working folder. */
function shownName(path: readonly string[], workdir: string): string {
  const name = path.join(' > ').replaceAll(`${workdir}/`, '')
  return name.length <= MAX_NAME ? name : `…${name.slice(1 - MAX_NAME).toWellFormed()}`
}
