import { resolve } from 'node:path'
import { realPathOf } from '../disk/real-path.ts'
import { defaultStateFolder, openStateFolder, type StateFolder } from '../state-folder.ts'
import { memoryRootAt, workspaceRoot } from '../workdir.ts'
import { createSettings } from './settings.ts'
import { createTrustFile, type TrustFile } from './trust-file.ts'
import { createTrustedSettings, type TrustedSettings } from './trusted-settings.ts'

/** As the options of the command line give them. */
export interface PlaceOptions {
  root: string
  memoryRoot?: string | undefined
  stateDir?: string | undefined
}

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
  const root = await workspaceRoot(options.root)
  const settings = createSettings(root)
  const wanted = resolve(root, options.memoryRoot ?? (await settings()).memoryRoot ?? 'memory')
  const memoryRoot = await memoryRootAt(wanted)
  const given = options.stateDir ?? (await defaultStateFolder(memoryRoot, environment))
  const stateDir = await realPathOf(given)
  const trust = createTrustFile(stateDir, root, log)
  const fixed = options.memoryRoot === undefined ? wanted : null
  return {
    ...{ root, memoryRoot, stateDir, trust },
    settings: createTrustedSettings({ settings, trust, root, memoryRoot: fixed }),
  }
}
