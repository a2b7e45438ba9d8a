import { type ApiReader, type Client, createClient } from '../client/client.ts'
import { sendInProcess } from '../client/in-process.ts'
import { AppError } from '../model/app-error.ts'
import type { Folders } from '../settings/folders.ts'
import { askOwner } from '../state/owner/find-owner.ts'
import { type Connection, connect } from './connection.ts'
import { findWorkspace, type WorkspaceOptions } from './find-workspace.ts'
import { EXIT, type ExitCode } from './output/exit-codes.ts'
import { ownTerminal, type Terminal } from './output/terminal.ts'

/** The context of a command that only reads. */
export interface ReadContext {
  client: ApiReader
  terminal: Terminal
  workspace: Folders
  /** Whether to print one JSON document instead of text. */
  json: boolean
  /** Aborted by signals such as Ctrl-C. */
  signal: AbortSignal
}

/** The context of every other command. */
export interface CommandContext extends ReadContext {
  client: Client
  /** Whether this command runs the service itself, so that sessions end with the command. */
  isOwn(): boolean
  /** Whether the service keeps running when all commands have ended. */
  isPersistent(): boolean
}

export interface CommandOptions extends WorkspaceOptions {
  json?: boolean
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type Signal = keyof typeof SIGNALS

/**
 * Runs a command against the running service. Without one, this process owns the workspace until the command ends,
 * then stops like any service, including its sessions. Sets the exit code.
 */
export async function withService(
  options: CommandOptions,
  work: (context: CommandContext) => Promise<ExitCode>,
): Promise<void> {
  const terminal = ownTerminal()
  await untilSignal(async (stop) => {
    let connection: Connection | null = null
    try {
      const workspace = await findWorkspace(options)
      connection = await connect(workspace, {
        signal: stop.signal,
        log: terminal.warn,
        sender: { from: 'terminal', who: process.env.CASEFILE_ACTOR },
      })
      const { client, isOwn, isPersistent } = connection
      const { signal } = stop
      const json = options.json ?? false
      return await work({
        client,
        terminal,
        workspace,
        json,
        signal,
        isOwn,
        isPersistent,
      })
    } catch (error) {
      // members of an answer are read as this version knows them
      if (!(error instanceof TypeError) || !connection || connection.isOwn()) throw error
      throw new AppError(
        'internal',
        `The service at ${connection.client.url} gave an answer that this command does not understand (${error.message}). It may be of another version of Casefile: restart it, then try again.`,
        { cause: error },
      )
    } finally {
      if (stop.firstSignal() !== null && connection?.isOwn()) {
        terminal.warn('interrupted; sessions that this command ran were stopped')
      }
      await connection?.close()
    }
  })
}

/**
 * Runs a command that only reads. Without a service it reads the files: it owns nothing, and writes only to clean up
 * after a service that was killed.
 */
export async function withReader(
  options: CommandOptions,
  work: (context: ReadContext) => Promise<ExitCode>,
): Promise<void> {
  const terminal = ownTerminal()
  const workspace = await findWorkspace(options)
  const isDone = await untilSignal(async ({ signal }) => {
    const client = await openReader(workspace, { signal, log: terminal.warn })
    if (client === null) return null
    const json = options.json ?? false
    return work({
      client,
      terminal,
      workspace,
      json,
      signal,
    })
  })
  if (!isDone) await withService(options, work)
}

interface ReaderOptions {
  signal: AbortSignal
  log: (line: string) => void
}

/** The API on the files of a workspace; null if a service runs, or if the files need a cleanup first. */
export async function openReader(
  folders: Folders,
  { signal, log }: ReaderOptions,
): Promise<ApiReader | null> {
  if (await askOwner(folders)) return null
  const { openReadOnlyApp } = await import('../read-only-service.ts')
  const app = await openReadOnlyApp(folders, log)
  if (app === null) return null
  return createClient({ url: 'http://127.0.0.1:0', send: sendInProcess(app.fetch) }, signal)
}

interface Stop {
  signal: AbortSignal
  /** The first signal; null if there was none. */
  firstSignal(): Signal | null
}

/** Sets the exit code to that of `work`, or of the signal that aborted it. Returns false if `work` returns null. */
export async function untilSignal(
  work: (stop: Stop) => Promise<ExitCode | null>,
): Promise<boolean> {
  const { undo, ...stop } = watchSignals()
  let code: ExitCode | null = null
  try {
    code = await work(stop)
    if (code !== null) process.exitCode = code
  } catch (error) {
    if (!stop.signal.aborted) throw error // otherwise the signal caused the error
  } finally {
    undo()
  }
  const by = stop.firstSignal()
  if (by !== null) process.exitCode = SIGNALS[by]
  return code !== null || by !== null
}

/** The first signal aborts the command, the third ends the process at once. */
function watchSignals(): Stop & { undo(): void } {
  const controller = new AbortController()
  let first: Signal | null = null
  let count = 0
  const handleSignal = (name: Signal) => {
    first ??= name
    count++
    controller.abort()
    if (count > 2) process.exit(EXIT.interrupted)
  }
  const names = Object.keys(SIGNALS) as Signal[]
  for (const name of names) process.on(name, handleSignal)
  return {
    signal: controller.signal,
    firstSignal: () => first,
    undo() {
      for (const name of names) process.off(name, handleSignal)
    },
  }
}
