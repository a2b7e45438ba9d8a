import { join } from 'node:path'
import { PLAN_WAIT_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import { groupsOf, type HookEntry, jsonAgent } from '../install/agent-hooks.ts'
import { claudeDenial } from '../install/hook-command.ts'
import { ownHooks } from '../install/json-hooks.ts'
import { readSettings } from '../install/settings-file.ts'
import { claudeBody, claudeDenies, groupLines } from '../install/trial-calls.ts'
import { codexHome } from './home.ts'
import { codexHash, hookArguments, snakeCase } from './hook-arguments.ts'

/** Codex cuts the limit of these events, and warns about a longer one. */
const MOST_AT_END_S = 3

const HOOKS: readonly HookEntry[] = [
  { event: 'SessionStart', kind: 'tell' },
  // the answer to its question "Implement this plan?" comes as a prompt
  { event: 'UserPromptSubmit', kind: 'hold', timeoutS: PLAN_WAIT_S + 5 },
  { event: 'PreToolUse', kind: 'gate' },
  { event: 'PostToolUse', kind: 'note' },
  { event: 'Stop', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'Interrupt', kind: 'tell', timeoutS: MOST_AT_END_S },
  { event: 'SessionEnd', kind: 'tell', timeoutS: MOST_AT_END_S },
]

const codexGroups = groupsOf('codex', HOOKS, claudeDenial)

export const codexHooks = jsonAgent(
  'codex',
  {
    files: {
      user: ({ environment }) => join(codexHome(environment), 'hooks.json'),
      project: ({ root }) => join(root, '.codex', 'hooks.json'),
    },
    async obstacle(file, { environment }) {
      const { realPath, text } = await readSettings(file)
      const config = await readSettings(join(codexHome(environment), 'config.toml'))
      const paths = realPath === file ? [file] : [file, realPath]
      const trusts = paths.map((path) => codexTrust(text ?? '', path, config.text ?? ''))
      const { count, trusted } = trusts.reduce((a, b) => (a.trusted >= b.trusted ? a : b))
      if (trusted === count) return null
      const which = trusted === 0 ? 'none of its hooks' : `only ${trusted} of its ${count} hooks`
      const reason = `you have trusted ${which} as they are now, and Codex runs no others. Start codex, and choose "Trust all and continue" or review them.`
      return { level: 'not_trusted', reason }
    },
    failsOpen: 'if its hooks are not trusted, are stopped, or take longer than 30 s',
    trial: {
      writes: (path) => [
        'apply_patch',
        { command: `*** Begin Patch\n*** Add File: ${path}\n+\n*** End Patch` },
      ],
      reads: () => ['update_plan', { plan: [] }],
      shellTool: 'Bash',
      mcpTool: 'mcp__test__write',
      shell: {
        body: (call, place) => ({
          ...claudeBody(call, place),
          turn_id: place.session,
          model: 'test',
        }),
        lines: (found) => groupLines(found, 'PreToolUse', 1000),
        isDenied: claudeDenies,
      },
    },
    // its daemon would have the hooks of another terminal
    runArguments: async (_, target) => [
      ...['--disable', 'daemon_auto_start'],
      ...hookArguments(codexGroups(target)),
    ],
  },
  codexGroups,
)

interface CodexTrust {
  /** The hooks in the file. */
  count: number
  /** How many of them the person has reviewed as they are now. */
  trusted: number
}

/**
 * How many hooks of a file Codex runs: only those whose hash its own settings have. `configText` is its config.toml,
 * `path` the real path of the file.
 */
function codexTrust(text: string, path: string, configText: string): CodexTrust {
  const places = ownHooks(text, path, 'codex')
  const trusted = places.filter(({ event, groupIndex, hookIndex, matcher, hook }) => {
    const name = snakeCase(event)
    const key = `${path}:${name}:${groupIndex}:${hookIndex}`
    return trustedHash(configText, key) === codexHash(name, matcher, hook)
  })
  return { count: places.length, trusted: trusted.length }
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
