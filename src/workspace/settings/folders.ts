/** Finds root, memory root and state folder from the options and casefile.md. */

import { resolve } from 'node:path'
import { realPathOf } from '../../files/real-path.ts'
import type { Settings } from '../../model/settings.ts'
import { defaultStateFolder } from '../../state/state-folder.ts'
import { memoryRootAt, workspaceRoot } from '../workdir.ts'
import { createSettings } from './settings.ts'

/** As the options of the command line give them. */
export interface PlaceOptions {
  root: string
  memoryRoot?: string | undefined
  stateDir?: string | undefined
}

/** Where a workspace keeps its things: real paths. The state folder need not be there, and is not made. */
export interface Folders {
  root: string
  memoryRoot: string
  stateDir: string
  /** casefile.md, nothing of it trusted. */
  settings: () => Promise<Settings>
  /** Where casefile.md has the memory root; null where an option has it. */
  settingsMemoryRoot: string | null
}

/** The folders of a workspace, the same for every command. */
export async function findFolders(
  options: PlaceOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Folders> {
  const root = await workspaceRoot(options.root)
  const settings = createSettings(root)
  const wanted = resolve(root, options.memoryRoot ?? (await settings()).memoryRoot ?? 'memory')
  const memoryRoot = await memoryRootAt(wanted)
  const given = options.stateDir ?? (await defaultStateFolder(memoryRoot, environment))
  const stateDir = await realPathOf(given)
  const settingsMemoryRoot = options.memoryRoot === undefined ? wanted : null
  return { root, memoryRoot, stateDir, settings, settingsMemoryRoot }
}
