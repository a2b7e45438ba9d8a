import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseFolder, type Edit, sessionOf } from '../model/case-folder.ts'
import { endRun, type RunEnd } from '../model/decide-session.ts'
import type { Session } from '../model/session.ts'
import { isRunning, type SessionState } from '../model/session-state.ts'
import { lastOf } from '../model/trail.ts'
import { killRun } from '../runners/process/kill-run.ts'
import { endProcessGroup } from '../runners/process/process-group.ts'
import { bootId, processStart } from '../runners/process/procfs.ts'
import { runProcess } from '../runners/process/run-processes.ts'
import type { RunRecord } from '../state/runs.ts'
import type { SessionDeps } from './deps.ts'
import { boundedOutput, planOutput, stepEvidence } from './evidence.ts'
import { moveCase } from './finishing.ts'

/** Shorter than for a step: the service should answer within 2 s after its start. */
const GRACE_MS = 800

/**
 * Cleans up after a service that died: ends its processes and marks its sessions as `failed`, with the output they
 * had. Runs before the address is printed.
 */
export async function recover(deps: SessionDeps): Promise<void> {
  const records = deps.runs.all()
  const endings = await Promise.allSettled(records.map(endProcesses))
  await deps.runGuard.recover()
  for (const [index, record] of records.entries()) {
    try {
      const ending = endings[index]!
      if (ending.status === 'rejected') throw ending.reason
      await endSession(deps, record)
      await deps.runs.remove(record.session_id)
    } catch (error) {
      // the record stays, so that the next start tries again
      const why =
        error instanceof AppError ? error.message : String((error as Error)?.stack ?? error)
      deps.log(`session ${record.number} of case ${record.case_id} could not be ended: ${why}`)
    }
  }
}

async function endSession(deps: SessionDeps, record: RunRecord): Promise<void> {
  try {
    await failSession(deps, record, (state) => `The service died while the session was ${state}.`)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  }
}

async function endProcesses({ mark: runId, session_id, process }: RunRecord): Promise<void> {
  const same = process?.boot === bootId() && process?.start === processStart(process?.pid ?? -1)
  const group = process && process.start !== null && same ? process.pid : null
  const processes = group === null ? [] : [runProcess(group)]
  await Promise.all([
    group === null ? null : endProcessGroup(group, GRACE_MS),
    killRun({ runId, processes, folderId: session_id }, GRACE_MS),
  ])
}

/** Marks a running session as `failed`, with its output so far. */
export async function failSession(
  deps: SessionDeps,
  { case_id, session_id, number }: Pick<RunRecord, 'case_id' | 'session_id' | 'number'>,
  why: (state: SessionState) => string,
): Promise<void> {
  const { store, layout, now } = deps
  const folder = await store.read(case_id)
  const present = sessionOf(folder, session_id)
  if (present.state === 'complete') await moveCase(deps, case_id, present.type)
  if (!isRunning(present.state)) return
  const worked = present.state === 'executing'
  const steps = worked
    ? await stepEvidence(layout, case_id, number, present.trail, layout.root)
    : null
  const planned = worked ? '' : await planOutput(layout, case_id, number, present.trail)
  const edit = (folder: CaseFolder): Edit[] => {
    const session = sessionOf(folder, session_id)
    const strange = folder.texts ? strangePlan(session, folder.texts.plan) : ''
    const reason = why(present.state) + strange
    const output = boundedOutput(number, [steps?.output ?? planned, planned || steps ? reason : ''])
    const end: RunEnd = {
      mode: worked ? 'work' : 'plan',
      state: 'failed',
      reason,
      ...(output ? { texts: { output, candidates: steps?.candidates ?? [] } } : {}),
      ...(steps ? { evidence: { tests: steps.tests, failed_tests: steps.failed_tests } } : {}),
    }
    return [endRun(folder, session_id, end, now())]
  }
  await store.update(case_id, edit, worked ? { texts: session_id } : {})
}

/**
 * A sentence for the record if the plan in the file is not the one that ran. The text that ran is gone; the audit
 * trail has its hash.
 */
function strangePlan({ trail }: Session, plan: string): string {
  const approved = lastOf(trail, 'plan_approved')?.fields.plan_sha256
  if (approved === undefined || approved === sha256(plan)) return ''
  return ' The plan in this file is not the one that was approved and executed.'
}
