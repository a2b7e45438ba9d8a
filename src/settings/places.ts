/** Opens the folders of a workspace, with its settings and the operator's trust. */

import { openStateFolder, type StateFolder } from '../state/state-folder.ts'
import { type Folders, findFolders, type PlaceOptions } from './folders.ts'
import { createTrustFile, type TrustFile } from './trust-file.ts'
import { createTrustedSettings, type SettingsSource } from './trusted-settings.ts'

/** The folders of a workspace, as real paths. */
export interface Places extends FoundPlaces {
  state: StateFolder
}

export interface FoundPlaces {
  root: string
  memoryRoot: string
  settings: SettingsSource
  trust: TrustFile
}

/** Opens the folders of a workspace, the same way for every command. Creates only the state folder. */
export async function openPlaces(
  options: PlaceOptions,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<Places> {
  const { stateDir, ...found } = await findPlaces(options, environment, log)
  const { root, memoryRoot } = found
  const state = await openStateFolder(stateDir, {
    memoryRoot,
    ...(options.stateDir === undefined ? {} : { workspaceRoot: root }),
  })
  return { ...found, state }
}

/** Same for commands that only read: the state folder need not exist and is not created. */
export async function findPlaces(
  options: PlaceOptions,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<FoundPlaces & { stateDir: string }> {
  return placesIn(await findFolders(options, environment), log)
}

export function placesIn(
  { root, memoryRoot, stateDir, settings, settingsMemoryRoot }: Folders,
  log: (line: string) => void,
): FoundPlaces & { stateDir: string } {
  const trust = createTrustFile(stateDir, root, log)
  return {
    root,
    memoryRoot,
    stateDir,
    trust,
    settings: createTrustedSettings({ settings, trust, root, memoryRoot: settingsMemoryRoot }),
  }
}
