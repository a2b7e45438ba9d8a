import { setImmediate as nextTurn } from 'node:timers/promises'
import { sessionOf } from '../model/case-folder.ts'
import { isSealed } from '../model/session.ts'
import { isOver } from '../model/session-state.ts'
import { addedSince, conversationUsage } from '../model/session-usage.ts'
import { type NewTrailLine, numbered } from '../model/trail.ts'
import { dollarCount } from '../model/usage.ts'
import type { AgentNote } from '../runners/contract.ts'
import { bootId, processStart } from '../runners/process/procfs.ts'
import { runProcess } from '../runners/process/run-processes.ts'
import { boundedNotes } from './agent-notes.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { createStepRecorder, type StepRecorder } from './step-recorder.ts'
import { updateWithRetry } from './update-with-retry.ts'

/**
 * Receives what a runner reports for a job: writes audit trail, artifacts and run record, and publishes live
 * output.
 */
export function openRunReport(deps: SessionDeps, job: Job): StepRecorder {
  const { layout, outputs, runs, redactor, now } = deps
  const { case_id, session_id, number, runId } = job
  const record = { session_id, case_id, number, mark: runId, agent_session: null as string | null }
  let process: { pid: number; start: string | null; boot: string | null } | null = null
  const append = inGroups<NewTrailLine>((lines) => appendLines(deps, job, lines))
  const notes = boundedNotes(redactor)
  return createStepRecorder({
    layout,
    case_id,
    number,
    append,
    redactor,
    publish: (output) => outputs.publish({ case_id, session_id, ...output, time: now() }),
    async onProcess(pid) {
      job.processes.push(runProcess(pid))
      process = { pid, start: processStart(pid), boot: bootId() }
      await runs.write({ ...record, process })
    },
    async onNote(note) {
      const lines = notes.lines(await ofThisRun(deps, job, note))
      if (note.event === 'agent_session' && lines.length > 0) {
        record.agent_session = redactor.text(note.fields.agent_session)
        deps.conversations.set(session_id, note.fields.agent_session)
        await runs.write({ ...record, process })
      }
      for (const line of lines) await append(line)
    },
    endNotes: async () => {
      for (const line of notes.rest()) await append(line)
    },
  })
}

/** For agents that count over a whole conversation: subtracts what earlier runs used. */
async function ofThisRun(
  { store }: Pick<SessionDeps, 'store'>,
  { case_id, session_id }: Pick<Job, 'case_id' | 'session_id'>,
  note: AgentNote,
): Promise<AgentNote> {
  if (note.event !== 'agent_usage' || note.cumulative === null) return note
  const { trail } = sessionOf(await store.read(case_id), session_id)
  const before = conversationUsage(trail)
  const { input_tokens, output_tokens, cached_tokens, cost_usd } = note.fields
  const counts =
    note.cumulative === 'cost'
      ? { cost_usd: dollarCount(addedSince(before.cost_usd, cost_usd)) }
      : {
          input_tokens: addedSince(before.input_tokens, input_tokens),
          output_tokens: addedSince(before.output_tokens, output_tokens),
          cached_tokens: addedSince(before.cached_tokens, cached_tokens),
        }
  return { ...note, fields: { ...note.fields, ...counts } }
}

/**
 * Keeps the order of the calls. Items that arrive while a write is pending, or in the same turn of the event loop,
 * are written together.
 */
function inGroups<T>(write: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  let group: T[] | null = null
  let written: Promise<void> = Promise.resolve()
  return (item) => {
    if (group) group.push(item)
    else {
      const items = [item]
      group = items
      written = Promise.allSettled([written])
        .then(() => nextTurn())
        .then(() => {
          group = null
          return write(items)
        })
    }
    return written
  }
}

/**
 * Appends a line to a session's audit trail without changing its state. Does nothing once the session has ended.
 */
export function appendLine(
  deps: Pick<SessionDeps, 'store' | 'now'>,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  line: NewTrailLine,
): Promise<void> {
  return appendLines(deps, job, [line])
}

async function appendLines(
  { store, now }: Pick<SessionDeps, 'store' | 'now'>,
  job: Pick<Job, 'case_id' | 'session_id' | 'ending'>,
  added: readonly NewTrailLine[],
): Promise<void> {
  await updateWithRetry(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    if (isOver(session.state) || isSealed(session)) return []
    const lines = numbered(session.trail, added, now())
    return [{ file: 'session', number: session.number, edit: { lines } }]
  })
}
