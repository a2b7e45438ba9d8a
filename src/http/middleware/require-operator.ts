import { setTimeout as delay } from 'node:timers/promises'
import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../model/app-error.ts'
import { SHOWS_PROCESSES } from '../../platform/proc.ts'
import type { IdentifiedRun } from '../../runners/process/run-processes.ts'
import {
  type Connection,
  findSocketOwner,
  type Sender,
} from '../../runners/process/socket-owner.ts'
import type { DeniedRequest } from '../../sessions/denied-request.ts'
import type { SessionRun } from '../../sessions/jobs.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'

type OperatorDeps = Pick<HttpDeps, 'sessions' | 'providers' | 'log'>
type Run = SessionRun | IdentifiedRun

/** How long the response waits for the audit log, which is not written while a person's edit breaks the session file. */
const NOTED_MS = 2_000
/** How long, and how often, to look for a sender that no process shows. After that it runs in another container. */
const UNSEEN_MS = 1_000
const LOOK_MS = 20

/**
 * For what only the operator may do: rejects requests from processes of a running session or provider. A guard rail,
 * not a sandbox: a process can detach itself until it cannot be recognized. Checks nothing while nothing runs, and
 * lets every request pass where the system does not show processes (only Linux does).
 */
export function requireOperator(
  service: OperatorDeps,
  tool: string,
  applies: (c: ServiceContext) => boolean = () => true,
): MiddlewareHandler<ServiceEnv> {
  const why =
    'Only the operator may do this: send it from a terminal or browser that no session has started.'
  return rejecting(service, { tool, why }, (c) =>
    applies(c) ? [...service.sessions.runs(), ...service.providers.runs()] : [],
  )
}

/**
 * For what writes, but decides nothing: rejects requests from processes of a session that plans. So the tools of
 * `casefile agent mcp` can only read while an agent plans.
 */
export function notWhilePlanning(
  service: OperatorDeps,
  tool: string,
): MiddlewareHandler<ServiceEnv> {
  const why =
    'While a session plans, its programs may only read. They may do this once its plan is approved.'
  return rejecting(service, { tool, why }, () => planningRuns(service))
}

/** For what agents that people run themselves may do: rejects requests from processes that the service started. */
export function notOfService(service: OperatorDeps, tool: string): MiddlewareHandler<ServiceEnv> {
  const why = 'Agents that the service started plan and work in their own session.'
  return rejecting(service, { tool, why }, () => [
    ...service.sessions.runs().filter(({ isTerminal }) => !isTerminal),
    ...service.providers.runs(),
  ])
}

/** The runs whose programs may only read. */
function planningRuns({ sessions, providers }: OperatorDeps): readonly Run[] {
  return [...sessions.runs().filter(({ kind }) => kind === 'plan'), ...providers.runs()]
}

function rejecting(
  service: OperatorDeps,
  { tool, why }: { tool: string; why: string },
  runsThatMayNot: (c: ServiceContext) => readonly Run[],
): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    const runs = runsThatMayNot(c)
    const objection = runs.length > 0 && (await objectionTo(c, runs, why))
    if (objection) {
      await note(service, objection, { tool, title: `${c.req.method} ${c.req.path.slice(0, 200)}` })
      throw new AppError('own_session', objection.message, { extra: objection.extra })
    }
    await next()
  }
}

interface Objection {
  message: string
  extra: Record<string, unknown>
  /** The runs whose audit logs record it. */
  runs: readonly Run[]
  denied: Pick<DeniedRequest, 'reason' | 'pid'>
}

async function objectionTo(
  c: ServiceContext,
  runs: readonly Run[],
  why: string,
): Promise<Objection | null> {
  const incoming = c.env?.incoming
  if (!SHOWS_PROCESSES || incoming === undefined) return null
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

/** The session whose process sent the request; null for a person. If that is unclear, one that runs. */
export async function senderRun(
  { sessions }: Pick<OperatorDeps, 'sessions'>,
  c: ServiceContext,
): Promise<SessionRun | null> {
  const runs = sessions.runs()
  const incoming = c.env?.incoming
  if (!SHOWS_PROCESSES || incoming === undefined || runs.length === 0) return null
  const connection = connectionOf(incoming.socket)
  const sender = connection ? await findSender(connection, runs) : null
  if (sender?.kind === 'run') return sender.run
  return sender?.kind === 'other' || sender?.kind === 'unseen' ? null : runs[0]!
}

/** A process that is ending shows nothing for a moment, until its connection is gone too. */
async function findSender<R extends Run>(
  connection: Connection,
  runs: readonly R[],
): Promise<Sender<R>> {
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
  if (!localAddress || !localPort || !remoteAddress || !remotePort) return null // closed in the meantime
  return {
    local: { address: localAddress, port: localPort },
    remote: { address: remoteAddress, port: remotePort },
  }
}

function ownRequest(run: Run, pid: number, why: string): Objection {
  const isSession = 'session_id' in run
  const whose = isSession ? `session ${run.session_id} of case ${run.case_id}` : 'a provider'
  return {
    message: `Process ${pid}, which runs for ${whose}, sent this request. ${why}`,
    extra: isSession ? { running: { case_id: run.case_id, session_id: run.session_id } } : {},
    runs: [run],
    denied: { reason: 'a process of the session itself sent this request', pid },
  }
}

const UNKNOWN = {
  gone: {
    message:
      'While a session runs, the service identifies the process that sends such a request, and the sender has already closed its connection. Send it again, and wait for the response.',
    denied: { reason: 'the sender of this request was gone before it could be identified' },
  },
  hidden: {
    message:
      'A process of a running session hides its open files, so it may have sent this request. Send it again when the session has ended, or abandon the session.',
    denied: { reason: 'a process of a session, which hides its files, may have sent this request' },
  },
}

async function note(
  { sessions, log }: OperatorDeps,
  { runs, denied }: Objection,
  request: Pick<DeniedRequest, 'tool' | 'title'>,
): Promise<void> {
  log(`denied: ${request.title}: ${denied.reason}${denied.pid ? ` (pid ${denied.pid})` : ''}`)
  const lines = runs.flatMap((run) =>
    'session_id' in run ? [sessions.noteDenied(run.session_id, { ...request, ...denied })] : [],
  )
  const noted = Promise.allSettled(lines).then((outcomes) => {
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        log(`not recorded in the audit log: ${String(outcome.reason)}`)
    }
  })
  await Promise.race([noted, delay(NOTED_MS, undefined, { ref: false })])
}
