import { sessionOf } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import { sessionMove } from '../model/session.ts'
import { isRunning } from '../model/session-state.ts'
import { bootId, processStart } from '../runners/process-facts.ts'
import { endProcessGroup } from '../runners/process-group.ts'
import { endMarked } from '../runners/process-sweep.ts'
import type { RunRecord } from '../workspace/run-records.ts'
import { stepEvidence } from './evidence.ts'
import type { SessionNeeds } from './needs.ts'

/**
 * Ends what a service that died left running: its processes are gone, its sessions `failed` with the
 * output they had (design §3). Runs before the address is printed.
 */
export async function recover(needs: SessionNeeds): Promise<void> {
  for (const record of await needs.runs.all()) {
    await endProcesses(record)
    try {
      await fail(needs, record)
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
  if (process && process.start !== null && same) await endProcessGroup(process.pid)
  await endMarked(mark)
}

async function fail(needs: SessionNeeds, record: RunRecord): Promise<void> {
  const { store, layout, now } = needs
  const { case_id, session_id, number } = record
  const present = sessionOf(await store.read(case_id), session_id)
  if (!isRunning(present.state)) return
  const worked = present.state === 'executing'
  const steps = worked ? await stepEvidence(layout, case_id, number, present.trail) : null
  const reason = `The service died while the session was ${present.state}.`
  await store.update(case_id, (folder) => {
    const session = sessionOf(folder, session_id)
    const { provider } = session
    const mode = worked ? 'work' : 'plan'
    const output = steps && [steps.output, reason].filter((part) => part !== '').join('\n\n')
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
