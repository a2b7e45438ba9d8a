import type { ClientConnection, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { packageVersion } from '../../package-files.ts'
import { createLines } from '../agents/jsonl.ts'
import { abortable, withTimeout } from '../agents/timeouts.ts'
import { RunnerFailure, type StepOutcome } from '../contract.ts'
import type { Launched } from '../enclosure/enclosure.ts'
import { launch } from '../enclosure/launch.ts'
import type { Sandbox } from '../enclosure/sandbox.ts'
import type { TimeLimits } from '../time-limits.ts'
import { type ConnectionExit, type ConnectionFacts, failureOf } from './connection-failure.ts'
import { openMessageStream } from './message-stream.ts'

/**
 * The limit for a process that exited by itself, whose output is processed slowly because notes are written to
 * disk.
 */
const LAST_WORDS_MS = 5000
/** After SIGKILL only a process in an uninterruptible system call is left. */
const KILLED_MS = 1000
const TAIL_CHARACTERS = 2000
const METHOD_NOT_FOUND = -32601

export interface ConnectionOptions {
  /** The agent's name in messages. */
  title: string
  argv: readonly string[]
  limits: TimeLimits
  cwd: string
  env: Record<string, string>
  sandbox: Sandbox
  /** Aborts the start. After the start, use `end` of the connection. */
  signal: AbortSignal
  /** Awaited before the program runs. */
  onStart(pid: number): Promise<void> | void
  /** Every line the program sends; a line of standard error is wrapped as JSON. */
  onRaw(line: string): void
  onUpdate(params: unknown): void
  /** The parameters may have any shape. */
  onPermission(params: unknown): Promise<PermissionAnswer>
  /** See `MessageStreamDeps`. */
  room(): Promise<void>
}

export type PermissionAnswer = RequestPermissionResponse

/** An agent's process and the ACP connection to it. Every failure of the agent is a `RunnerFailure`. */
export interface AgentConnection {
  /** Rejects when `signal` aborts, when the agent returns an error, or when it exits. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown>
  notify(method: string, params: object): Promise<void>
  /**
   * Ends the process group. `politely` first closes its input and waits for it to exit; if it does not, ending it
   * is not an error.
   */
  end(politely: boolean): Promise<ConnectionEnd>
}

export type ConnectionEnd = Pick<StepOutcome, 'exit' | 'signal' | 'endedByService'>
export type NotConnected = { startError: string }

/** Starts an agent, held until `onStart` resolves, and connects to it. */
export async function openConnection(
  options: ConnectionOptions,
): Promise<AgentConnection | NotConnected> {
  const launched = await launch({ ...options, stdin: 'pipe' })
  if ('startError' in launched) return launched
  const exited = exitOf(launched)
  const endGroup = () => launched.end(options.limits.terminate)
  const ended = exited.then(endGroup)
  const tail = followErrors(launched, options)
  try {
    await options.onStart(launched.pid)
    const connection = await connect(launched, options)
    launched.begin()
    const facts = { title: options.title, tail, exited, ended }
    return createConnection(launched, connection, { ...facts, endGroup, limits: options.limits })
  } catch (error) {
    await endGroup()
    throw error
  }
}

function createConnection(
  launched: Launched,
  connection: ClientConnection,
  facts: ConnectionFacts & {
    limits: TimeLimits
    endGroup(): Promise<void>
    ended: Promise<void>
  },
): AgentConnection {
  return {
    async ask(method, params, signal) {
      const request = connection.agent.request(method, params)
      try {
        return await abortable(signal, request)
      } catch (error) {
        if (error === signal.reason && signal.aborted) throw error
        throw await failureOf(error, method, connection.signal, facts)
      }
    },
    async notify(method, params) {
      if (!connection.signal.aborted) await connection.agent.notify(method, params)
    },
    async end(politely) {
      launched.stdin?.end()
      if (politely) await withTimeout(facts.limits.exit, facts.exited)
      const endedByService = politely && !launched.hasExited()
      // after its exit a signal is already on its way; later its id may belong to another process
      if (!launched.hasExited()) await facts.endGroup()
      const gone = await withTimeout(KILLED_MS, facts.exited)
      if (gone) await facts.ended
      await withTimeout(facts.limits.drain, connection.closed)
      connection.close()
      for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream?.destroy()
      if (endedByService) return { exit: 0, signal: null, endedByService }
      return gone ?? { exit: null, signal: 'SIGKILL' }
    },
  }
}

/** Sends a request that needs no model, so it has its own time limit, in milliseconds. */
export async function requestWithTimeout(
  ms: number,
  {
    connection,
    title,
    signal,
  }: { connection: AgentConnection; title: string; signal: AbortSignal },
  method: string,
  params: object,
): Promise<unknown> {
  const limit = AbortSignal.timeout(ms)
  try {
    return await connection.ask(method, params, AbortSignal.any([signal, limit]))
  } catch (error) {
    if (error !== limit.reason) throw error
    throw new RunnerFailure(`${title} did not answer ${method} within ${ms / 1000} s`)
  }
}

async function connect(launched: Launched, options: ConnectionOptions): Promise<ClientConnection> {
  // loading this takes 100 ms, so it is loaded only if an agent uses it
  const { client, methods, RequestError } = await import('@agentclientprotocol/sdk')
  const stream = openMessageStream({
    stdout: launched.stdout,
    stdin: launched.stdin!,
    onNotification(method, params) {
      if (method === methods.client.session.update) options.onUpdate(params)
    },
    onLine: options.onRaw,
    room: options.room,
  })
  return client({ name: 'casefile' })
    .onRequest(methods.client.session.requestPermission, asItIs, ({ params }) =>
      options.onPermission(params),
    )
    .onRequest('*', ({ method }) => {
      throw new RequestError(METHOD_NOT_FOUND, `casefile does not support ${method}`)
    })
    .connect(stream)
}

/** Skips the SDK's schema, so that a request that does not match it is answered, too. */
function asItIs(params: unknown): unknown {
  return params
}

export function clientInfo(): { name: string; version: string } {
  return { name: 'casefile', version: packageVersion() }
}

function exitOf({ exited, stdout }: Launched): Promise<ConnectionExit> {
  return exited.then((exit) => {
    // a child process may hold the pipe open, and then it never ends
    setTimeout(() => stdout.destroy(), LAST_WORDS_MS).unref()
    return exit
  })
}

function followErrors({ stderr }: Launched, { onRaw }: ConnectionOptions): () => string {
  let tail = ''
  const lines = createLines({
    line(text) {
      if (text.trim() === '') return
      onRaw(JSON.stringify({ stderr: text }))
    },
    dropped() {},
  })
  stderr.on('data', (bytes: Buffer) => {
    lines.write(bytes)
    tail = (tail + bytes.toString()).slice(-TAIL_CHARACTERS)
  })
  stderr.on('end', lines.end)
  // a killed writer shows up as a connection reset
  stderr.on('error', () => {})
  return () => tail
}
