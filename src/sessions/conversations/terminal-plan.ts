import { plainText } from '../../files/plain-text.ts'
import { readFolder } from '../../git/folder-contents.ts'
import { findRepository } from '../../git/repository.ts'
import { trimLines } from '../../markdown/lines.ts'
import { sha256 } from '../../markdown/session-file.ts'
import { sessionOf } from '../../model/case-contents.ts'
import { endRun, type RunEnd } from '../../model/decide-session.ts'
import { splitPresented } from '../../runners/agents/plan-text.ts'
import type { SessionDeps } from '../deps.ts'
import { endingActor, type Job, updateWithRetry } from '../jobs.ts'
import { beginPlanning, missingHypothesis } from '../plan-mode.ts'
import { appendLine } from '../run-recorder.ts'
import { isStandingFile } from './standing-calls.ts'
import type { PresentedPlan, TurnQueue } from './turn-queue.ts'

/** Bidirectional control characters, which can display a plan in another order than it runs. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * A plan as it is recorded: without secrets, terminal escapes and bidirectional controls. Its own section `Hypothesis`
 * counts unless the agent hands in a hypothesis besides it.
 */
export function recordedPlan(
  { redactor }: Pick<SessionDeps, 'redactor'>,
  text: string,
  hypothesis: string | null = null,
): PresentedPlan {
  const readable = (text: string) => trimLines(redactor.text(plainText(text).replace(BIDI, '')))
  const plan = readable(text)
  if (hypothesis !== null) return { plan, hypothesis: readable(hypothesis) }
  const split = splitPresented(plan)
  return { plan: split.plan, hypothesis: split.hypothesis || null }
}

/** Plan mode of an agent that a person runs themselves: waits until it presents a plan, and records that. */
export async function planInTerminal(
  deps: SessionDeps,
  job: Job,
  turnQueue: TurnQueue,
  folder: string,
): Promise<void> {
  const { store, now } = deps
  const { case_id, session_id } = job
  const present = await store.read(case_id)
  const { provider, state } = sessionOf(present, session_id)
  if (state === 'created') {
    await beginPlanning(deps, job, { files: ['case.md'] })
  }
  await rememberStart(deps, turnQueue, folder, job.signal).finally(turnQueue.setBegun)
  const presented = await turnQueue.nextPlan(job.signal)
  const end: RunEnd = { mode: 'plan', state: 'abandoned' }
  if (presented !== null) {
    const { plan } = presented
    await noteChanges(deps, job, turnQueue)
    await deps.plans.store(plan)
    const isFirst = state === 'created'
    const hypothesis =
      presented.hypothesis ?? (isFirst ? await missingHypothesis(present.case) : null)
    Object.assign(end, {
      state: 'plan_ready',
      texts: { plan, ...(hypothesis === null ? {} : { hypothesis }) },
      made: { plan_sha256: sha256(plan) },
    } satisfies Partial<RunEnd>)
  } else end.reason = whyNoPlan(job)
  await updateWithRetry(store, job, (contents) => [endRun(contents, session_id, end, now())], {
    by: endingActor(job, provider),
  })
  job.planned = true
  deps.running.delete(session_id)
  await deps.runs.remove(session_id)
}

function whyNoPlan({ ending, reason }: Job): string {
  if (ending === 'abandon') return reason ?? 'The operator abandoned the session.'
  if (ending === 'stop') return 'The service was stopped before the agent presented a plan.'
  return 'The conversation with the agent ended before it presented a plan.'
}

/** Reads the working folder, once per session. */
async function rememberStart(
  { layout, state }: SessionDeps,
  turnQueue: TurnQueue,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  if (turnQueue.start || signal.aborted) return
  const exclude = [layout.memoryRoot, state.root]
  const repository = await findRepository(folder, {})
  if ('reason' in repository) return
  const contents = await readFolder(repository, { scratch: state.scratch, exclude })
  if (!('reason' in contents)) turnQueue.start = { contents, recorded: new Set() }
}

/**
 * Records what changed in the working folder before a plan was approved. It may have been the person, who works in
 * the same folder.
 */
export async function noteChanges(
  deps: SessionDeps,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  { start }: TurnQueue,
): Promise<void> {
  if (!start) return
  const { diff } = await start.contents.changes()
  const added = diff.files.map(({ file }) => file).filter((file) => !start.recorded.has(file))
  for (const file of added) start.recorded.add(file)
  const { standing } = await deps.settings()
  const wrong = added.filter((file) => !standing.some((each) => isStandingFile(file, each)))
  if (wrong.length === 0) return
  const fields = { working_folder: deps.redactor.value(wrong.slice(0, 100)) }
  await appendLine(deps, job, { event: 'plan_violation', fields })
}
