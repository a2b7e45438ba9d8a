import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, type Sender } from '../client/client.ts'
import type { Whereabouts } from '../client/session-stream.ts'
import { hasCode } from '../files/errno.ts'
import { Refusal } from '../model/refusal.ts'
import type { Served } from '../serve.ts'
import { askOwner } from '../state/owner/ask-owner.ts'
import {
  isGone,
  isSame,
  isTaken,
  type OwnerRecord,
  ownerIn,
  readRecord,
  remedyOfStopped,
} from '../state/owner/owner-record.ts'
import { createOwnerTimeouts } from '../state/owner/owner-timeouts.ts'
import { findSilentOwner, type SilentOwner } from '../state/owner/silent-owner.ts'
import type { Workspace } from './find-workspace.ts'

export interface Connection {
  client: Client
  /** Whether this process itself serves, since nobody else did: what runs ends with the command. */
  isOwn(): boolean
  /** Whether what is started goes on by itself: no command serves, neither this one nor another. */
  isLasting(): boolean
  close(): Promise<void>
}

/** How long a service may take to say that it is well. */
const WELL_MS = 5000
const POLL_MS = 100

export interface ConnectOptions {
  signal: AbortSignal
  log: (line: string) => void
  sender: Sender
}

/**
 * The running service of a workspace; without one this process owns the memory root until `close`. An
 * owner that is just starting or ending is waited for; one that does not answer is refused by its pid.
 */
export async function connect(
  workspace: Workspace,
  { signal, log, sender }: ConnectOptions,
): Promise<Connection> {
  const { root, memoryRoot, stateDir } = workspace
  let served: Served | null = null
  /** The command that serves, where one does. */
  let passing: OwnerRecord | null = null

  async function reach(): Promise<string> {
    const isWaitedFor = createOwnerTimeouts()
    for (;;) {
      signal.throwIfAborted()
      const owner = await askOwner(memoryRoot)
      if (!owner.held) {
        const { openServer } = await import('../serve.ts')
        try {
          served = await openServer({ root, memoryRoot, stateDir, port: 0, short: true, log })
          return served.url
        } catch (error) {
          if (!isTaken(error) || !isWaitedFor(ownerIn(error))) throw error
        }
      } else {
        const url = owner.answer?.url
        passing = owner.answer?.short === true ? owner.answer : null
        if (url !== undefined && (await isWell(url, signal))) return url
        const known = owner.answer ?? (await findSilentOwner(owner.address, stateDir))
        if (!isWaitedFor(known)) throw silent(known, url, workspace)
      }
      await delay(POLL_MS, undefined, { signal })
    }
  }

  const where: Whereabouts = {
    url: await reach(),
    async find() {
      if (served) return served.url
      const owner = await askOwner(memoryRoot)
      return (owner.held && owner.answer?.url) || null
    },
  }
  const client = createClient(where, signal, sender)

  /** What serves may be a command, which ends: what it did not take is asked anew, of each that follows. */
  async function again<T>(method: string, ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (served || !(await mayAskAnew(error, method))) throw error
      }
      where.url = await reach()
    }
  }

  /** A question, or what is certainly not carried out: nobody listened, or who did was ending. */
  async function mayAskAnew(error: unknown, method: string): Promise<boolean> {
    if (!(error instanceof Refusal) || error.code !== 'stopping') return false
    if (method === 'GET' || error.cause === undefined) return true
    const { cause } = error.cause as Error
    if (hasCode(cause, 'ECONNREFUSED')) return true
    return (
      hasCode(cause, 'ECONNRESET', 'EPIPE') &&
      passing !== null &&
      !(await wasKilled(passing, stateDir))
    )
  }

  return {
    client: {
      ...client,
      get url() {
        return where.url
      },
      exchange: (method, ...asked) => again(method, () => client.rawRequest(method, ...asked)),
      ask: (method, ...asked) => again(method, () => client.request(method, ...asked)),
      bytesOf: (path) => again('GET', () => client.bytesOf(path)),
    },
    isOwn: () => served !== null,
    isLasting: () => served === null && passing === null,
    close: async () => served?.close(),
  }
}

async function isWell(url: string, signal: AbortSignal): Promise<boolean> {
  const client = createClient({ url }, AbortSignal.any([signal, AbortSignal.timeout(WELL_MS)]))
  try {
    const { status, body } = await client.rawRequest('GET', '/health')
    return status === 200 && body.status === 'ok'
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Refusal || (error as Error).name === 'TimeoutError') return false
    throw error
  }
}

function silent(
  known: SilentOwner | null,
  url: string | undefined,
  { memoryRoot }: Workspace,
): Refusal {
  const who = known === null ? 'A process whose pid is unknown' : `Process ${known.pid}`
  const at = url === undefined ? '' : ` at ${url}`
  const how = known === null ? '' : ` (kill ${known.pid})`
  const next =
    known?.stopped === true
      ? remedyOfStopped(known.pid)
      : `If it hangs or is stopped, end it${how}, then try again.`
  return new Refusal(
    'already_active',
    `${who} owns ${memoryRoot}, but does not answer${at}. ${next}`,
    known === null ? {} : { extra: { owner: { pid: known.pid } } },
  )
}

/**
 * Whether a command died without having given the workspace back. One that ends cuts no request that it
 * has read, only connections that still waited to be accepted.
 */
async function wasKilled(command: OwnerRecord, stateDir: string): Promise<boolean> {
  const left = await readRecord(stateDir)
  return left !== null && isSame(left, command) && (await isGone(command))
}
