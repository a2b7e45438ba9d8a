import { evidenceHash } from '../markdown/session-texts.ts'
import { type Edit, sessionOf } from '../model/case-folder.ts'
import { caseMove } from '../model/decide-session.ts'
import { Refusal } from '../model/refusal.ts'
import { type Session, sessionMove } from '../model/session.ts'
import { type NewTrailLine, numbered } from '../model/trail.ts'
import type { Runner, WorkResult } from '../runners/contract.ts'
import { bootId, processStart } from '../runners/process-facts.ts'
import { endMarked } from '../runners/process-sweep.ts'
import { stepEnvironment } from './environment.ts'
import { evidenceLines, stepEvidence } from './evidence.ts'
import { type FolderDiff, startDiff } from './folder-diff.ts'
import type { Job } from './jobs.ts'
import type { SessionNeeds } from './needs.ts'
import { createStepRecorder } from './step-recorder.ts'

/** Work mode: executes the approved text, takes the evidence, and moves session and case. */
export async function execute(
  needs: SessionNeeds,
  job: Job,
  runner: Runner,
  plan: string,
): Promise<void> {
  const { store, layout, state } = needs
  const { session_id, case_id, number, mark } = job
  const session = await begin(needs, job)
  const taker = await startDiff(job.folder!, {
    layout,
    scratch: state.scratch,
    case_id,
    number,
    exclude: [layout.memoryRoot, state.root],
  })
  try {
    const worked = await work(needs, job, runner, plan)
    await endMarked(mark)
    const found = await taker.take()
    await finish(needs, job, session.provider, worked, found)
  } finally {
    await taker.close()
  }
  job.over = true
  await needs.runs.remove(session_id)
}

/** After a session is complete: also at the next start, should the service die just then. */
export async function moveCase(
  { store }: Pick<SessionNeeds, 'store'>,
  case_id: string,
  type: SessionType,
): Promise<void> {
  await store.update(case_id, (folder) => caseMove(folder, 'completed', type))
}

/** approved → executing; `session_started` is told once the session is. */
async function begin({ store, now }: SessionNeeds, job: Job): Promise<Session> {
  const folder = await store.update(job.case_id, (folder) => {
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
): Promise<WorkResult & { withheld: string[] }> {
  const { layout, outputs, now } = needs
  const { case_id, session_id, number, mark } = job
  const { timeout } = await needs.settings()
  const { env, withheld } = stepEnvironment(needs.environment, { mark, case_id, session_id })
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
  const result = await runner.execute({
    plan,
    workdir: job.folder!,
    env,
    stepTimeoutMs: timeout.step,
    signal: AbortSignal.any([job.signal, limit]),
    report,
  })
  if (limit.aborted) job.ending ??= 'time_out'
  return { ...result, withheld }
}

async function append({ store, now }: SessionNeeds, job: Job, line: NewTrailLine): Promise<void> {
  await store.update(job.case_id, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const lines = numbered(session.trail, [line], now())
    return [{ file: 'session', number: session.number, edit: { lines } }]
  })
}

async function finish(
  needs: SessionNeeds,
  job: Job,
  provider: string,
  worked: WorkResult & { withheld: string[] },
  found: FolderDiff,
): Promise<void> {
  const { store, layout } = needs
  const { case_id, session_id, number } = job
  const present = sessionOf(await store.read(case_id), session_id)
  const steps = await stepEvidence(layout, case_id, number, present.trail)
  const why = failure(job, worked)
  const output = [
    steps.output,
    ...(why ? [why] : []),
    ...(job.ending === null && why ? [withheldNote(worked.withheld)] : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
  const candidates = [...steps.candidates, ...('diff' in found ? found.candidates : [])]
  const evidence = { diff: 'diff' in found ? found.diff : null, tests: steps.tests }
  const ended = why === null ? 'complete' : job.ending === 'abandon' ? 'abandoned' : 'failed'
  await store.update(
    case_id,
    (folder): Edit[] => {
      const session = sessionOf(folder, session_id)
      if (session.state !== 'executing') throw overtaken(session)
      const texts = { output: output || 'The plan has no steps to run.', candidates }
      const hash = evidenceHash(evidence, { plan: folder.texts!.plan, output: texts.output })
      const completed = { event: 'session_completed', fields: { evidence_sha256: hash } }
      const edit = sessionMove(session, {
        trigger: ended === 'complete' ? 'finish' : ended === 'failed' ? 'fail' : 'abandon',
        now: needs.now(),
        before: [
          ...evidenceLines('diff' in found ? { diff: found.diff } : found, steps.tests),
          { event: 'agent_completed', fields: { provider, mode: 'work', state: ended } },
        ],
        after: ended === 'complete' ? [completed] : [],
        fields: evidence,
        texts,
        ...reasonFor(job, why),
      })
      return [{ file: 'session', number: session.number, edit }]
    },
    { texts: session_id },
  )
}

/** Why the run did not end well; null when it did. */
function failure(job: Job, worked: WorkResult): string | null {
  if (job.ending === 'abandon') return 'The operator abandoned the session.'
  if (job.ending === 'stop') return 'The service was stopped while the session was executing.'
  if (job.ending === 'time_out')
    return 'The session ran into the time limit for work (timeout.work in casefile.md).'
  return worked.ok ? null : `The run stopped: ${worked.reason}.`
}

function reasonFor(job: Job, why: string | null): { reason?: string } {
  const reason = job.ending === 'abandon' ? job.reason : why
  return reason ? { reason } : {}
}

const SHOWN_NAMES = 40

/** A step may have failed for want of a variable: so say which ones it did not get. */
function withheldNote(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : ''
  return `Withheld from the steps were these environment variables of the service: ${names.slice(0, SHOWN_NAMES).join(', ')}${more}.`
}

function overtaken(session: Session): Refusal {
  return new Refusal(
    'wrong_state',
    `Session ${session.number} is ${session.state} meanwhile, not executing.`,
  )
}
