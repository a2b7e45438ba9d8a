import { newLine } from '../../model/trail.ts'
import { usageNotes } from '../agents/agent-usage.ts'
import { createNoteQueue, createRepeatFilter, type NoteQueue } from '../agents/note-queue.ts'
import { createReadableOutput, type ReadableOutput } from '../agents/readable-output.ts'
import { type AgentNote, type AgentRun, RunnerFailure, type StepOutcome } from '../contract.ts'
import { openSession } from './acp-session.ts'
import type { AcpSpec } from './acp-spec.ts'
import type { AllowedPaths } from './allowed-paths.ts'
import { type AgentConnection, openConnection } from './connection.ts'
import { toPlanMode, toWorkMode } from './mode-setting.ts'
import { createTurn, type Turn, type TurnEnd } from './turn.ts'

export interface AcpRun {
  spec: AcpSpec
  /** Where it may work; null in plan mode. */
  allowedPaths: AllowedPaths | null
  workdir: string
  timeoutMs: number
  agent: AgentRun
  signal: AbortSignal
}

/**
 * Runs an agent for one prompt and reports everything it does. Rejects with a `RunnerFailure` if the run does not
 * end well.
 */
export async function runAgent(asked: AcpRun): Promise<TurnEnd> {
  // aborted if a note cannot be written: the agent must not go on unrecorded
  const ended = new AbortController()
  const signal = AbortSignal.any([asked.signal, ended.signal])
  const acpRun = { ...asked, signal }
  const { agent, allowedPaths, spec } = acpRun
  if (signal.aborted) throw stopped(spec)
  const step = { id: allowedPaths ? 'agent' : 'plan-agent', cwd: '.', proof: null, hasRaw: true }
  await agent.report.stepStarted(step, acpRun.timeoutMs)
  const began = performance.now()
  const finish = (outcome: Omit<StepOutcome, 'timedOut' | 'durationMs'>) => {
    const durationMs = Math.floor(performance.now() - began)
    return agent.report.stepFinished({ ...outcome, timedOut: false, durationMs })
  }
  const queue = createNoteQueue(
    (note) => agent.report.note(note),
    () => ended.abort(),
  )
  const shown = createShownOutput(acpRun)
  const isNew = createRepeatFilter()
  const note = (note: AgentNote) => {
    if (!isNew(note)) return
    shown.note(note)
    queue.add(note)
  }
  const turn = createRunTurn(acpRun, queue, shown, note)
  const connection = await connectAgent(acpRun, turn, queue)
  if ('startError' in connection) {
    await finish({ exit: null, signal: null, startError: connection.startError })
    throw signal.aborted
      ? stopped(spec)
      : new RunnerFailure(notStarted(spec, connection.startError))
  }
  let isGood = false
  try {
    const end = await runPrompt(connection, turn, acpRun)
    isGood = true
    shown.end(`${spec.title} ended its turn`)
    return end
  } catch (error) {
    const failure = signal.aborted && error === signal.reason ? stopped(spec) : error
    if (failure instanceof RunnerFailure) shown.end(failure.message)
    throw failure
  } finally {
    const exit = await connection.end(isGood)
    for (const note of usageNotes(allowedPaths ? 'work' : 'plan', turn.usage())) queue.add(note)
    await queue.idle()
    await finish(exit)
  }
}

function createShownOutput({ workdir, agent: { report } }: AcpRun): ReadableOutput {
  return createReadableOutput({
    write: (text) => report.output('stdout', Buffer.from(text)),
    clean: (text) => report.clean(text),
    workdir,
  })
}

function createRunTurn(
  { spec, allowedPaths, workdir, agent, signal }: AcpRun,
  queue: NoteQueue,
  shown: ReadableOutput,
  note: (note: AgentNote) => void,
): Turn {
  return createTurn({
    title: spec.title,
    cancelMs: agent.limits.cancel,
    allowedPaths,
    signal,
    shown,
    note,
    workdir,
    noted: queue.idle,
  })
}

function connectAgent({ spec, workdir, agent, signal }: AcpRun, turn: Turn, queue: NoteQueue) {
  const { report, sandbox, env, limits } = agent
  return openConnection({
    title: spec.title,
    argv: [spec.program, ...spec.args],
    limits,
    cwd: workdir,
    sandbox,
    signal,
    env,
    onStart: (pid) => report.processStarted(pid),
    onRaw: (line) => report.raw(Buffer.from(`${line}\n`)),
    onUpdate: turn.onUpdate,
    onPermission: turn.onPermission,
    room: queue.room,
  })
}

function stopped({ title }: AcpSpec): RunnerFailure {
  return new RunnerFailure(`${title} was stopped`)
}

async function runPrompt(
  connection: AgentConnection,
  turn: Turn,
  acpRun: AcpRun,
): Promise<TurnEnd> {
  const { spec, allowedPaths, agent, workdir, signal } = acpRun
  const { limits } = agent
  const resume = agent.resume?.session ?? null
  const asked = { title: spec.title, limits, cwd: workdir, resume, signal }
  const session = await openSession(connection, asked)
  turn.acceptSession(session.sessionId, session.model)
  const present = { connection, limits, watch: turn.watch, ...session }
  const planMode = allowedPaths ? null : await toPlanMode(present, spec, signal)
  const mode = planMode ? planMode.mode : await toWorkMode(present, spec, signal)
  if (mode !== null) turn.requireMode(mode)
  const { note } = agent.report
  const started = newLine('agent_started', {
    mode: allowedPaths ? 'work' : 'plan',
    command: [spec.program, ...spec.args],
    version: session.version ?? undefined,
    plan_mode: planMode?.how,
    work_mode: planMode ? undefined : (mode ?? undefined),
  })
  await note(started)
  await note({ event: 'agent_session', fields: { agent_session: session.sessionId } })
  return turn.run(connection, session.sessionId, agent.prompt)
}

/** Why an agent's program could not be started, for the operator. */
export function notStarted({ title, program }: AcpSpec, error: string): string {
  if (error !== 'ENOENT') return `${title} could not be started (${error})`
  const where = program.includes('/') ? '' : ' on the PATH of the service'
  return `${program} was not found${where}`
}
