/** Opens the folders of a workspace, with its settings and the operator's trust. */

import { openStateFolder, type StateFolder } from '../state/state-folder.ts'
import { type FolderOptions, type Folders, findFolders } from './folders.ts'
import { createTrustFile, type TrustFile } from './trust-file.ts'
import { createTrustedSettings, type SettingsSource } from './trusted-settings.ts'

/** The folders of a workspace, as real paths. */
export interface WorkspaceFolders extends FoundFolders {
  state: StateFolder
}

export interface FoundFolders {
  root: string
  memoryRoot: string
  settings: SettingsSource
  trust: TrustFile
}

/** Opens the folders of a workspace, the same way for every command. Creates only the state folder. */
export async function openWorkspaceFolders(
  options: FolderOptions,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<WorkspaceFolders> {
  const { stateDir, ...found } = await findWorkspaceFolders(options, environment, log)
  const { root, memoryRoot } = found
  const state = await openStateFolder(stateDir, {
    memoryRoot,
    ...(options.stateDir === undefined ? {} : { workspaceRoot: root }),
  })
  return { ...found, state }
}

/** Same for commands that only read: the state folder need not exist and is not created. */
export async function findWorkspaceFolders(
  options: FolderOptions,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<FoundFolders & { stateDir: string }> {
  return workspaceFoldersIn(await findFolders(options, environment), log)
}

export function workspaceFoldersIn(
  { root, memoryRoot, stateDir, settings, settingsMemoryRoot }: Folders,
  log: (line: string) => void,
): FoundFolders & { stateDir: string } {
  const trust = createTrustFile(stateDir, root, log)
  return {
    root,
    memoryRoot,
    stateDir,
    trust,
    settings: createTrustedSettings({ settings, trust, root, memoryRoot: settingsMemoryRoot }),
  }
}
