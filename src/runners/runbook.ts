import { readPlan } from '../markdown/plan-steps.ts'
import { baselineId, type PlanStep } from '../model/plan-step.ts'
import type { Runner, StepOutcome, WorkRequest, WorkResult } from './contract.ts'
import { runStepProcess } from './enclosure/step-process.ts'
import { planRunbook } from './runbook-plan.ts'

/** Runs the `run` fences of a plan in order. Needs no account and no network. */
export const runbook: Runner = {
  kind: 'runbook',
  capabilities: { isAgent: false, executesAny: true },
  plan: planRunbook,
  execute,
}

/** Runs only the steps that give proof; another runner carries out the rest of the plan. */
export function runProofSteps(request: WorkRequest): Promise<WorkResult> {
  return executeSteps(request, ({ proof }) => proof !== null)
}

/**
 * Runs each step with the key `baseline` once, before the work. What it exits with stops nothing; `onRun` gets it, and
 * is awaited before the next one runs. Ends early if the request is aborted.
 */
export async function runBaselineSteps(
  request: WorkRequest,
  onRun: (step: PlanStep, outcome: StepOutcome) => Promise<void>,
): Promise<void> {
  const { steps, errors } = await readPlan(request.plan)
  if (errors.length > 0) return
  for (const step of steps.filter(({ baseline }) => baseline)) {
    if (request.signal.aborted) return
    const outcome = await runStep({ ...step, id: baselineId(step) }, request, Promise.resolve())
    await request.report.stepFinished(outcome)
    if (request.signal.aborted) return
    await onRun(step, outcome)
  }
}

function execute(request: WorkRequest): Promise<WorkResult> {
  return executeSteps(request, () => true)
}

async function executeSteps(
  request: WorkRequest,
  isWanted: (step: PlanStep) => boolean,
): Promise<WorkResult> {
  const { steps, errors } = await readPlan(request.plan)
  const [error] = errors
  if (error)
    return { ok: false, reason: `the plan is invalid at line ${error.line}: ${error.message}` }
  return executeAll(steps.filter(isWanted).map(asWork), request)
}

/** Only its run before the work is marked as such. */
function asWork(step: PlanStep): PlanStep {
  return { ...step, baseline: false }
}

async function executeAll(steps: readonly PlanStep[], request: WorkRequest): Promise<WorkResult> {
  /** Disk writes of the previous step, still pending while the next one is prepared. */
  let before: Promise<void> = Promise.resolve()
  for (const step of steps) {
    if (request.signal.aborted) {
      await before
      return { ok: false, reason: `stopped before step ${step.id}` }
    }
    const outcome = await runStep(step, request, before)
    before = request.report.stepFinished(outcome)
    const reason = request.signal.aborted
      ? `stopped during step ${step.id}`
      : step.continue
        ? null
        : complaintAbout(step, outcome)
    if (reason !== null) {
      await before
      return { ok: false, reason }
    }
  }
  await before
  return { ok: true }
}

/**
 * Prepares the process while its start, and the previous step's end, are written to disk. The program is held until
 * both are there.
 */
async function runStep(
  step: PlanStep,
  request: WorkRequest,
  before: Promise<void>,
): Promise<StepOutcome> {
  const { report, workdir, env, signal } = request
  const timeoutMs = step.timeoutMs ?? request.stepTimeoutMs
  const recorded = Promise.all([before, report.stepStarted(step, timeoutMs)])
  const running = runStepProcess({
    argv: argvOf(step),
    cwd: step.cwd === '.' ? workdir : `${workdir}/${step.cwd}`,
    within: workdir,
    env,
    timeoutMs,
    signal,
    limits: request.limits,
    sandbox: request.sandbox,
    async onStart(pid) {
      await Promise.all([recorded, report.processStarted(pid)])
    },
    onOutput: (stream, bytes) => report.output(stream, bytes),
  })
  // both must settle before a failure of either is thrown
  const [written, ended] = await Promise.allSettled([recorded, running])
  if (written.status === 'rejected') throw written.reason
  if (ended.status === 'rejected') throw ended.reason
  const { aborted: _, ...outcome } = ended.value
  return outcome
}

/** A script stops at the first unexpected exit (`-e`) and at an unset variable (`-u`). */
function argvOf({ language, script, id }: PlanStep): string[] {
  switch (language) {
    case 'sh':
      return ['/bin/sh', '-eu', '-c', script, id]
    case 'bash':
      return ['bash', '-euo', 'pipefail', '-c', script, id]
    case 'js':
      return [process.execPath, '--input-type=module', '--eval', script]
    default:
      return language satisfies never
  }
}

function complaintAbout(step: PlanStep, outcome: StepOutcome): string | null {
  const { exit, signal, timedOut, startError } = outcome
  if (startError) {
    const missing =
      startError === 'ENOENT' ? `: ${argvOf(step)[0]} or the folder ${step.cwd} is missing` : ''
    return `step ${step.id} could not be started (${startError})${missing}`
  }
  if (timedOut) return `step ${step.id} timed out after ${(outcome.durationMs / 1000).toFixed(1)} s`
  if (exit === null) return `step ${step.id} was ended by ${signal}`
  if (step.expect.includes(exit)) return null
  const hint = exit === 127 ? ' (a command was not found)' : ''
  return `step ${step.id} exited with ${exit}${hint}, expected ${step.expect.join(' or ')}`
}
