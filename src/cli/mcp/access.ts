import type { ApiReader, Client } from '../../client/client.ts'
import { findService } from '../../state/owner/find-owner.ts'
import { type Connection, connect } from '../connection.ts'
import { openReader } from '../context.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'

/**
 * The workspace for a long-running process: each call finds it again, and owns it only for the length of the call.
 */
export interface Access {
  /** Uses the running service; without one it reads the files and writes nothing. */
  read<T>(use: (client: ApiReader) => Promise<T>): Promise<T>
  /** Uses the running service; without one it owns the workspace for the length of the call. */
  served<T>(use: (client: Client) => Promise<T>): Promise<T>
  /** The address of a service that runs without this process; null while there is none. */
  service(): Promise<string | null>
  /** The name of the agent, if it gives one. */
  agentName(): string | undefined
  /** Resolves when no call is running and this process owns nothing. */
  idle(): Promise<void>
}

interface AccessDeps {
  signal: AbortSignal
  log: (line: string) => void
  /** The name of the agent, if it gives one. */
  agent(): string | undefined
}

export function createAccess(choice: WorkspaceOptions, { signal, log, agent }: AccessDeps): Access {
  let open: Promise<Connection> | null = null
  let users = 0
  let closed: Promise<unknown> = Promise.resolve()

  async function begin(): Promise<Connection> {
    await closed
    const sender = { from: 'mcp', who: agent() } as const
    return connect(await findWorkspace(choice), { signal, log, sender })
  }

  const under = new Set<Promise<unknown>>()
  function counted<T>(call: Promise<T>): Promise<T> {
    under.add(call)
    const done = () => under.delete(call)
    call.then(done, done)
    return call
  }

  /** Concurrent calls share one connection: a process is one owner, not several. */
  async function served<T>(use: (client: Client) => Promise<T>): Promise<T> {
    users++
    open ??= begin()
    const mine = open
    try {
      return await use((await mine).client)
    } finally {
      if (--users === 0) {
        open = null
        closed = mine.then((connection) => connection.close()).catch(() => {}) // the caller gets the error
        await closed
      }
    }
  }

  async function read<T>(use: (client: ApiReader) => Promise<T>): Promise<T> {
    const client = open ? null : await openReader(await findWorkspace(choice), { signal, log })
    return client === null ? served(use) : use(client)
  }

  return {
    served: (use) => counted(served(use)),
    read: (use) => counted(read(use)),
    agentName: agent,
    service: async () => findService(await findWorkspace(choice)),
    async idle() {
      await Promise.allSettled(under)
    },
  }
}
