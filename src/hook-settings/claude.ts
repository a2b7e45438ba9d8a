import { join } from 'node:path'
import { PLAN_WAIT_S, STOP_WAIT_S } from '../runners/hooks/hook-script.ts'
import { homeFolder } from './homes.ts'
import { denialReason, type HookKind, type HookTarget, hookCommand } from './hook-command.ts'
import { jsonAgent } from './json-agent.ts'
import type { HookGroup } from './json-hooks.ts'

/** Claude Code reads them from 2.1.0; one unknown event would make it reject the whole file. */
const HOOKS: readonly { event: string; matcher?: string; kind: HookKind; timeoutS: number }[] = [
  { event: 'SessionStart', kind: 'tell', timeoutS: 30 },
  { event: 'UserPromptSubmit', kind: 'tell', timeoutS: 30 },
  { event: 'PreToolUse', matcher: '*', kind: 'gate', timeoutS: 30 },
  {
    event: 'PermissionRequest',
    matcher: 'ExitPlanMode',
    kind: 'wait',
    timeoutS: PLAN_WAIT_S + 5,
  },
  { event: 'PostToolUse', matcher: 'ExitPlanMode', kind: 'tell', timeoutS: 30 },
  { event: 'Stop', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'SessionEnd', kind: 'tell', timeoutS: 30 },
]

/** Copilot, Cursor and VS Code read the files of a project too. */
export const claudeHooks = jsonAgent(
  {
    id: 'claude',
    title: 'Claude Code',
    program: 'claude',
    files: {
      local: ({ root }) => join(root, '.claude', 'settings.local.json'),
      project: ({ root }) => join(root, '.claude', 'settings.json'),
      user: ({ environment }) =>
        join(homeFolder(environment, 'CLAUDE_CONFIG_DIR', '.claude'), 'settings.json'),
    },
  },
  claudeGroups,
)

export function claudeGroups(target: HookTarget): HookGroup[] {
  const denial = JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: denialReason(target.root),
    },
  })
  return HOOKS.map(({ event, matcher, kind, timeoutS }) => {
    const command = hookCommand(target, { agent: 'claude', kind, denial })
    const hooks = [{ type: 'command', command, timeout: timeoutS }]
    return { event, group: { ...(matcher === undefined ? {} : { matcher }), hooks } }
  })
}
