import { join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import type { AgentHomePaths } from '../agent-home-paths.ts'
import { homeFolder } from '../homes.ts'
import { isAnySet, isThere, type LoginCheck } from '../login.ts'
import { asRecord, parsedJson } from '../unknown-record.ts'
import type { Env } from '../user-tools.ts'

/** The folder of its settings, plans and conversations. */
export function claudeHome(environment: Readonly<NodeJS.ProcessEnv>): string {
  return homeFolder(environment, 'CLAUDE_CONFIG_DIR', '.claude')
}

/** Claude Code has a file beside its folder, and replaces it. */
export function claudeHomePaths(environment: Readonly<NodeJS.ProcessEnv>): AgentHomePaths {
  const folder = claudeHome(environment)
  const inFolder = environment.CLAUDE_CONFIG_DIR === folder
  const file = join(homeFolder(environment, '', ''), '.claude.json')
  return inFolder ? { paths: [folder], files: [] } : { paths: [folder, file], files: [file] }
}

export const CLAUDE_LOGIN: LoginCheck = {
  command: 'claude auth login',
  status: ['claude', 'auth', 'status'],
  async read(answer, env) {
    const { loggedIn } = asRecord(parsedJson(answer?.stdout ?? ''))
    // it does not know of another service that has its models
    const isElsewhere = isAnySet(env, [
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_FOUNDRY',
      'CLAUDE_CODE_USE_VERTEX',
    ])
    if (typeof loggedIn === 'boolean') return loggedIn || (isElsewhere ? null : false)
    const tokens = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
    return isAnySet(env, tokens) || (await isThere(claudeHome(env), '.credentials.json')) || null
  },
}

/** Servers added with `claude mcp add`, for the user and for this folder; not those of the project's .mcp.json. */
export async function claudeServers(env: Env, workdir: string): Promise<string[]> {
  const folder = env.CLAUDE_CONFIG_DIR ?? env.HOME
  if (folder === undefined) return []
  const { mcpServers, projects } = asRecord(await readJsonFile(join(folder, '.claude.json')))
  const project = asRecord(asRecord(projects)[workdir])
  const names = [mcpServers, project.mcpServers].flatMap((servers) =>
    Object.keys(asRecord(servers)),
  )
  return [...new Set(names.map((name) => name.replace(/[^\w-]/g, '_')))]
}
