import type { Command } from 'commander'
import { startNothingFrom } from '../files/service-program.ts'
import { writableForRuns } from '../sessions/work-folders.ts'
import { rootOf } from './find-workspace.ts'

/** Before a command does anything: it starts no `git` or `unshare` that a run could have put on the PATH. */
export async function startNothingOfRuns(command: Command): Promise<void> {
  const root = await rootOf(command.opts())
  startNothingFrom(await writableForRuns({ root, environment: process.env }))
}
