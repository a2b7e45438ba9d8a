import { Transform } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { Refusal } from '../../model/refusal.ts'
import { packageVersion } from '../../package-files.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'
import { ownTerminal } from '../output/terminal.ts'
import { createAccess } from './access.ts'
import { followChanges, type KnownFiles } from './changes.ts'
import { messageLines } from './message-lines.ts'
import { watchPending } from './pending.ts'
import { type CasefileServer, casefileServer } from './server.ts'

/** A proof of 10 MiB, with each of its characters written as two. */
const MOST_MESSAGE_BYTES = 24 * 1024 * 1024
/** How long what was asked for is carried out, and answered, after the client has said its last word. */
const LAST_ANSWERS_MS = 15_000

/**
 * `casefile mcp`: standard output is the protocol's alone. Ends when the client closes standard input, or
 * reads no more; what it had asked for by then is still answered.
 */
export async function serveMcp(choice: WorkspaceOptions): Promise<void> {
  const { warn } = ownTerminal()
  const stop = new AbortController()
  const needs = { signal: stop.signal, log: warn }
  await sayWhere(choice, warn)
  const servers = new Set<CasefileServer>()
  const agent = () => [...servers].at(-1)?.agent()
  const access = createAccess(choice, { ...needs, agent })
  const version = packageVersion()
  const known: KnownFiles = new Set()
  const input = untilAnswered(() => pending.none())
  const transport = new StdioServerTransport(input, process.stdout, {
    maxBufferSize: MOST_MESSAGE_BYTES,
  })
  const handle = serveStdio(
    ({ era }) => {
      const server = casefileServer({ ...needs, access, version, era, known })
      servers.add(server)
      return server.mcp
    },
    { transport, onerror: (error) => warn(`mcp: ${error.message}`) },
  )
  const pending = watchPending(transport)
  // the SDK takes a byte less
  const lines = messageLines({ ...pending, mostBytes: MOST_MESSAGE_BYTES - 1 })
  const over = Promise.race([closeOf(transport), signalled()])
  process.stdin.pipe(lines).pipe(input)
  for (const event of ['error', 'close']) process.stdin.once(event, () => void lines.end())
  void followChanges(access, { ...needs, agent }, known, (change) => {
    for (const server of servers) server.tell(change)
  })
  await over
  stop.abort()
  await handle.close().catch((error: unknown) => warn(inspect(error)))
  await access.idle()
  process.exit(0) // what keeps the process otherwise is a connection to a service
}

/** A client shows what is said at the start when the start fails; each call says it again. */
async function sayWhere(choice: WorkspaceOptions, warn: (line: string) => void): Promise<void> {
  try {
    const { root } = await findWorkspace(choice)
    warn(`mcp: the workspace is ${root}`)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    warn(`mcp: ${error.message}`)
  }
}

/** What is read, whose end comes only when all of it is answered. */
function untilAnswered(answered: () => Promise<void>): Transform {
  return new Transform({
    transform: (chunk, _, done) => done(null, chunk),
    flush(done) {
      // the last chunk may still be on its way to the reader
      setImmediate(() => void Promise.race([answered(), delay(LAST_ANSWERS_MS)]).then(() => done()))
    },
  })
}

function closeOf(transport: StdioServerTransport): Promise<void> {
  const { onclose } = transport
  return new Promise((resolve) => {
    transport.onclose = () => {
      onclose?.()
      resolve()
    }
  })
}

/** The listeners stay: where none is left, the lock of the memory folder ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve())
  })
}
