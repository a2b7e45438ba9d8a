import { sessionOf } from '../model/case-folder.ts'
import { type Session, sessionMove } from '../model/session.ts'
import { type NewTrailLine, numbered } from '../model/trail.ts'
import type { Runner, WorkResult } from '../runners/contract.ts'
import { bootId, processStart } from '../runners/process-facts.ts'
import { endMarked } from '../runners/process-sweep.ts'
import { stepEnvironment, type Withheld } from './environment.ts'
import { finish } from './finishing.ts'
import { startDiff } from './folder-diff.ts'
import type { Job } from './jobs.ts'
import type { SessionNeeds } from './needs.ts'
import { patientUpdate } from './patient-update.ts'
import { createStepRecorder } from './step-recorder.ts'

/** The operator who stops a run waits, and the step itself had its grace already. */
const ABANDONED_GRACE_MS = 500

/** Work mode: executes the approved text, takes the evidence, and moves session and case. */
export async function execute(
  needs: SessionNeeds,
  job: Job,
  runner: Runner,
  plan: string,
): Promise<void> {
  const { layout, state } = needs
  const { session_id, case_id, number, mark } = job
  const session = await begin(needs, job)
  const taker = await startDiff(job.folder!, {
    layout,
    scratch: state.scratch,
    case_id,
    number,
    exclude: [layout.memoryRoot, state.root],
    signal: job.signal,
  })
  try {
    const worked = await work(needs, job, runner, plan)
    await endMarked(mark, job.signal.aborted ? ABANDONED_GRACE_MS : undefined)
    const found = await taker.take()
    job.folder = null // nothing of the run works there any more; what is left is to record it
    await finish(needs, job, session, { ...worked, plan, found })
  } finally {
    await taker.close()
  }
  await needs.runs.remove(session_id)
}

/** approved → executing; `session_started` is told once the session is. */
async function begin({ store, now }: SessionNeeds, job: Job): Promise<Session> {
  const folder = await patientUpdate(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const after = [{ event: 'session_started', fields: { provider: session.provider } }]
    const edit = sessionMove(session, { trigger: 'start', now: now(), after })
    return [{ file: 'session', number: session.number, edit }]
  })
  return sessionOf(folder, job.session_id)
}

async function work(
  needs: SessionNeeds,
  job: Job,
  runner: Runner,
  plan: string,
): Promise<WorkResult & { withheld: Withheld }> {
  const { layout, state, outputs, now } = needs
  const { case_id, session_id, number, mark } = job
  const settings = await needs.settings()
  const run = { mark, case_id, session_id }
  const { env, withheld } = stepEnvironment(needs.environment, run, settings)
  const { timeout } = settings
  const limit = AbortSignal.timeout(timeout.work)
  const report = createStepRecorder({
    layout,
    case_id,
    number,
    append: (line) => append(needs, job, line),
    publish: (step, stream, text) =>
      outputs.publish({ case_id, session_id, step, stream, text, time: now() }),
    async onProcess(pid) {
      const process = { pid, start: processStart(pid), boot: bootId() }
      await needs.runs.write({ session_id, case_id, number, mark, process })
    },
  })
  try {
    const result = await runner.execute({
      plan,
      workdir: job.folder!,
      env,
      stepTimeoutMs: timeout.step,
      scratch: state.scratch,
      signal: AbortSignal.any([job.signal, limit]),
      report,
    })
    if (limit.aborted) job.ending ??= 'time_out'
    return { ...result, withheld }
  } finally {
    await report.close()
  }
}

async function append({ store, now }: SessionNeeds, job: Job, line: NewTrailLine): Promise<void> {
  await patientUpdate(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const lines = numbered(session.trail, [line], now())
    return [{ file: 'session', number: session.number, edit: { lines } }]
  })
}
