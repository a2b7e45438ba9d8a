import type { ApiReader, Client } from '../../client/client.ts'
import { askOwner } from '../../state/owner/ask-owner.ts'
import type { Connection } from '../connection.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'

/** The workspace as a process that stays has it: found anew by each call, owned by none for longer than it takes. */
export interface Access {
  /** By a service that runs; without one from the files, of which none is written. */
  read<T>(use: (client: ApiReader) => Promise<T>): Promise<T>
  /** By a service that runs; without one as a service for the length of the call. */
  served<T>(use: (client: Client) => Promise<T>): Promise<T>
  /** The address of a service that goes on by itself, null while there is none. */
  service(): Promise<string | null>
  /** When no call is under way any more, and nothing is owned. */
  idle(): Promise<void>
}

export interface AccessNeeds {
  signal: AbortSignal
  log: (line: string) => void
  /** The name of the agent that asks, where it says it. */
  agent(): string | undefined
}

export function createAccess(choice: WorkspaceOptions, { signal, log, agent }: AccessNeeds): Access {
  let open: Promise<Connection> | null = null
  let users = 0
  let closed: Promise<unknown> = Promise.resolve()

  async function begin(): Promise<Connection> {
    await closed
    const { connect } = await import('../connection.ts')
    const { placesIn } = await import('../../workspace/settings/places.ts')
    const sender = { from: 'mcp', who: agent() } as const
    return connect(placesIn(await findWorkspace(choice), log), { signal, log, sender })
  }

  const under = new Set<Promise<unknown>>()
  function counted<T>(call: Promise<T>): Promise<T> {
    under.add(call)
    const done = () => under.delete(call)
    call.then(done, done)
    return call
  }

  /** Calls at the same time share one connection: a process is one owner, not several. */
  async function served<T>(use: (client: Client) => Promise<T>): Promise<T> {
    users++
    open ??= begin()
    const mine = open
    try {
      return await use((await mine).client)
    } finally {
      if (--users === 0) {
        open = null
        closed = mine.then((connection) => connection.close()).catch(() => {}) // it was told to who asked
        await closed
      }
    }
  }

  return {
    served: (use) => counted(served(use)),
    async read(use) {
      const { openReading } = await import('../reading/answer-from-files.ts')
      const client = open ? null : await openReading(await findWorkspace(choice))
      return client === null ? counted(served(use)) : use(client)
    },
    async service() {
      const owner = await askOwner((await findWorkspace(choice)).memoryRoot)
      if (!owner.held || owner.answer?.short === true) return null
      return owner.answer?.url ?? null
    },
    async idle() {
      await Promise.allSettled(under)
    },
  }
}
