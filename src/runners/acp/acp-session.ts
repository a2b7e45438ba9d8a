import { asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import { RunnerFailure } from '../contract.ts'
import type { TimeLimits } from '../time-limits.ts'
import { type AgentConnection, clientInfo, requestWithTimeout } from './connection.ts'
import { isLoginMissing, loginHint } from './connection-failure.ts'
import { type ModeOffer, offerIn } from './modes.ts'
import { modelIn } from './usage.ts'

const PROTOCOL_VERSION = 1

export interface SessionOptions {
  title: string
  limits: TimeLimits
  cwd: string
  /** The id of a conversation to resume, if the agent supports that and still has it. */
  resume: string | null
  signal: AbortSignal
}

export interface AcpSession {
  sessionId: string
  offer: ModeOffer | null
  version: string | null
  /** The model of the session; null if the agent does not say. */
  model: string | null
}

/** Initializes the connection to an agent and opens a session. */
export async function openSession(
  connection: AgentConnection,
  options: SessionOptions,
): Promise<AcpSession> {
  const agent = asRecord(
    await requestWithTimeout(options.limits.initialize, { connection, ...options }, 'initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        // with this, the agent's notices do not appear inside its answer
        session: { notices: {} },
      },
      clientInfo: clientInfo(),
    }),
  )
  const { title } = options
  if (agent.protocolVersion !== PROTOCOL_VERSION) {
    const theirs = JSON.stringify(agent.protocolVersion) ?? 'none'
    throw new RunnerFailure(
      `${title} speaks version ${theirs.slice(0, 20)} of the Agent Client Protocol, but casefile speaks version ${PROTOCOL_VERSION}`,
    )
  }
  try {
    const session =
      (await resumed(connection, options, agent)) ?? (await created(connection, options))
    const version = asString(asRecord(agent.agentInfo).version)
    return { ...session, version }
  } catch (error) {
    if (!isLoginMissing(error)) throw error
    const { message } = error as RunnerFailure
    throw new RunnerFailure(`${message}; log in first${loginHint(agent.authMethods)}`)
  }
}

type Conversation = Omit<AcpSession, 'version'>

async function created(
  connection: AgentConnection,
  options: SessionOptions,
): Promise<Conversation> {
  const answer = await requestWithTimeout(
    options.limits.session,
    { connection, ...options },
    'session/new',
    sessionParams(options),
  )
  const sessionId = asString(asRecord(answer).sessionId)
  if (!sessionId) throw new RunnerFailure(`${options.title} gave its session no id`)
  return { sessionId, offer: offerIn(answer), model: modelIn(answer) }
}

/** Null if the agent cannot resume the conversation. The prompt then has to carry all context. */
async function resumed(
  connection: AgentConnection,
  options: SessionOptions,
  { agentCapabilities }: UnknownRecord,
): Promise<Conversation | null> {
  const { loadSession, sessionCapabilities } = asRecord(agentCapabilities)
  const canResume = Boolean(asRecord(sessionCapabilities).resume)
  if (options.resume === null || !(canResume || loadSession === true)) return null
  const method = canResume ? 'session/resume' : 'session/load'
  const params = { sessionId: options.resume, ...sessionParams(options) }
  try {
    const answer = await requestWithTimeout(
      options.limits.session,
      { connection, ...options },
      method,
      params,
    )
    const offer = offerIn(answer)
    return offer && { sessionId: options.resume, offer, model: modelIn(answer) }
  } catch (error) {
    if (error instanceof RunnerFailure && !isLoginMissing(error)) return null
    throw error
  }
}

function sessionParams({ cwd }: SessionOptions): object {
  return { cwd, mcpServers: [] }
}
