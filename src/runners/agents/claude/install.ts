import { join } from 'node:path'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import { readJsonFile } from '../../../files/json-file.ts'
import { PLAN_WAIT_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import { groupsOf, type HookEntry, jsonAgent } from '../install/agent-hooks.ts'
import { claudeDenial } from '../install/hook-command.ts'
import { hookFiles } from '../install/hook-files.ts'
import { claudeBody, claudeDenies, groupLines } from '../install/trial-calls.ts'
import { asRecord } from '../unknown-record.ts'
import { claudeHome } from './home.ts'
import { hookSettings } from './hook-settings.ts'

/** One event that a version does not know would make it ignore the whole file: all of these are in 2.1.197. */
const HOOKS: readonly HookEntry[] = [
  { event: 'SessionStart', kind: 'tell' },
  { event: 'UserPromptSubmit', kind: 'tell' },
  { event: 'PreToolUse', matcher: '*', kind: 'gate' },
  {
    event: 'PermissionRequest',
    matcher: 'ExitPlanMode',
    kind: 'wait',
    timeoutS: PLAN_WAIT_S + 5,
  },
  { event: 'PostToolUse', matcher: '*', kind: 'note' },
  { event: 'PostToolUseFailure', matcher: '*', kind: 'note' },
  { event: 'Stop', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'SessionEnd', kind: 'tell' },
]

const claudeGroups = groupsOf('claude', HOOKS, claudeDenial)

/** Claude Code. Copilot, Cursor and VS Code read the files of a project too. */
export const claudeHooks = jsonAgent(
  'claude',
  {
    files: {
      local: ({ root }) => join(root, '.claude', 'settings.local.json'),
      project: ({ root }) => join(root, '.claude', 'settings.json'),
      user: ({ environment }) => join(claudeHome(environment), 'settings.json'),
    },
    async obstacle(file) {
      const { disableAllHooks } = asRecord(await readJsonFile(file))
      if (disableAllHooks !== true) return null
      const reason = '"disableAllHooks" is true there, so no hook runs. Remove it.'
      return { level: 'switched_off', reason }
    },
    failsOpen: 'if the hook is stopped or takes longer than 30 s, or if hooks are switched off',
    trial: {
      writes: (file_path) => ['Write', { file_path, content: '' }],
      reads: (file_path) => ['Read', { file_path }],
      shellTool: 'Bash',
      mcpTool: 'mcp__test__write',
      shell: {
        body: claudeBody,
        lines: (found) => groupLines(found, 'PreToolUse', 1000),
        isDenied: (said) => said.exit === 2 || claudeDenies(said),
      },
    },
    async runArguments(stateDir, target) {
      const { folder } = hookFiles(stateDir)
      await makeFolder(folder, 0o700)
      const path = join(folder, target.isStrict ? 'claude-strict.json' : 'claude.json')
      await writeDurable(path, Buffer.from(hookSettings(claudeGroups(target))), { mode: 0o600 })
      return ['--settings', path]
    },
  },
  claudeGroups,
)
