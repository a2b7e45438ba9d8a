import { join } from 'node:path'
import { PLAN_HOLD_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import {
  denialReason,
  type HookKind,
  type HookTarget,
  hookCommand,
} from '../install/hook-command.ts'
import { jsonAgent } from '../install/json-agent.ts'
import type { HookGroup } from '../install/json-hooks.ts'
import { geminiHome } from './home.ts'

const SHORT_S = 30

const HOOKS: readonly { event: string; matcher?: string; kind: HookKind; timeoutS?: number }[] = [
  { event: 'SessionStart', kind: 'tell' },
  { event: 'BeforeAgent', kind: 'tell' },
  // also the plan, which is a call of the tool exit_plan_mode
  { event: 'BeforeTool', matcher: '.*', kind: 'gate', timeoutS: PLAN_HOLD_S + 5 },
  { event: 'AfterTool', matcher: '.*', kind: 'note' },
  { event: 'AfterAgent', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'SessionEnd', kind: 'tell' },
]

export const geminiHooks = jsonAgent(
  {
    id: 'gemini',
    title: 'Gemini CLI',
    program: 'gemini',
    files: {
      user: ({ environment }) => join(geminiHome(environment), 'settings.json'),
      project: ({ root }) => join(root, '.gemini', 'settings.json'),
    },
  },
  geminiGroups,
)

function geminiGroups(target: HookTarget): HookGroup[] {
  const denial = JSON.stringify({ decision: 'deny', reason: denialReason(target) })
  return HOOKS.map(({ event, matcher, kind, timeoutS = SHORT_S }) => {
    const command = hookCommand(target, { agent: 'gemini', kind, more: ['$PPID'], denial })
    // milliseconds
    const hooks = [{ name: 'casefile', type: 'command', command, timeout: timeoutS * 1000 }]
    return { event, group: { ...(matcher === undefined ? {} : { matcher }), hooks } }
  })
}
