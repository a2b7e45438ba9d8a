import { join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import type { AgentHomePaths } from '../agent-home-paths.ts'
import { homeFolder } from '../homes.ts'
import { isAnySet, type LoginCheck, textOf } from '../login.ts'
import { asRecord } from '../unknown-record.ts'
import type { Env } from '../user-tools.ts'

/** The folder of its settings and conversations. */
export function copilotHome(environment: Readonly<NodeJS.ProcessEnv>): string {
  return homeFolder(environment, 'COPILOT_HOME', '.copilot')
}

/** It unpacks itself into its cache. Its token is usually in the keychain, and it also uses the one of `gh`. */
export function copilotHomePaths(environment: Readonly<NodeJS.ProcessEnv>): AgentHomePaths {
  const config = homeFolder(environment, 'XDG_CONFIG_HOME', '.config')
  const cache = homeFolder(environment, 'XDG_CACHE_HOME', '.cache')
  const { XDG_RUNTIME_DIR: keychain } = environment
  return {
    paths: [copilotHome(environment), join(cache, 'copilot')],
    files: [],
    seen: [join(config, 'gh'), ...(keychain ? [keychain] : [])],
  }
}

/** It also uses the token of `gh`, so it is never known to be logged out. */
export const COPILOT_LOGIN: LoginCheck = {
  command: 'copilot login',
  status: null,
  async read(_, env) {
    const tokens = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_BASE_URL']
    if (isAnySet(env, tokens)) return true
    const config = await textOf(copilotHome(env), 'config.json')
    return /"(?:loggedInUsers|logged_in_users)"\s*:\s*\[\s*[^\]\s]/.test(config) || null
  },
}

/** Servers added with `copilot mcp add`. */
export async function copilotServers(env: Env): Promise<string[]> {
  const file = join(copilotHome(env), 'mcp-config.json')
  const { mcpServers } = asRecord(await readJsonFile(file))
  return Object.keys(asRecord(mcpServers)).filter((name) => /^[\w.-]+$/.test(name))
}
