import { sessionOf } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import { sessionMove } from '../model/session.ts'
import { isRunning, type SessionState } from '../model/session-state.ts'
import { bootId, processStart } from '../runners/process-facts.ts'
import { endProcessGroup } from '../runners/process-group.ts'
import { endMarked } from '../runners/process-sweep.ts'
import type { RunRecord } from '../workspace/run-records.ts'
import { boundedOutput, stepEvidence } from './evidence.ts'
import { moveCase } from './finishing.ts'
import type { SessionNeeds } from './needs.ts'

/** Shorter than for a step: the next start should answer within 2 s. */
const GRACE_MS = 800

/**
 * Ends what a service that died left running: its processes are gone, its sessions `failed` with the
 * output they had (design §3). Runs before the address is printed.
 */
export async function recover(needs: SessionNeeds): Promise<void> {
  const records = await needs.runs.all()
  await Promise.all(records.map(endProcesses))
  for (const record of records) {
    try {
      await failSession(
        needs,
        record,
        (state) => `The service died while the session was ${state}.`,
      )
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // the record stays, so that the next start tries again
      if (error.code !== 'not_found') {
        needs.log(
          `session ${record.number} of case ${record.case_id} could not be ended: ${error.message}`,
        )
        continue
      }
    }
    await needs.runs.remove(record.session_id)
  }
}

async function endProcesses({ mark, process }: RunRecord): Promise<void> {
  const same = process?.boot === bootId() && process?.start === processStart(process?.pid ?? -1)
  const group = process && process.start !== null && same ? process.pid : null
  await Promise.all([
    group === null ? null : endProcessGroup(group, GRACE_MS),
    endMarked(mark, GRACE_MS),
  ])
}

/** Ends a running session as `failed`, with the output that it has so far. */
export async function failSession(
  needs: SessionNeeds,
  { case_id, session_id, number }: Pick<RunRecord, 'case_id' | 'session_id' | 'number'>,
  why: (state: SessionState) => string,
): Promise<void> {
  const { store, layout, now } = needs
  const folder = await store.read(case_id)
  const present = sessionOf(folder, session_id)
  if (present.state === 'complete') await moveCase(needs, case_id, present.type)
  if (!isRunning(present.state)) return
  const worked = present.state === 'executing'
  const steps = worked ? await stepEvidence(layout, case_id, number, present.trail) : null
  const reason = why(present.state)
  await store.update(case_id, (folder) => {
    const session = sessionOf(folder, session_id)
    const { provider } = session
    const mode = worked ? 'work' : 'plan'
    const output = steps && boundedOutput(number, [steps.output, reason])
    const edit = sessionMove(session, {
      trigger: 'fail',
      now: now(),
      before: [{ event: 'agent_completed', fields: { provider, mode, state: 'failed' } }],
      ...(steps && output ? { texts: { output, candidates: steps.candidates } } : {}),
      ...(steps ? { fields: { tests: steps.tests } } : {}),
      reason,
    })
    return [{ file: 'session', number: session.number, edit }]
  })
}
