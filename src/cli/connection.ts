import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, type Sender } from '../client/client.ts'
import { sendInProcess } from '../client/in-process.ts'
import type { ServiceLocation } from '../client/session-stream.ts'
import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import type { Served } from '../serve.ts'
import type { Folders } from '../settings/folders.ts'
import { askOwner, createOwnerTimeouts } from '../state/owner/find-owner.ts'
import {
  isGone,
  isSame,
  isTaken,
  type Owner,
  ownerIn,
  readOwner,
  remedyOfSilent,
} from '../state/owner/owner-file.ts'

export interface Connection {
  client: Client
  /** Whether this process is the service: its sessions end with the command. */
  isOwn(): boolean
  /** Whether the service keeps running when all commands have ended. */
  isPersistent(): boolean
  close(): Promise<void>
}

/** How long a service may take to answer the health check. */
const HEALTHY_MS = 5000
const POLL_MS = 100

export interface ConnectOptions {
  signal: AbortSignal
  log: (line: string) => void
  sender: Sender
}

/**
 * Connects to the running service of a workspace. Without one, this process owns the memory root until `close`: its
 * own requests go to the app directly, and it listens for other commands. Waits for an owner that is starting or
 * stopping; throws with the pid of one that does not answer.
 */
export async function connect(
  workspace: Folders,
  { signal, log, sender }: ConnectOptions,
): Promise<Connection> {
  const { root, memoryRoot, stateDir } = workspace
  let served: Served | null = null
  /** The other command that owns the workspace, if any. */
  let ephemeralOwner: Owner | null = null

  async function findOrStart(): Promise<Pick<ServiceLocation, 'url' | 'send'>> {
    const isWaitedFor = createOwnerTimeouts()
    for (;;) {
      signal.throwIfAborted()
      const asked = await askOwner(workspace)
      if (!asked) {
        const { openServer } = await import('../serve.ts')
        try {
          served = await openServer({ root, memoryRoot, stateDir, port: 0, short: true, log })
          return { url: served.url, send: sendInProcess(served.fetch) }
        } catch (error) {
          if (!isTaken(error) || !isWaitedFor(ownerIn(error))) throw error
        }
      } else {
        const { owner } = asked
        ephemeralOwner = owner?.short === true ? owner : null
        if (owner?.url && (await isHealthy(owner.url, signal)))
          return { url: owner.url, send: undefined }
        if (!isWaitedFor(owner)) throw ownerUnresponsive(owner, workspace)
      }
      await delay(POLL_MS, undefined, { signal })
    }
  }

  const where: ServiceLocation = {
    ...(await findOrStart()),
    async relocate() {
      if (served) return served.url
      return (await askOwner(workspace))?.owner?.url ?? null
    },
  }
  const client = createClient(where, signal, sender)

  /** The owner may be a command that ends: a request that it did not accept goes to the next owner. */
  async function retried<T>(method: string, send: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await send()
      } catch (error) {
        if (served || !(await mayRetry(error, method))) throw error
      }
      Object.assign(where, await findOrStart())
    }
  }

  /**
   * True for a read, and for a write that certainly was not carried out: nothing listened, or the owner was stopping.
   */
  async function mayRetry(error: unknown, method: string): Promise<boolean> {
    if (!(error instanceof AppError) || error.code !== 'stopping') return false
    if (method === 'GET' || error.cause === undefined) return true
    const { cause } = error.cause as Error
    if (hasCode(cause, 'ECONNREFUSED')) return true
    return (
      hasCode(cause, 'ECONNRESET', 'EPIPE') &&
      ephemeralOwner !== null &&
      !(await wasKilled(ephemeralOwner, stateDir))
    )
  }

  return {
    client: {
      ...client,
      get url() {
        return where.url
      },
      rawRequest: (method, ...rest) => retried(method, () => client.rawRequest(method, ...rest)),
      request: (method, ...rest) => retried(method, () => client.request(method, ...rest)),
      bytesOf: (path) => retried('GET', () => client.bytesOf(path)),
    },
    isOwn: () => served !== null,
    isPersistent: () => served === null && ephemeralOwner === null,
    close: async () => served?.close(),
  }
}

async function isHealthy(url: string, signal: AbortSignal): Promise<boolean> {
  const client = createClient({ url }, AbortSignal.any([signal, AbortSignal.timeout(HEALTHY_MS)]))
  try {
    const { status, body } = await client.rawRequest('GET', '/health')
    return status === 200 && ['ok', 'failing'].includes(body.status)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError || (error as Error).name === 'TimeoutError') return false
    throw error
  }
}

function ownerUnresponsive(owner: Owner | null, { memoryRoot }: Folders): AppError {
  const who = owner === null ? 'A process with an unknown pid' : `Process ${owner.pid}`
  const at = owner?.url ? ` at ${owner.url}` : ''
  const next = owner === null ? 'End it, then try again.' : remedyOfSilent(owner.pid)
  return new AppError(
    'already_active',
    `${who} owns ${memoryRoot}, but does not answer${at}. ${next}`,
    owner === null ? {} : { extra: { owner: { pid: owner.pid } } },
  )
}

/**
 * Whether a command died without releasing the workspace. One that ends normally answers every request that it has
 * read, and cuts only connections that it has not accepted.
 */
async function wasKilled(command: Owner, stateDir: string): Promise<boolean> {
  const left = await readOwner(stateDir)
  return left !== null && isSame(left, command) && isGone(command)
}
