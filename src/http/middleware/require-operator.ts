import { setTimeout as delay } from 'node:timers/promises'
import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../model/app-error.ts'
import type { IdentifiedRun } from '../../runners/process/run-processes.ts'
import {
  type Connection,
  findSocketOwner,
  type Sender,
} from '../../runners/process/socket-owner.ts'
import type { DeniedRequest, SessionRun } from '../../sessions/denied-requests.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'

type OperatorDeps = Pick<HttpDeps, 'sessions' | 'providers' | 'log'>
type Run = SessionRun | IdentifiedRun

/** How long the answer waits for the trail: a person may have the session's file broken just then. */
const NOTED_MS = 2_000
/** How long a sender that no process shows is looked for, and how often. After that it runs in another container. */
const UNSEEN_MS = 1_000
const LOOK_MS = 20

/**
 * For what only the operator may do: refuses a request from a process of what runs here. A
 * guard rail, since a process can shed all that tells it from others. It asks nothing while nothing
 * runs, and lets everything pass where it cannot be told, which is everywhere but on Linux.
 */
export function requireOperator(
  service: OperatorDeps,
  tool: string,
  applies: (c: ServiceContext) => boolean = () => true,
): MiddlewareHandler<ServiceEnv> {
  const why =
    'It is for the operator to decide: send it from a terminal or browser that no session has started.'
  return refusing(service, { tool, why }, (c) =>
    applies(c) ? [...service.sessions.runs(), ...service.providers.runs()] : [],
  )
}

/**
 * For what takes no decision, but writes: refuses a request from a process of a session that plans. So the tools of
 * `casefile mcp` only read while an agent plans, whatever that agent thinks of them.
 */
export function notWhilePlanning(
  service: OperatorDeps,
  tool: string,
): MiddlewareHandler<ServiceEnv> {
  const why =
    'While a session plans, its programs may only read. Once its plan is approved they may do this.'
  return refusing(service, { tool, why }, () => planningRuns(service))
}

/** Those whose programs may only read. */
function planningRuns({ sessions, providers }: OperatorDeps): readonly Run[] {
  return [...sessions.runs().filter(({ kind }) => kind === 'plan'), ...providers.runs()]
}

function refusing(
  service: OperatorDeps,
  { tool, why }: { tool: string; why: string },
  runsThatMayNot: (c: ServiceContext) => readonly Run[],
): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    const runs = runsThatMayNot(c)
    const refusal = runs.length > 0 && (await objectionTo(c, runs, why))
    if (refusal) {
      await note(service, refusal, { tool, title: `${c.req.method} ${c.req.path.slice(0, 200)}` })
      throw new AppError('own_session', refusal.message, { extra: refusal.extra })
    }
    await next()
  }
}

interface Objection {
  message: string
  extra: Record<string, unknown>
  /** In whose trails it is noted. */
  runs: readonly Run[]
  denied: Pick<DeniedRequest, 'reason' | 'pid'>
}

async function objectionTo(
  c: ServiceContext,
  runs: readonly Run[],
  why: string,
): Promise<Objection | null> {
  const incoming = c.env?.incoming
  if (process.platform !== 'linux' || incoming === undefined) return null
  const connection = connectionOf(incoming.socket)
  const sender: Sender<Run> = connection
    ? await findSender(connection, runs)
    : { kind: 'unknown', why: 'gone' }
  switch (sender.kind) {
    case 'other':
    case 'unseen':
      return null
    case 'run':
      return ownRequest(sender.run, sender.pid, why)
    case 'unknown':
      return { ...UNKNOWN[sender.why], extra: {}, runs }
  }
}

/** A process that is ending is unseen for a moment, until its connection is gone, too. */
async function findSender(connection: Connection, runs: readonly Run[]): Promise<Sender<Run>> {
  const until = performance.now() + UNSEEN_MS
  let sender = findSocketOwner(connection, runs)
  while (sender.kind === 'unseen' && performance.now() < until) {
    await delay(LOOK_MS)
    sender = findSocketOwner(connection, runs)
  }
  return sender
}

function connectionOf({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
}: NonNullable<ServiceContext['env']['incoming']>['socket']): Connection | null {
  if (!localAddress || !localPort || !remoteAddress || !remotePort) return null // closed meanwhile
  return {
    local: { address: localAddress, port: localPort },
    remote: { address: remoteAddress, port: remotePort },
  }
}

function ownRequest(run: Run, pid: number, why: string): Objection {
  const isSession = 'session_id' in run
  const whose = isSession ? `session ${run.session_id} of case ${run.case_id}` : 'a provider'
  return {
    message: `This was sent by process ${pid}, which runs for ${whose}. ${why}`,
    extra: isSession ? { running: { case_id: run.case_id, session_id: run.session_id } } : {},
    runs: [run],
    denied: { reason: 'a process of the session itself sent this request', pid },
  }
}

const UNKNOWN = {
  gone: {
    message:
      'While something runs here, who sends this has to be told from its processes, and the sender has closed its connection already. Send it again, and wait for the answer.',
    denied: { reason: 'the sender of this request was gone before it could be told who it was' },
  },
  hidden: {
    message:
      'A process of what runs here keeps its open files from this service, so it cannot be told whether it has sent this. Send it again when the session has ended, or abandon the session.',
    denied: { reason: 'a process of a session, which hides its files, may have sent this request' },
  },
}

async function note(
  { sessions, log }: OperatorDeps,
  { runs, denied }: Objection,
  request: Pick<DeniedRequest, 'tool' | 'title'>,
): Promise<void> {
  log(`refused: ${request.title}: ${denied.reason}${denied.pid ? ` (pid ${denied.pid})` : ''}`)
  const lines = runs.flatMap((run) =>
    'session_id' in run ? [sessions.noteDenied(run.session_id, { ...request, ...denied })] : [],
  )
  const noted = Promise.allSettled(lines).then((outcomes) => {
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') log(`it is not in the trail: ${String(outcome.reason)}`)
    }
  })
  await Promise.race([noted, delay(NOTED_MS, undefined, { ref: false })])
}
