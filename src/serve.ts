import { inspect } from 'node:util'
import { build } from './build.ts'
import { createApp } from './http/app.ts'
import { createStreamRegistry } from './http/event-stream.ts'
import { listen } from './http/server.ts'
import { openService, type Service } from './service.ts'
import { inTime, stopSignal } from './stopping.ts'

export interface ServeOptions {
  root: string
  port: number
  memoryRoot?: string
  stateDir?: string
  dev?: boolean
  trust?: boolean
  log?: (line: string) => void
  /** For tests. */
  gitPatienceMs?: number
}

export interface Served {
  service: Service
  url: string
  /** Ends streams, finishes requests and writes, stops what runs, gives the workspace back; rejects where that hangs. */
  close(): Promise<void>
}

/** A service with its HTTP side, answering when this resolves. */
export async function openServer(options: ServeOptions): Promise<Served> {
  const service = await openService({ ...options, build: await build() })
  const streams = createStreamRegistry()
  let port = options.port
  try {
    const app = createApp(service, { port: () => port, streams })
    const server = await listen(app.fetch, { port: options.port, log: service.log })
    port = server.port
    service.listening(server)
    return {
      service,
      url: server.url,
      async close() {
        // first: its last events still reach the open streams
        await inTime('a running session', service.sessions.close())
        streams.endAll()
        service.webhooks.stopTests()
        await inTime('an open request', server.close())
        await inTime('a write of files', service.close())
      },
    }
  } catch (error) {
    await service.close()
    throw error
  }
}

/** `casefile serve`: prints the address when it answers, and stops cleanly on SIGINT and SIGTERM. */
export async function serve(options: ServeOptions): Promise<void> {
  const served = await openServer(options)
  process.stdout.write(`Casefile is listening on ${served.url}\n`)
  await stopSignal()
  try {
    await served.close()
  } catch (error) {
    served.service.log(inspect(error))
    process.exit(1) // what hangs would keep the process
  }
  process.exit(0) // proper-lockfile's exit handlers would keep the signal's own exit code
}
