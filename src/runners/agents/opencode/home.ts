import { join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import type { AgentHomePaths } from '../agent-home-paths.ts'
import { homeFolder } from '../homes.ts'
import type { LoginCheck } from '../login.ts'
import { asRecord } from '../unknown-record.ts'

const FOLDERS = {
  data: ['XDG_DATA_HOME', '.local/share'],
  config: ['XDG_CONFIG_HOME', '.config'],
  cache: ['XDG_CACHE_HOME', '.cache'],
  state: ['XDG_STATE_HOME', '.local/state'],
} as const

/** One of its four folders. */
export function opencodeFolder(
  environment: Readonly<NodeJS.ProcessEnv>,
  kind: keyof typeof FOLDERS,
): string {
  const [variable, name] = FOLDERS[kind]
  return join(homeFolder(environment, variable, name), 'opencode')
}

export function opencodeHomePaths(environment: Readonly<NodeJS.ProcessEnv>): AgentHomePaths {
  const kinds = Object.keys(FOLDERS) as (keyof typeof FOLDERS)[]
  return { paths: kinds.map((kind) => opencodeFolder(environment, kind)), files: [] }
}

/** It also has models that need no login, and uses the keys of other agents. */
export const OPENCODE_LOGIN: LoginCheck = {
  command: 'opencode auth login',
  status: null,
  async read(_, env) {
    const accounts = await readJsonFile(join(opencodeFolder(env, 'data'), 'auth.json'))
    return Object.keys(asRecord(accounts)).length > 0 || null
  },
}
