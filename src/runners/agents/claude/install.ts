import { join } from 'node:path'
import { PLAN_WAIT_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import {
  claudeDenial,
  type HookKind,
  type HookTarget,
  hookCommand,
} from '../install/hook-command.ts'
import { jsonAgent } from '../install/json-agent.ts'
import type { HookGroup } from '../install/json-hooks.ts'
import { claudeHome } from './home.ts'

const SHORT_S = 30

/** One event that a version does not know would make it ignore the whole file: all of these are in 2.1.197. */
const HOOKS: readonly { event: string; matcher?: string; kind: HookKind; timeoutS?: number }[] = [
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

/** Claude Code. Copilot, Cursor and VS Code read the files of a project too. */
export const claudeHooks = jsonAgent(
  {
    id: 'claude',
    title: 'Claude Code',
    program: 'claude',
    files: {
      local: ({ root }) => join(root, '.claude', 'settings.local.json'),
      project: ({ root }) => join(root, '.claude', 'settings.json'),
      user: ({ environment }) => join(claudeHome(environment), 'settings.json'),
    },
  },
  claudeGroups,
)

export function claudeGroups(target: HookTarget): HookGroup[] {
  const denial = claudeDenial(target)
  return HOOKS.map(({ event, matcher, kind, timeoutS = SHORT_S }) => {
    const command = hookCommand(target, { agent: 'claude', kind, more: ['$PPID'], denial })
    const hooks = [{ type: 'command', command, timeout: timeoutS }]
    return { event, group: { ...(matcher === undefined ? {} : { matcher }), hooks } }
  })
}
