import { join } from 'node:path'
import { readJsonFile } from '../../files/json-file.ts'
import { asRecord } from './unknown-record.ts'

type Env = Readonly<Record<string, string>>

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

/** Servers added with `copilot mcp add`. */
export async function copilotServers(env: Env): Promise<string[]> {
  const folder =
    env.COPILOT_HOME ?? (env.HOME === undefined ? undefined : join(env.HOME, '.copilot'))
  if (folder === undefined) return []
  const { mcpServers } = asRecord(await readJsonFile(join(folder, 'mcp-config.json')))
  return Object.keys(asRecord(mcpServers)).filter((name) => /^[\w.-]+$/.test(name))
}
