import { writeDurable } from '../../files/durable-write.ts'
import { retryText } from '../../model/agent-retry.ts'
import { newLine } from '../../model/trail.ts'
import type { AcpSpec } from '../agents/agent.ts'
import { usageNotes } from '../agents/agent-usage.ts'
import { warningAbout } from '../agents/agent-version.ts'
import { createNoteQueue, createRepeatFilter, type NoteQueue } from '../agents/note-queue.ts'
import { createReadableOutput, type ReadableOutput } from '../agents/readable-output.ts'
import { createRetryLimit, type RetryLimit } from '../agents/retry-limit.ts'
import { type AgentNote, type AgentRun, RunnerFailure, type StepOutcome } from '../contract.ts'
import type { AllowedPaths } from './allowed-paths.ts'
import { type AgentConnection, openConnection } from './connection.ts'
import { toPlanMode, toWorkMode } from './mode-setting.ts'
import { isUnbounded } from './modes.ts'
import { openSession } from './session.ts'
import { createTurn, type Turn, type TurnEnd } from './turn.ts'

export interface AcpRun {
  spec: AcpSpec
  argv: readonly string[]
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
  const began = performance.now()
  const step = { id: allowedPaths ? 'agent' : 'plan-agent', cwd: '.', proof: null, hasRaw: true }
  await agent.report.stepStarted(step, acpRun.timeoutMs)
  const finish = (outcome: Omit<StepOutcome, 'timedOut' | 'durationMs'>) => {
    const durationMs = Math.round(performance.now() - began)
    return agent.report.stepFinished({ ...outcome, timedOut: false, durationMs })
  }
  const queue = createNoteQueue(
    (note) => agent.report.note(note),
    () => ended.abort(),
  )
  const limit = createRetryLimit(agent.retriesMs ?? Number.POSITIVE_INFINITY, () => ended.abort())
  const progress = createProgress(limit)
  const shown = createShownOutput(acpRun, progress.made)
  const isNew = createRepeatFilter()
  const note = (note: AgentNote) => {
    if (!isNew(note)) return
    shown.note(note)
    if (note.event === 'agent_retry') limit.retry(retryText({ ...note.fields }))
    queue.add(note)
  }
  const readLog = spec.openLog?.(progress.take) ?? (() => [])
  const turn = createRunTurn(acpRun, queue, shown, note)
  if (!allowedPaths) await writePlanFiles(acpRun)
  const connection = await connectAgent(acpRun, turn, queue, (line) => {
    for (const each of readLog(line) ?? []) note(each)
  })
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
    const retries = limit.reached()
    const failure =
      retries !== null
        ? new RunnerFailure(`${spec.title} ${retries}`)
        : signal.aborted && error === signal.reason
          ? stopped(spec)
          : error
    if (failure instanceof RunnerFailure) shown.end(failure.message)
    throw failure
  } finally {
    const exit = await connection.end(isGood)
    for (const note of usageNotes(allowedPaths ? 'work' : 'plan', turn.usage())) queue.add(note)
    await queue.idle()
    await finish(exit)
  }
}

function createProgress(limit: RetryLimit) {
  let isMade = false
  return {
    made() {
      isMade = true
      limit.progress()
    },
    /** Whether there was progress since the last call. */
    take() {
      const wasMade = isMade
      isMade = false
      return wasMade
    },
  }
}

function createShownOutput(
  { workdir, agent: { report } }: AcpRun,
  onProgress: () => void,
): ReadableOutput {
  return createReadableOutput({
    write: (text) => report.output('stdout', Buffer.from(text)),
    clean: (text) => report.clean(text),
    workdir,
    onProgress,
  })
}

