import { join } from 'node:path'
import { PLAN_HOLD_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import { fileAgent } from '../install/file-agent.ts'
import {
  denialReason,
  type HookKind,
  type HookTarget,
  hookCommand,
  isHookCommand,
} from '../install/hook-command.ts'
import { copilotHome } from './home.ts'

const SHORT_S = 30

/** Copilot runs a tool whose hook takes longer than its limit; the hook's own limit is shorter. */
const HOOKS: readonly { event: string; kind: HookKind; timeoutS?: number }[] = [
  { event: 'sessionStart', kind: 'tell' },
  { event: 'userPromptSubmitted', kind: 'tell' },
  // also the plan, which is a call of the tool exit_plan_mode
  { event: 'preToolUse', kind: 'gate', timeoutS: PLAN_HOLD_S + 5 },
  { event: 'postToolUse', kind: 'note' },
  { event: 'agentStop', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'sessionEnd', kind: 'tell' },
]

/** It also reads `.claude/settings.json` of a project: with both, each hook runs twice. */
export const copilotHooks = fileAgent(
  {
    id: 'copilot',
    title: 'GitHub Copilot CLI',
    program: 'copilot',
    files: {
      user: ({ environment, key }) =>
        join(copilotHome(environment), 'hooks', `casefile-${key}.json`),
    },
  },
  { textOf: copilotFile, isOwn: (text) => isHookCommand('copilot', text) },
)

function copilotFile(target: HookTarget): string {
  const denial = JSON.stringify({
    permissionDecision: 'deny',
    permissionDecisionReason: denialReason(target),
  })
  const hooks = HOOKS.map(({ event, kind, timeoutS = SHORT_S }) => {
    // what it sends does not name the event
    const more = [`event=${event}`, '$PPID']
    const bash = hookCommand(target, { agent: 'copilot', kind, more, denial })
    return [event, [{ type: 'command', bash, timeoutSec: timeoutS }]]
  })
  return `${JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) }, null, 2)}\n`
}
