import { sha256 } from '../markdown/session-file.ts'
import { type CaseFolder, sessionOf } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import { MAX_PLAN_BYTES, sessionMove } from '../model/session.ts'
import type { PlanResult, Runner } from '../runners/contract.ts'
import { decodeUtf8 } from '../workspace/disk/safe-read.ts'
import { listMemory, MAX_MEMORY_BYTES, readMemory } from '../workspace/memory-files.ts'
import { workingFolder } from '../workspace/workdir.ts'
import type { Job } from './jobs.ts'
import type { SessionNeeds } from './needs.ts'
import { patientUpdate } from './patient-update.ts'

/** Plan mode: loads the context, lets the runner write hypothesis and plan, and waits for approval. */
export async function plan(
  needs: SessionNeeds,
  job: Job,
  runner: Runner,
  note?: string,
): Promise<void> {
  const { store, settings, layout, now } = needs
  const { case_id, session_id } = job
  const folder = await store.read(case_id)
  const { timeout, steps, folders } = await settings()
  const limit = AbortSignal.timeout(timeout.plan)
  let outcome: { result: PlanResult } | { reason: string }
  try {
    const workdir = await workingFolder(layout.root, folder.case.workdir, folders)
    const memory = await contextOf(needs, folder)
    if (sessionOf(folder, session_id).state === 'created')
      await beginPlanning(needs, job, [...memory.keys()])
    const signal = AbortSignal.any([job.signal, limit])
    const request = { case: folder.case, memory, steps, workdir, note, signal }
    const result = await unlessAborted(signal, runner.plan(request))
    mustFit('hypothesis', result.hypothesis)
    mustFit('plan', result.plan)
    outcome = { result }
  } catch (error) {
    outcome = { reason: error instanceof Error ? error.message : String(error) }
    const expected = error instanceof Refusal || job.signal.aborted || limit.aborted
    if (!expected) needs.log(`planning session ${job.number} of case ${case_id}: ${stackOf(error)}`)
  }
  if (limit.aborted) job.ending ??= 'time_out'
  await patientUpdate(store, job, (present) => {
    const session = sessionOf(present, session_id)
    const stopped = stopReason(job) ?? ('reason' in outcome ? outcome.reason : null)
    const trigger = job.ending === 'abandon' ? 'abandon' : stopped === null ? 'planned' : 'fail'
    const ended = { planned: 'plan_ready', fail: 'failed', abandon: 'abandoned' }[trigger]
    const result = 'result' in outcome && trigger === 'planned' ? outcome.result : null
    const edit = sessionMove(session, {
      trigger,
      now: now(),
      before: [
        ...(result ? writtenLines(result) : []),
        {
          event: 'agent_completed',
          fields: { provider: session.provider, mode: 'plan', state: ended },
        },
      ],
      ...(result ? { texts: result } : {}),
      ...(trigger === 'abandon'
        ? job.reason === undefined
          ? {}
          : { reason: job.reason }
        : stopped === null
          ? {}
          : { reason: stopped }),
    })
    return [{ file: 'session', number: session.number, edit }]
  })
  job.planned = true
  await needs.runs.remove(session_id)
}

/** A runner ends early when its signal is aborted; one that does not is no longer waited for. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function stackOf(error: unknown): string {
  return String((error as Error)?.stack ?? error)
}

function mustFit(name: string, text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_PLAN_BYTES) return
  throw new Refusal('too_large', `The ${name} has ${bytes} bytes; at most 256 KiB are taken.`)
}

function writtenLines({ hypothesis, plan }: PlanResult) {
  return [
    { event: 'hypothesis_written', fields: { sha256: sha256(hypothesis) } },
    { event: 'plan_written', fields: { sha256: sha256(plan) } },
  ]
}

function stopReason(job: Job): string | null {
  if (job.ending === 'stop') return 'The service was stopped while the session was planning.'
  if (job.ending === 'time_out')
    return 'Planning ran into its time limit (timeout.plan in casefile.md).'
  return null
}

async function beginPlanning(
  { store, now }: SessionNeeds,
  job: Job,
  files: string[],
): Promise<void> {
  await patientUpdate(store, job, (folder) => {
    const session = sessionOf(folder, job.session_id)
    const before = [{ event: 'context_loaded', fields: { files } }]
    const edit = sessionMove(session, { trigger: 'context_loaded', now: now(), before })
    return [{ file: 'session', number: session.number, edit }]
  })
}

/** case.md and the notes of the case, by name. */
async function contextOf(
  { layout }: SessionNeeds,
  folder: CaseFolder,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const { filename, kind, size } of await listMemory(layout, folder)) {
    if (kind === 'session' || size > MAX_MEMORY_BYTES) continue
    const name = kind === 'case' ? ({ kind } as const) : ({ kind: 'notes', filename } as const)
    const read = await readMemory(layout, folder.case.id, name)
    const text = read.ok ? decodeUtf8(read.bytes) : null
    if (text?.ok) texts.set(filename, text.text)
  }
  return texts
}
