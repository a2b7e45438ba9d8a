/** Finds root, memory root and state folder from the options and casefile.md. */

import { resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import type { Settings } from '../model/settings.ts'
import { defaultStateFolder, ownStateFolder } from '../state/state-folder.ts'
import { createSettings } from './settings.ts'
import { memoryRootAt, workspaceRoot } from './workdir.ts'

/** The command-line options. */
export interface FolderOptions {
  root: string
  memoryRoot?: string | undefined
  stateDir?: string | undefined
}

/** The folders of a workspace as real paths. The state folder need not exist and is not created. */
export interface Folders {
  root: string
  memoryRoot: string
  stateDir: string
  /** The settings in casefile.md, without trust applied. */
  settings: () => Promise<Settings>
  /** The memory root in casefile.md; null if an option sets it. */
  settingsMemoryRoot: string | null
}

/** Finds the folders of a workspace, the same way for every command. */
export async function findFolders(
  options: FolderOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Folders> {
  const root = await workspaceRoot(options.root)
  const settings = createSettings(root)
  const wanted = resolve(root, options.memoryRoot ?? (await settings()).memoryRoot ?? 'memory')
  const memoryRoot = await memoryRootAt(wanted)
  const given = options.stateDir ?? (await defaultStateFolder(memoryRoot, environment))
  const stateDir = await stateFolderAt(given)
  const settingsMemoryRoot = options.memoryRoot === undefined ? wanted : null
  return { root, memoryRoot, stateDir, settings, settingsMemoryRoot }
}

async function stateFolderAt(path: string): Promise<string> {
  try {
    return await ownStateFolder(path)
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES')) throw error
    throw new AppError(
      'bad_request',
      `The state folder ${path} cannot be reached (${error.code}). Choose another with XDG_STATE_HOME, or --state-dir.`,
    )
  }
}
