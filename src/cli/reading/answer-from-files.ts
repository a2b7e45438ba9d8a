import type { Asking } from '../../client/client.ts'
import { askOwner } from '../../state/owner/ask-owner.ts'
import type { Folders } from '../../workspace/settings/folders.ts'
import type { ConsoleOptions } from '../console.ts'
import type { ExitCode } from '../exit-codes.ts'
import { locateWorkspace } from '../place.ts'
import { ownTerminal } from '../terminal.ts'
import { answering } from './answers.ts'
import { openFiles } from './files.ts'
import type { ReadingConsole } from './reading-console.ts'

/** The files of a workspace in place of a service. Null where one runs, or one that died has left what a service must put right first. */
export async function openReading(folders: Folders): Promise<Asking | null> {
  if ((await askOwner(folders.memoryRoot)).held) return null
  const files = await openFiles(folders)
  if (files === null) return null
  return answering(files)
}

/**
 * Carries out a command that only asks, from the files as they are, and leaves its exit code: no file of
 * the workspace is written, and what a service would have to load is not loaded. False, and nothing is
 * done, where a service must answer.
 */
export async function answerFromFiles(
  options: ConsoleOptions,
  work: (console: ReadingConsole) => Promise<ExitCode>,
): Promise<boolean> {
  const folders = await locateWorkspace(options)
  const client = await openReading(folders)
  if (client === null) return false
  const terminal = ownTerminal()
  const settings = async () => {
    const { placesIn } = await import('../../workspace/settings/places.ts')
    return placesIn(folders, terminal.warn).settings()
  }
  const { root, memoryRoot } = folders
  process.exitCode = await work({
    client,
    terminal,
    workspace: { root, memoryRoot, settings },
    json: options.json ?? false,
  })
  return true
}
