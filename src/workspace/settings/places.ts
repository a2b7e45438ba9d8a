/** Opens the folders of a workspace with its settings and what is trusted. */

import { openStateFolder, type StateFolder } from '../../state/state-folder.ts'
import { type Folders, findFolders, type PlaceOptions } from './folders.ts'
import { createTrustFile, type TrustFile } from './trust-file.ts'
import { createTrustedSettings, type TrustedSettings } from './trusted-settings.ts'

/** Where a workspace keeps its things: real paths. */
export interface Places extends FoundPlaces {
  state: StateFolder
}

export interface FoundPlaces {
  root: string
  memoryRoot: string
  settings: () => Promise<TrustedSettings>
  trust: TrustFile
}

/** The places of a workspace, the same for every command. Makes the state folder and nothing else. */
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

/** The same for a command that only reads: the state folder need not be there, and is not made. */
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
