import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { PLAN_WAIT_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import {
  claudeDenial,
  type HookKind,
  type HookTarget,
  hookCommand,
} from '../install/hook-command.ts'
import { jsonAgent } from '../install/json-agent.ts'
import { type HookGroup, ownPlaces } from '../install/json-hooks.ts'
import { codexHome } from './home.ts'

const SHORT_S = 30
/** Codex cuts the limit of these events, and warns about a longer one. */
const MOST_AT_END_S = 3

const HOOKS: readonly { event: string; kind: HookKind; timeoutS?: number }[] = [
  { event: 'SessionStart', kind: 'tell' },
  // the answer to its question "Implement this plan?" comes as a prompt
  { event: 'UserPromptSubmit', kind: 'hold', timeoutS: PLAN_WAIT_S + 5 },
  { event: 'PreToolUse', kind: 'gate' },
  { event: 'PostToolUse', kind: 'note' },
  { event: 'Stop', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'Interrupt', kind: 'tell', timeoutS: MOST_AT_END_S },
  { event: 'SessionEnd', kind: 'tell', timeoutS: MOST_AT_END_S },
]

export const codexHooks = jsonAgent(
  {
    id: 'codex',
    title: 'Codex',
    program: 'codex',
    files: {
      user: ({ environment }) => join(codexHome(environment), 'hooks.json'),
      project: ({ root }) => join(root, '.codex', 'hooks.json'),
    },
  },
  codexGroups,
)

export function codexGroups(target: HookTarget): HookGroup[] {
  const denial = claudeDenial(target)
  return HOOKS.map(({ event, kind, timeoutS = SHORT_S }) => {
    const command = hookCommand(target, { agent: 'codex', kind, more: ['$PPID'], denial })
    return { event, group: { hooks: [{ type: 'command', command, timeout: timeoutS }] } }
  })
}

export interface CodexTrust {
  /** The hooks in the file. */
  count: number
  /** How many of them the person has reviewed as they are now. */
  trusted: number
}

/**
 * How many hooks of a file Codex runs: only those whose hash its own settings have. `configText` is its config.toml,
 * `path` the real path of the file.
 */
export function codexTrust(text: string, path: string, configText: string): CodexTrust {
  const places = ownPlaces(text, path, codexHooks.id)
  const trusted = places.filter(({ event, groupIndex, hookIndex, matcher, hook }) => {
    const name = event.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()
    const key = `${path}:${name}:${groupIndex}:${hookIndex}`
    return trustedHash(configText, key) === codexHash(name, matcher, hook)
  })
  return { count: places.length, trusted: trusted.length }
}

/** The hash of one hook as Codex 0.169.0 computes it, in its own settings and in the arguments of `codex`. */
export function codexHash(
  eventName: string,
  matcher: string | undefined,
  { command, timeout }: { command: string; timeout?: unknown },
): string {
  const hook = { async: false, command, timeout, type: 'command' }
  const hashed = {
    event_name: eventName,
    hooks: [hook],
    ...(matcher === undefined ? {} : { matcher }),
  }
  return `sha256:${createHash('sha256').update(JSON.stringify(hashed)).digest('hex')}`
}

/** Codex itself writes these tables, each as a header and its values. */
function trustedHash(configText: string, key: string): string | null {
  const headers = [`[hooks.state.${JSON.stringify(key)}]`, `[hooks.state.'${key}']`]
  const lines = configText.split(/\r?\n/)
  const at = lines.findIndex((line) => headers.includes(line.trim()))
  if (at === -1) return null
  for (const line of lines.slice(at + 1)) {
    if (line.trim().startsWith('[')) return null
    const value = /^\s*trusted_hash\s*=\s*["'](sha256:[0-9a-f]{64})["']/.exec(line)?.[1]
    if (value) return value
  }
  return null
}
