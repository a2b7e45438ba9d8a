import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { build } from './build.ts'
import { hasMoreThan } from './files/folder-names.ts'
import { answerProblem, listen } from './http/server.ts'
import { createStreamRegistry } from './http/sse/stream-registry.ts'
import { createInbox } from './inbox/inbox.ts'
import { notLoaded } from './model/app-error.ts'
import { NEEDS_YOU, needYouText } from './model/state-groups.ts'
import { closeInherited } from './platform/proc.ts'
import { startProgramsBy } from './platform/program.ts'
import { createProgramProcess } from './platform/program-process.ts'
import type { TimeLimits } from './runners/time-limits.ts'
import { openService, type Service } from './service.ts'
import type { ServiceOptions } from './service-options.ts'
import { createOwnerTimeouts, isService } from './state/owner/find-owner.ts'
import { isTaken, ownerIn } from './state/owner/owner-file.ts'
import { inTime, stopSignal } from './stopping.ts'
import type { Site } from './web/site.ts'

export interface ServeOptions {
  root: string
  port: number
  /** Take the next free port if this one is in use. */
  orNext?: boolean
  memoryRoot?: string
  stateDir?: string
  dev?: boolean
  trust?: boolean
  mount?: boolean
  /** By default that of this process. */
  environment?: NodeJS.ProcessEnv
  /** The service ends with a command. It has no pages, and says so to processes that ask for the owner. */
  short?: boolean
  /** Print the address as JSON. */
  json?: boolean
  /** Open the console in the browser. */
  open?: boolean
  log?: (line: string) => void
  /** For tests. */
  gitTimeoutMs?: number
  limits?: Partial<TimeLimits>
  leftProcesses?: ServiceOptions['leftProcesses']
}

export interface Served {
  service: Service
  url: string
  /** Answers a request from this process without a connection. */
  fetch(request: Request, env?: object): Response | Promise<Response>
  /**
   * Ends event streams, finishes requests and writes, stops sessions, and releases the workspace; rejects if that
   * hangs.
   */
  close(): Promise<void>
}

/** Starts a service with its HTTP server. Resolves once all files are read. */
export async function openServer(options: ServeOptions): Promise<Served> {
  const served = await startServer(options)
  try {
    await served.service.start.begun
    return served
  } catch (error) {
    await served.close().catch((failure: unknown) => served.service.log(String(failure)))
    throw error
  }
}

/**
 * With at most this many cases, all are read before the service answers, so that its first answers are complete.
 */
const FEW_CASES = 200

/**
 * The same, but with many cases it resolves earlier: requests that need the files wait until they are read
 * (`start`).
 */
async function startServer(options: ServeOptions): Promise<Served> {
  const service = await openService({ ...options, build: build() })
  const streams = createStreamRegistry()
  const inbox = options.short
    ? null
    : createInbox({ around: dirname(service.stateDir), own: service, log: service.log })
  let port = options.port
  let hasLocalhost = true
  try {
    const { log, layout, start } = service
    if (!hasMoreThan(FEW_CASES, layout.cases)) await start.begun
    let opened: Promise<Site> | undefined
    /** Half of the program, loaded with the first request. */
    async function openSite(): Promise<Site> {
      const { createSite } = await import('./web/site.ts').catch(notLoaded)
      return createSite(service, {
        port: () => port,
        hasLocalhost: () => hasLocalhost,
        streams,
        inbox,
        hasPages: !options.short,
      })
    }
    const site = () => (opened ??= openSite())
    const server = await listen(
      (incoming, outgoing) => {
        site().then(
          ({ listener }) => listener(incoming, outgoing),
          (error: unknown) => answerProblem(outgoing, error, log),
        )
      },
      {
        port: options.port,
        orNext: options.orNext ?? false,
        log,
        oneRequestEach: options.short ?? false,
      },
    )
    port = server.port
    if (options.orNext && port !== options.port)
      log(`port ${options.port} is in use, so this workspace is on port ${port}`)
    hasLocalhost = server.hasLocalhost
    if (!hasLocalhost && !options.short) log(otherLocalhost(port))
    service.listening(server)
    // a command's own service ends with it, and gates no agent
    if (!options.short) await service.hooks.announce(server.url)
    return {
      service,
      url: server.url,
      fetch: async (...request) => (await site()).fetch(...request),
      async close() {
        service.giveUpStart()
        if (!options.short) await service.hooks.withdraw()
        // first, so that its last events still reach the open streams
        await inTime('a running session', endRuns(service))
        streams.endAll()
        service.webhooks.stopTests()
        await inTime('an open request', server.close())
        await inTime('a write of files', service.close())
      },
    }
  } catch (error) {
    service.giveUpStart()
    await service.close().catch((failure: unknown) => service.log(String(failure)))
    throw error
  }
}

const otherLocalhost = (port: number) =>
  `another program listens on [::1]:${port}, so http://localhost:${port} is not served; use http://127.0.0.1:${port}`

async function endRuns({ sessions, providers }: Service): Promise<void> {
  await Promise.all([sessions.close(), providers.close()])
}

const POLL_MS = 100

/** Waits while a command briefly owns the workspace, or while an owner is still starting. */
async function openOnceFree(options: ServeOptions): Promise<Served> {
  const isWaitedFor = createOwnerTimeouts()
  for (let tries = 1; ; tries++) {
    try {
      return await startServer(options)
    } catch (error) {
      if (!isTaken(error)) throw error
      const owner = ownerIn(error)
      if (isService(owner) || !isWaitedFor(owner)) throw error
      const who = owner ? 'a command' : 'another process'
      if (tries === 1)
        process.stderr.write(`casefile: waiting for ${who} that is using this workspace\n`)
    }
    await delay(POLL_MS)
  }
}

/** Prints what is served, and how many cases need the operator. */
async function introduce({ layout, lists, start }: Service): Promise<void> {
  process.stdout.write(`Workspace: ${layout.root}\nPress Ctrl-C to stop.\n`)
  try {
    await start.begun
  } catch {
    return // `serve` reports it
  }
  process.stdout.write(`${needYouText(lists.count({ needs: NEEDS_YOU }))}\n`)
}

async function openInBrowser(url: string, log: (line: string) => void): Promise<void> {
  const { default: open } = await import('open')
  await open(url).catch((error: unknown) => log(`could not open the browser: ${String(error)}`))
}

/** `casefile serve`: prints the address once it answers, and stops cleanly on SIGINT and SIGTERM. */
export async function serve(options: ServeOptions): Promise<void> {
  closeInherited()
  startProgramsBy(createProgramProcess())
  const served = await openOnceFree(options)
  const { url } = served
  const where = options.json
    ? JSON.stringify({ url, pid: process.pid })
    : `Casefile is listening on ${url}`
  process.stdout.write(`${where}\n`)
  const stop = stopSignal()
  if (!options.json) void introduce(served.service)
  const { start, operator } = served.service
  void start.begun.then(operator, () => {}) // asked now, so that no edit by hand starts git
  if (options.open) void openInBrowser(url, served.service.log)
  try {
    await Promise.race([stop, served.service.start.begun.then(() => stop)])
  } catch (error) {
    await served.close().catch((failure: unknown) => served.service.log(String(failure)))
    throw error
  }
  try {
    await served.close()
  } catch (error) {
    served.service.log(inspect(error))
    process.exit(1) // whatever hangs would keep the process alive
  }
  process.exit(0) // proper-lockfile's exit handlers would set the signal's own exit code
}
