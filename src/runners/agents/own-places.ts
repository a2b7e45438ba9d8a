/** What an agent needs of the home folder when it works: its login, settings and conversations. */

import { join } from 'node:path'
import { homeFolder } from './homes.ts'

type Environment = Readonly<NodeJS.ProcessEnv>

export interface OwnPlaces {
  /** Folders and files that it writes to. */
  paths: string[]
  /** Of those, the files; the others are folders. */
  files: string[]
  /** Other paths that it must see, such as the login of another program. */
  seen?: string[]
}

export type FindOwnPlaces = (environment: Environment) => OwnPlaces

/** A folder that a variable names, else one in the home folder. */
export function ownFolder(variable: string, name: string): FindOwnPlaces {
  return (environment) => ({ paths: [homeFolder(environment, variable, name)], files: [] })
}

/** Claude Code has a file beside its folder, and replaces it. */
export function claudePlaces(environment: Environment): OwnPlaces {
  const folder = homeFolder(environment, 'CLAUDE_CONFIG_DIR', '.claude')
  const inFolder = environment.CLAUDE_CONFIG_DIR === folder
  const file = join(homeFolder(environment, '', ''), '.claude.json')
  return inFolder ? { paths: [folder], files: [] } : { paths: [folder, file], files: [file] }
}

export function geminiPlaces(environment: Environment): OwnPlaces {
  return { paths: [join(homeFolder(environment, 'GEMINI_CLI_HOME', ''), '.gemini')], files: [] }
}

export function opencodePlaces(environment: Environment): OwnPlaces {
  const folders = [
    homeFolder(environment, 'XDG_DATA_HOME', '.local/share'),
    homeFolder(environment, 'XDG_CONFIG_HOME', '.config'),
    homeFolder(environment, 'XDG_CACHE_HOME', '.cache'),
    homeFolder(environment, 'XDG_STATE_HOME', '.local/state'),
  ]
  return { paths: folders.map((folder) => join(folder, 'opencode')), files: [] }
}

/** Its token is usually in the keychain, and it also uses the one of `gh`. */
export function copilotPlaces(environment: Environment): OwnPlaces {
  const config = homeFolder(environment, 'XDG_CONFIG_HOME', '.config')
  const { XDG_RUNTIME_DIR: keychain } = environment
  return {
    paths: [homeFolder(environment, 'COPILOT_HOME', '.copilot')],
    files: [],
    seen: [join(config, 'gh'), ...(keychain ? [keychain] : [])],
  }
}
