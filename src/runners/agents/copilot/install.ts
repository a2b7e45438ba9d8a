import { join } from 'node:path'
import { PLAN_HOLD_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import { fileAgent, type HookEntry, lineOf } from '../install/agent-hooks.ts'
import { denialReason, type HookTarget, isHookCommand } from '../install/hook-command.ts'
import { jsonIn, limitIn } from '../install/trial-calls.ts'
import { asArray, asRecord, parsedJson } from '../unknown-record.ts'
import { copilotHome } from './home.ts'

/** Copilot runs a tool whose hook takes longer than its limit; the hook's own limit is shorter. */
const HOOKS: readonly HookEntry[] = [
  { event: 'sessionStart', kind: 'tell' },
  { event: 'userPromptSubmitted', kind: 'tell' },
  // also the plan, which is a call of the tool exit_plan_mode
  { event: 'preToolUse', kind: 'gate', timeoutS: PLAN_HOLD_S + 5 },
  { event: 'postToolUse', kind: 'note' },
  { event: 'agentStop', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'sessionEnd', kind: 'tell' },
]

export const copilotHooks = fileAgent(
  'copilot',
  {
    files: {
      user: ({ environment, key }) =>
        join(copilotHome(environment), 'hooks', `casefile-${key}.json`),
    },
    alsoReads: { agent: 'claude', place: 'project', file: '.claude/settings.json' },
    failsOpen: 'if the hook takes longer than its limit',
    trial: {
      writes: (path) => ['create', { path, file_text: '' }],
      reads: (path) => ['view', { path }],
      shellTool: 'bash',
      mcpTool: 'test-write',
      shell: {
        body: ({ tool, input }, { root, session }) => ({
          sessionId: session,
          timestamp: Date.now(),
          cwd: root,
          toolName: tool,
          toolArgs: input,
        }),
        lines: (found) =>
          asArray(asRecord(asRecord(parsedJson(found)).hooks).preToolUse).flatMap((each) => {
            const { bash, timeoutSec } = asRecord(each)
            return typeof bash === 'string'
              ? [{ matcher: undefined, command: bash, limitMs: limitIn(timeoutSec, 1000) }]
              : []
          }),
        // only a limit that is over lets the tool run
        isDenied: (said) =>
          !said.timedOut && (said.exit !== 0 || jsonIn(said).permissionDecision === 'deny'),
      },
    },
  },
  { textOf: copilotFile, isOwn: (text) => isHookCommand('copilot', text) },
)

function copilotFile(target: HookTarget): string {
  const denial = JSON.stringify({
    permissionDecision: 'deny',
    permissionDecisionReason: denialReason(target),
  })
  const hooks = HOOKS.map((entry) => {
    // what it sends does not name the event
    const more = [`event=${entry.event}`]
    const { command: bash, timeoutS } = lineOf(target, 'copilot', entry, { denial, more })
    return [entry.event, [{ type: 'command', bash, timeoutSec: timeoutS }]]
  })
  return `${JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) }, null, 2)}\n`
}
