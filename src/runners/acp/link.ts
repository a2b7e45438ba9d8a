import { once } from 'node:events'
import type { ClientConnection, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { packageVersion } from '../../package-files.ts'
import { createLines } from '../agents/jsonl.ts'
import { unlessAborted, within } from '../agents/patience.ts'
import type { StepOutcome } from '../contract.ts'
import type { Guard } from '../process/guard.ts'
import { type Launched, launch } from '../process/launch.ts'
import { endProcessGroup } from '../process/process-group.ts'
import { failureOf, type LinkExit, type LinkFacts } from './link-failure.ts'
import { openWire } from './wire.ts'

/** How long output may still come in after the process has exited. */
const DRAIN_MS = 250
/** For what a process said before it exited by itself: its lines wait for the notes on disk. */
const LAST_WORDS_MS = 5000
/** For a process to leave by itself once its input is closed; codex-acp takes a little more than 2 s. */
const LEAVE_MS = 4000
/** After KILL only a process in an uninterruptible system call is left. */
const KILLED_MS = 1000
const TAIL_CHARACTERS = 2000
const METHOD_NOT_FOUND = -32601

export interface LinkOptions {
  /** How messages call the agent. */
  title: string
  argv: readonly string[]
  cwd: string
  env: Record<string, string>
  guard: Guard
  /** Ends the wait for its start; from then on it is for `Link.end`. */
  signal: AbortSignal
  /** Awaited before the program begins. */
  onStart(pid: number): Promise<void>
  /** A line that the program sent, whatever it is; one of its standard error as JSON. */
  onRaw(line: string): void
  /** A line that is no message of the protocol: what the program writes about itself. */
  onNoise(line: string): void
  onUpdate(params: unknown): void
  /** Another notification, of the agent's own. */
  onOwn(method: string, params: unknown): void
  /** The parameters are of whatever shape. */
  onPermission(params: unknown): Promise<PermissionAnswer>
  /** See `WireDeps`. */
  room(): Promise<void>
}

export type PermissionAnswer = RequestPermissionResponse

/** An agent's process, and the connection to it. Whatever it does is a `RunnerFailure` in words. */
export interface Link {
  /** Rejects when `signal` is aborted, when the agent refuses, and when it is gone. */
  ask(method: string, params: object, signal: AbortSignal): Promise<unknown>
  notify(method: string, params: object): Promise<void>
  /**
   * Ends the process and all of its group; `politely` first closes its input, and waits for it to leave: one that
   * does not is ended, which is no fault of it.
   */
  end(politely: boolean): Promise<LinkEnd>
}

export type LinkEnd = Pick<StepOutcome, 'exit' | 'signal' | 'endedByService'>
export type NotLinked = { startError: string }

/** Starts an agent, held until `onStart` has resolved, and connects to it. */
export async function openLink(options: LinkOptions): Promise<Link | NotLinked> {
  const launched = await launch({ ...options, stdin: 'pipe' })
  if ('startError' in launched) return launched
  const exited = exitOf(launched)
  const ended = exited.then(() => endProcessGroup(launched.pid))
  const tail = followErrors(launched, options)
  try {
    await options.onStart(launched.pid)
    const connection = await connect(launched, options)
    launched.begin()
    return linked(launched, connection, { title: options.title, tail, exited, ended })
  } catch (error) {
    await endProcessGroup(launched.pid)
    throw error
  }
}

function linked(
  launched: Launched,
  connection: ClientConnection,
  facts: LinkFacts & { ended: Promise<void> },
): Link {
  return {
    async ask(method, params, signal) {
      const request = connection.agent.request(method, params)
      try {
        return await unlessAborted(signal, request)
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
      if (politely) await within(LEAVE_MS, facts.exited)
      const endedByService = politely && !hasExited(launched)
      // once it has exited that is under way: later on its id may be another's
      if (!hasExited(launched)) await endProcessGroup(launched.pid)
      const gone = await within(KILLED_MS, facts.exited)
      if (gone) await facts.ended
      await within(DRAIN_MS, connection.closed)
      connection.close()
      for (const stream of [launched.stdin, launched.stdout, launched.stderr]) stream?.destroy()
      if (endedByService) return { exit: 0, signal: null, endedByService }
      return gone ?? { exit: null, signal: 'SIGKILL' }
    },
  }
}

async function connect(launched: Launched, options: LinkOptions): Promise<ClientConnection> {
  // It is 100 ms of loading, for those alone who use it.
  const { client, methods, RequestError } = await import('@agentclientprotocol/sdk')
  const stream = openWire({
    stdout: launched.stdout,
    stdin: launched.stdin!,
    onNotification(method, params) {
      if (method === methods.client.session.update) options.onUpdate(params)
      else options.onOwn(method, params)
    },
    onLine: options.onRaw,
    onOther: options.onNoise,
    room: options.room,
  })
  return client({ name: 'casefile' })
    .onRequest(methods.client.session.requestPermission, asItIs, ({ params }) =>
      options.onPermission(params),
    )
    .onRequest('*', ({ method }) => {
      options.onNoise(`[casefile] asked for ${method.slice(0, 100)}, which is not offered`)
      throw new RequestError(METHOD_NOT_FOUND, `casefile does not offer ${method}`)
    })
    .connect(stream)
}

/** A request that the SDK's schema does not fit is answered all the same. */
function asItIs(params: unknown): unknown {
  return params
}

export function clientInfo(): { name: string; version: string } {
  return { name: 'casefile', version: packageVersion() }
}

function hasExited({ child }: Launched): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function exitOf({ child, stdout }: Launched): Promise<LinkExit> {
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  return exited.then(async ([exit, signal]) => {
    // A child of its own may hold the pipe, and then it never ends.
    setTimeout(() => stdout.destroy(), LAST_WORDS_MS).unref()
    return { exit, signal }
  })
}

function followErrors({ stderr }: Launched, { onRaw, onNoise }: LinkOptions): () => string {
  let tail = ''
  const lines = createLines({
    line(text) {
      if (text.trim() === '') return
      onRaw(JSON.stringify({ stderr: text }))
      onNoise(text)
    },
    dropped() {},
  })
  stderr.on('data', (bytes: Buffer) => {
    lines.write(bytes)
    tail = (tail + bytes.toString()).slice(-TAIL_CHARACTERS)
  })
  stderr.on('end', lines.end)
  // A connection reset is how a killed writer looks from here.
  stderr.on('error', () => {})
  return () => tail
}