function createRunTurn(
  { spec, allowedPaths, workdir, agent, signal }: AcpRun,
  queue: NoteQueue,
  shown: ReadableOutput,
  note: (note: AgentNote) => void,
): Turn {
  const env = environmentOf(spec, agent.env, allowedPaths !== null)
  return createTurn({
    spec,
    cancelMs: agent.limits.cancel,
    allowedPaths,
    signal,
    shown,
    note,
    workdir,
    readRecord: async (conversation, since) =>
      (await spec.readRecord?.({ env, conversation, since })) ?? null,
    noted: queue.idle,
  })
}

function connectAgent(
  { spec, argv, allowedPaths, workdir, agent, signal }: AcpRun,
  turn: Turn,
  queue: NoteQueue,
  onNoise: (line: string) => void,
) {
  const { report, sandbox, env, limits } = agent
  return openConnection({
    title: spec.title,
    argv,
    limits,
    cwd: workdir,
    sandbox,
    signal,
    env: environmentOf(spec, env, allowedPaths !== null),
    onStart: (pid) => report.processStarted(pid),
    onRaw: (line) => report.raw(Buffer.from(`${line}\n`)),
    onNoise,
    onUpdate: turn.onUpdate,
    onOtherNotification: turn.onOtherNotification,
    onPermission: turn.onPermission,
    room: queue.room,
  })
}

/** The agent's environment in each mode. */
export function environmentOf(
  { defaultEnv, fixedEnv, planEnv, workEnv }: AcpSpec,
  env: Record<string, string>,
  isWork: boolean,
): Record<string, string> {
  return { ...defaultEnv, ...env, ...fixedEnv, ...(isWork ? workEnv : planEnv) }
}

function stopped({ title }: AcpSpec): RunnerFailure {
  return new RunnerFailure(`${title} was stopped`)
}

async function runPrompt(
  connection: AgentConnection,
  turn: Turn,
  acpRun: AcpRun,
): Promise<TurnEnd> {
  const { spec, argv, allowedPaths, agent, workdir, signal } = acpRun
  const { limits } = agent
  const resume = agent.resume?.session ?? null
  const asked = { title: spec.title, limits, cwd: workdir, resume, signal }
  const session = await openSession(connection, { ...asked, meta: sessionMeta(acpRun) })
  turn.acceptSession(session.sessionId, session.model)
  const present = { connection, limits, watch: turn.watch, ...session }
  const planMode = allowedPaths ? null : await toPlanMode(present, spec, signal)
  const mode = planMode ? planMode.mode : await toWorkMode(present, spec, signal)
  if (mode !== null) turn.requireMode(mode)
  const { note } = agent.report
  const started = newLine('agent_started', {
    mode: allowedPaths ? 'work' : 'plan',
    command: [...argv],
    version: session.version ?? undefined,
    warning: warningAbout(spec, session.version).warning,
    plan_mode: planMode?.how,
    work_mode: planMode ? undefined : (mode ?? undefined),
  })
  await note(started)
  await note({ event: 'agent_session', fields: { agent_session: session.sessionId } })
  return turn.run(connection, session.sessionId, agent.prompt)
}

async function writePlanFiles({ spec, agent }: AcpRun): Promise<void> {
  for (const [name, text] of Object.entries(spec.planFiles)) {
    await writeDurable(`${agent.folder}/${name}`, Buffer.from(text), { mode: 0o600 })
  }
}

/** An unrestricted mode is used only if the operator names it. */
function sessionMeta({ spec, allowedPaths }: AcpRun) {
  if (!allowedPaths) return spec.meta.plan
  const { meta, named } = spec
  return named.work !== null && isUnbounded(named.work) ? meta.unbounded : meta.work
}

/** Why an agent's program could not be started, for the operator. */
export function notStarted({ title, program, install }: AcpSpec, error: string): string {
  if (error !== 'ENOENT') return `${title} could not be started (${error})`
  const hint = install === '' ? '' : `; install it with: ${install}`
  const where = program.includes('/') ? '' : ' on the PATH of the service'
  return `${program} was not found${where}${hint}`
}
