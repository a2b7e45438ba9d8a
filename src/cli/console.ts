import type { Client } from '../client/client.ts'
import { placesIn } from '../workspace/settings/places.ts'
import { type Connection, connect } from './connection.ts'
import { EXIT, type ExitCode } from './output/exit-codes.ts'
import { findWorkspace, type WorkspaceOptions, type Workspace } from './find-workspace.ts'
import type { ReadingConsole } from './reading/reading-console.ts'
import { ownTerminal } from './output/terminal.ts'

/** What a command of the console works with. */
export interface Console extends ReadingConsole {
  client: Client
  workspace: Workspace
  /** Whether this process serves for itself: what it started ends with it. */
  isOwn(): boolean
  /** Whether what is started goes on by itself: no command serves, neither this one nor another. */
  isLasting(): boolean
  /** Aborted by Ctrl-C and the like. */
  signal: AbortSignal
}

export interface ConsoleOptions extends WorkspaceOptions {
  json?: boolean
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type Signal = keyof typeof SIGNALS

/**
 * Carries a command out, with a service for as long as that takes, and leaves its exit code. At Ctrl-C
 * the command ends; a service of its own stops as any service does, with the sessions that it runs.
 */
export async function carryOut(
  options: ConsoleOptions,
  work: (console: Console) => Promise<ExitCode>,
): Promise<void> {
  const terminal = ownTerminal()
  const stop = watchSignals()
  let connection: Connection | null = null
  try {
    const workspace = placesIn(await findWorkspace(options), terminal.warn)
    connection = await connect(workspace, {
      signal: stop.signal,
      log: terminal.warn,
      sender: { from: 'terminal', who: process.env.CASEFILE_ACTOR },
    })
    const { client, isOwn, isLasting } = connection
    const json = options.json ?? false
    process.exitCode = await work({
      ...{ client, terminal, workspace, json, isOwn, isLasting, signal: stop.signal },
    })
  } catch (error) {
    if (!stop.signal.aborted) throw error // else it is what the signal did to the command
  } finally {
    if (stop.by() !== null && connection?.isOwn()) {
      terminal.warn('interrupted: what this command was running is ended, as no service goes on')
    }
    await connection?.close()
    stop.undo()
  }
  const by = stop.by()
  if (by !== null) process.exitCode = SIGNALS[by]
}

/** The first signal aborts, the third one ends the process at once. */
function watchSignals(): { signal: AbortSignal; by(): Signal | null; undo(): void } {
  const controller = new AbortController()
  let first: Signal | null = null
  let count = 0
  const take = (name: Signal) => {
    first ??= name
    count++
    controller.abort()
    if (count > 2) process.exit(EXIT.interrupted)
  }
  const names = Object.keys(SIGNALS) as Signal[]
  for (const name of names) process.on(name, take)
  return {
    signal: controller.signal,
    by: () => first,
    undo() {
      for (const name of names) process.off(name, take)
    },
  }
}
