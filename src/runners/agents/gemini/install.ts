import { dirname, join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import { isWithin } from '../../../files/real-path.ts'
import { PLAN_HOLD_S, STOP_WAIT_S } from '../hooks/hook-script.ts'
import { groupsOf, type HookEntry, jsonAgent } from '../install/agent-hooks.ts'
import { denialReason, type HookTarget } from '../install/hook-command.ts'
import { groupLines, jsonIn } from '../install/trial-calls.ts'
import { asRecord } from '../unknown-record.ts'
import { geminiHome } from './home.ts'

const HOOKS: readonly HookEntry[] = [
  { event: 'SessionStart', kind: 'tell' },
  { event: 'BeforeAgent', kind: 'tell' },
  // also the plan, which is a call of the tool exit_plan_mode
  { event: 'BeforeTool', matcher: '.*', kind: 'gate', timeoutS: PLAN_HOLD_S + 5 },
  { event: 'AfterTool', matcher: '.*', kind: 'note' },
  { event: 'AfterAgent', kind: 'stop', timeoutS: STOP_WAIT_S + 5 },
  { event: 'SessionEnd', kind: 'tell' },
]

const denial = (target: HookTarget) =>
  JSON.stringify({ decision: 'deny', reason: denialReason(target) })

export const geminiHooks = jsonAgent(
  'gemini',
  {
    files: {
      user: ({ environment }) => join(geminiHome(environment), 'settings.json'),
      project: ({ root }) => join(root, '.gemini', 'settings.json'),
    },
    async obstacle(_, { root, environment }) {
      const file = join(geminiHome(environment), 'trustedFolders.json')
      const isTrusted = Object.entries(asRecord(await readJsonFile(file))).some(
        ([folder, level]) =>
          (level === 'TRUST_FOLDER' && isWithin(folder, root)) ||
          (level === 'TRUST_PARENT' && isWithin(dirname(folder), root)),
      )
      if (isTrusted) return null
      const reason =
        'Gemini CLI does not trust this folder yet, and may run no hooks until it does. Start gemini here, and trust it.'
      return { level: 'not_trusted', reason }
    },
    failsOpen: 'if the folder is not trusted, or the hook is stopped',
    trial: {
      writes: (file_path) => ['write_file', { file_path, content: '' }],
      reads: (file_path) => ['read_file', { file_path }],
      shellTool: 'run_shell_command',
      mcpTool: 'mcp_test_write',
      shell: {
        body: ({ tool, input }, { root, session }) => ({
          session_id: session,
          transcript_path: join(root, `${session}.jsonl`),
          cwd: root,
          hook_event_name: 'BeforeTool',
          timestamp: new Date().toISOString(),
          tool_name: tool,
          tool_input: input,
        }),
        lines: (found) => groupLines(found, 'BeforeTool', 1),
        isDenied: (said) =>
          said.exit === 2 ||
          (said.exit === 0 && ['deny', 'block'].includes(String(jsonIn(said).decision))),
      },
    },
  },
  groupsOf('gemini', HOOKS, denial, (command, timeoutS) => {
    const timeout = timeoutS * 1000 // milliseconds
    return { name: 'casefile', type: 'command', command, timeout }
  }),
)
