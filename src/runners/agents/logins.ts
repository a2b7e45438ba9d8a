/** How to find out whether the user of each known agent is logged in; as measured, see docs/agents.md. */

import { join } from 'node:path'
import { readJsonFile } from '../../files/json-file.ts'
import { decodeUtf8, readRegular } from '../../files/safe-read.ts'
import { homeFolder } from './homes.ts'
import type { LoginCheck, StatusAnswer } from './login.ts'
import { asRecord, asString } from './unknown-record.ts'
import type { Env } from './user-places.ts'

export const CLAUDE_LOGIN: LoginCheck = {
  command: 'claude auth login',
  status: ['claude', 'auth', 'status'],
  async read(answer, env) {
    const { loggedIn } = asRecord(parseJson(answer))
    // it does not know of another service that has its models
    const isElsewhere = isAnySet(env, [
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_FOUNDRY',
      'CLAUDE_CODE_USE_VERTEX',
    ])
    if (typeof loggedIn === 'boolean') return loggedIn || (isElsewhere ? null : false)
    const tokens = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
    const folder = homeFolder(env, 'CLAUDE_CONFIG_DIR', '.claude')
    return isAnySet(env, tokens) || (await isThere(folder, '.credentials.json')) || null
  },
}

/** A model provider of the user's own needs no login, and `login status` does not know that. */
export const CODEX_LOGIN: LoginCheck = {
  command: 'codex login',
  status: ['codex', 'login', 'status'],
  async read(answer, env) {
    if (isAnySet(env, ['CODEX_API_KEY']) || answer?.exit === 0) return true
    const folder = homeFolder(env, 'CODEX_HOME', '.codex')
    if (answer === null) return (await isThere(folder, 'auth.json')) || null
    const config = await textOf(folder, 'config.toml')
    return answer.exit !== 1 || /^[ \t]*model_provider[ \t]*=/m.test(config) ? null : false
  },
}

export const GEMINI_LOGIN: LoginCheck = {
  command: 'gemini',
  status: null,
  async read(_, env) {
    if (isAnySet(env, ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI']))
      return true
    const folder = join(homeFolder(env, 'GEMINI_CLI_HOME', ''), '.gemini')
    for (const name of ['oauth_creds.json', 'gemini-credentials.json']) {
      if (await isThere(folder, name)) return true
    }
    const settings = asRecord(await readJsonFile(join(folder, 'settings.json')))
    const { selectedType } = asRecord(asRecord(asRecord(settings.security).auth))
    // a key may be in the keychain or in a .env file
    const isChosen = asString(selectedType) !== null || (await isThere(folder, '.env'))
    return isChosen ? null : false
  },
}

/** Its token is usually in the keychain, and it uses the one of `gh` too, so it is never known to be logged out. */
export const COPILOT_LOGIN: LoginCheck = {
  command: 'copilot login',
  status: null,
  async read(_, env) {
    const tokens = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_BASE_URL']
    if (isAnySet(env, tokens)) return true
    const config = await textOf(homeFolder(env, 'COPILOT_HOME', '.copilot'), 'config.json')
    return /"(?:loggedInUsers|logged_in_users)"\s*:\s*\[\s*[^\]\s]/.test(config) || null
  },
}

/** It also has models that need no login, and uses the keys of other agents. */
export const OPENCODE_LOGIN: LoginCheck = {
  command: 'opencode auth login',
  status: null,
  async read(_, env) {
    const data = homeFolder(env, 'XDG_DATA_HOME', '.local/share')
    const accounts = asRecord(await readJsonFile(join(data, 'opencode', 'auth.json')))
    return Object.keys(accounts).length > 0 || null
  },
}

function parseJson(answer: StatusAnswer | null): unknown {
  try {
    return JSON.parse(answer?.stdout ?? '')
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Whether one of these variables has a value. */
function isAnySet(env: Env, names: readonly string[]): boolean {
  return names.some((name) => (env[name] ?? '') !== '')
}

async function isThere(folder: string, name: string): Promise<boolean> {
  return (await read(folder, name)) !== null
}

/** Empty if it is missing or cannot be read. */
async function textOf(folder: string, name: string): Promise<string> {
  const bytes = await read(folder, name)
  const text = bytes && decodeUtf8(bytes)
  return text?.ok ? text.text : ''
}

async function read(folder: string, name: string): Promise<Uint8Array | null> {
  const found = await readRegular(join(folder, name), { maxBytes: 1024 * 1024 })
  return found.ok ? found.bytes : null
}
