import type { AllowsUserPlaces } from './user-places.ts'
import { claudeServers, copilotServers } from './user-servers.ts'

/** In its lists of allowed tools a server takes no wildcard. */
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

/** It lets each run write into the temporary folder anyway. */
export const COPILOT_PLACES: AllowsUserPlaces = {
  findServers: copilotServers,
  allow: ({ servers }) => ({ args: servers.map((name) => `--allow-tool=${name}`) }),
}

/** Of servers of MCP it has none in a folder that is not trusted. */
export const GEMINI_PLACES: AllowsUserPlaces = {
  allow: ({ scratch }) => ({ args: scratch === null ? [] : ['--include-directories', scratch] }),
}

export const OPENCODE_PLACES: AllowsUserPlaces = {
  allow: ({ scratch }) => ({
    env: { OPENCODE_PERMISSION: JSON.stringify({ external_directory: opencodeFolders(scratch) }) },
  }),
}

/** What is outside of the folder it refuses by itself, and goes on. */
export function opencodeFolders(scratch: string | null): Record<string, string> {
  return { '*': 'deny', ...(scratch === null ? {} : { [`${scratch}/*`]: 'allow' }) }
}
