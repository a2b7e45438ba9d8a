import { Transform } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { AppError } from '../../model/app-error.ts'
import { packageVersion } from '../../package-files.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'
import { ownTerminal } from '../output/terminal.ts'
import { createAccess } from './access.ts'
import { type CasefileServer, casefileServer } from './server.ts'

/** A proof of 10 MiB whose every character is escaped as two. */
const MOST_MESSAGE_BYTES = 24 * 1024 * 1024
/** How long pending requests may take after the client closes standard input. */
const LAST_ANSWERS_MS = 15_000
/** The most time until a request that was read is pending, or its response is written. */
const TURN_MS = 100

/**
 * `casefile agent mcp`: standard output has only the protocol. Ends when the client closes standard input or output, after
 * answering the requests that came before. Reports lines that are not messages on standard error and skips them.
 */
export async function serveMcp(choice: WorkspaceOptions): Promise<void> {
  const { warn } = ownTerminal()
  const stop = new AbortController()
  const deps = { signal: stop.signal, log: warn }
  await sayWhere(choice, warn)
  const servers = new Set<CasefileServer>()
  const agent = () => [...servers].at(-1)?.agent()
  const access = createAccess(choice, { ...deps, agent })
  const version = packageVersion()
  const input = untilAnswered(access.idle)
  const transport = new StdioServerTransport(input, process.stdout, {
    maxBufferSize: MOST_MESSAGE_BYTES,
  })
  const handle = serveStdio(
    () => {
      const server = casefileServer({ ...deps, access, version })
      servers.add(server)
      return server.mcp
    },
    { transport, onerror: (error) => warn(`mcp: ${error.message}`) },
  )
  const over = Promise.race([closeOf(transport), signalled()])
  process.stdin.pipe(input)
  for (const event of ['error', 'close']) process.stdin.once(event, () => void input.end())
  await over
  await Promise.race([access.idle(), delay(LAST_ANSWERS_MS)])
  stop.abort()
  await handle.close().catch((error: unknown) => warn(inspect(error)))
  await access.idle()
  process.exit(0) // a connection to a service would keep the process alive
}

/** Clients show this line if the start fails; each call reports it again. */
async function sayWhere(choice: WorkspaceOptions, warn: (line: string) => void): Promise<void> {
  try {
    const { root } = await findWorkspace(choice)
    warn(`mcp: the workspace is ${root}`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    warn(`mcp: ${error.message}`)
  }
}

/**
 * Passes the input on. Passes its end on only after every request is answered, because the SDK answers nothing after
 * the end.
 */
function untilAnswered(idle: () => Promise<void>): Transform {
  let isOpen = false
  return new Transform({
    transform(chunk: Buffer, _, done) {
      isOpen = chunk.at(-1) !== 0x0a
      done(null, chunk)
    },
    flush(done) {
      if (isOpen) this.push('\n') // the last line may lack its line end
      const answered = async () => {
        for (let turn = 0; turn < 2; turn++) {
          await delay(TURN_MS)
          await idle()
        }
      }
      void Promise.race([answered(), delay(LAST_ANSWERS_MS)]).then(() => done())
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

/** The listeners stay: without one, the lock of the memory folder would end the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve())
  })
}
