import type { AllowsUserPlaces } from './user-places.ts'
import { claudeServers, copilotServers } from './user-servers.ts'

/** Claude's lists of allowed tools accept no wildcard for a server, so servers are listed by name. */
export const CLAUDE_PLACES: AllowsUserPlaces = {
  findServers: claudeServers,
  allow: ({ scratch, servers }) => ({
    args: [
      ...(scratch === null ? [] : ['--add-dir', scratch]),
      ...(servers.length === 0
        ? []
        : ['--allowedTools', servers.map((name) => `mcp__${name}`).join(',')]),
    ],
  }),
}

/** Copilot allows writing to the temporary folder by default. */
export const COPILOT_PLACES: AllowsUserPlaces = {
  findServers: copilotServers,
  allow: ({ servers }) => ({ args: servers.map((name) => `--allow-tool=${name}`) }),
}

/** Gemini CLI has no MCP servers in an untrusted folder. */
export const GEMINI_PLACES: AllowsUserPlaces = {
  allow: ({ scratch }) => ({ args: scratch === null ? [] : ['--include-directories', scratch] }),
}

export const OPENCODE_PLACES: AllowsUserPlaces = {
  allow: ({ scratch }) => ({
    env: { OPENCODE_PERMISSION: JSON.stringify({ external_directory: opencodeFolders(scratch) }) },
  }),
}

/** opencode denies access outside of the folder by itself, and continues. */
export function opencodeFolders(scratch: string | null): Record<string, string> {
  return { '*': 'deny', ...(scratch === null ? {} : { [`${scratch}/*`]: 'allow' }) }
}
