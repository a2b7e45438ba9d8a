import { AGENT_ENV } from '../agents/agent-env.ts'
import type { AgentSpec } from '../agents/agent-spec.ts'
import { COPILOT_PLACES, GEMINI_PLACES, opencodeFolders } from '../agents/allowances.ts'
import { GEMINI_PLAN, OPENCODE_PLAN } from '../agents/plan-tools.ts'
import {
  CLAUDE_INSTRUCTIONS,
  CLAUDE_OWN_ENV,
  COPILOT_FILES,
  GEMINI_INSTRUCTIONS,
  OPENCODE_DEFAULT_ENV,
  OPENCODE_FILES,
  OPENCODE_INSTRUCTIONS,
  OPENCODE_OWN_ENV,
} from '../agents/project-files.ts'
import type { AllowsUserPlaces } from '../agents/user-places.ts'
import { readCodexRecord, sandboxError } from '../streams/codex-record.ts'
import { createOpencodeLog, OPENCODE_LOGS } from '../streams/opencode-log.ts'
import type { OutputParser } from '../streams/output-parser.ts'
import { CLAUDE_RETRY } from './retry.ts'

export interface AcpSpec extends AgentSpec {
  kind: 'acp'
  /** The arguments that make the program speak the protocol. */
  args: readonly string[]
  /**
   * Mode ids as measured; null if the mode is found by its name, or not changed. An agent whose writing tools are
   * removed plans in its ordinary mode, because the instructions of its plan mode (write the plan to a file, ask,
   * begin) contradict our prompt. That must be a mode in which it asks.
   */
  modes: { plan: string | null; work: string | null }
  /** Modes that the operator names in casefile.md. */
  named: { plan: string | null; work: string | null }
  /** Environment variables that override the service's. */
  fixedEnv: Readonly<Record<string, string>>
  /** Environment variables that apply only if the service does not set them. */
  defaultEnv: Readonly<Record<string, string>>
  /** Additional environment variables in plan mode; `workEnv` in work mode. */
  planEnv: Readonly<Record<string, string>>
  workEnv: Readonly<Record<string, string>>
  /** Additional arguments in plan mode; `{folder}` is the folder with `planFiles`. */
  planArgs: readonly string[]
  /** Files that it needs in plan mode: name to text. */
  planFiles: Readonly<Record<string, string>>
  /** The tools allowed in plan mode, if the agent reports its tools; else null. */
  planTools: readonly string[] | null
  /**
   * The line of a failed command's output that shows a denial by the agent's own sandbox; null for any other
   * failure.
   */
  findDenial?: (printed: string) => string | null
  /** It sends notices and errors as message text instead of in the protocol's fields. */
  sendsNoticesAsText: boolean
  /** Whether the `usage` of its answer covers the whole turn; else it is ignored. */
  countsTurn: boolean
  /** It ends its turn at a denied action, and continues without the action only if asked. */
  endsAtDenial: boolean
  /** What it may use of the user's own setup in work mode. */
  userPlaces: AllowsUserPlaces
  /**
   * Reads the lines a run writes to standard error. `hasProgress`: whether the agent said or did anything since the
   * last call.
   */
  openLog: ((hasProgress: () => boolean) => NonNullable<OutputParser['errorLine']>) | null
  /** `_meta` of session/new in each mode; `unbounded` is for an unrestricted mode that the operator names. */
  meta: { plan: Meta | null; work: Meta | null; unbounded: Meta | null }
}

type Meta = Readonly<Record<string, unknown>>

const UNNAMED = { plan: null, work: null }

/**
 * Uses the user's settings and none of the project's (no project hooks, servers, endpoints, skills or agents). Also
 * turns prompt suggestions off: they would send the whole conversation again, and their usage is not counted.
 */
const CLAUDE_USER = { settingSources: ['user'], promptSuggestions: false }

/** Without this, an ordinary user's claude runs any command in plan mode without asking. */
const CLAUDE_SAFE = {
  allowDangerouslySkipPermissions: false,
  settings: { permissions: { disableBypassPermissionsMode: 'disable' } },
}

const CLAUDE_INSTALL = 'npm install -g @agentclientprotocol/claude-agent-acp'
const CLAUDE_MODES = ['EnterPlanMode', 'ExitPlanMode']
const CLAUDE_READS = ['Read', 'Grep', 'Glob']

/** The message in which it lists its tools, before it asks its model. */
const CLAUDE_SAYS_TOOLS = [{ type: 'system', subtype: 'init' }]

/** By default it asks only for actions outside of the folder. */
const OPENCODE_ASKS = { edit: 'ask', bash: 'ask', webfetch: 'ask' }

const COPILOT_MODE = 'https://agentclientprotocol.com/protocol/session-modes#agent'

/** Agents that speak the Agent Client Protocol, as measured with the versions in docs/agents.md. */
export const ACP_AGENTS: readonly AcpSpec[] = [
  {
    ...plainAgent('claude-agent-acp', 'Claude Code (ACP)', 'claude-agent-acp', []),
    install: CLAUDE_INSTALL,
    env: AGENT_ENV.claude,
    bad: [
      {
        below: '0.100.0',
        why: 'its notices appear inside its answer',
        advice: `npm installs this old version on Node 20. Install Node 22 or newer, then: ${CLAUDE_INSTALL}`,
      },
    ],
    planMode: {
      holds: 'tools',
      note: 'It has only the tools Read, Grep and Glob, and confirms that itself.',
    },
    modes: { plan: 'default', work: 'default' },
    instructions: CLAUDE_INSTRUCTIONS,
    planTools: CLAUDE_READS,
    fixedEnv: CLAUDE_OWN_ENV,
    meta: {
      plan: {
        claudeCode: {
          emitRawSDKMessages: [...CLAUDE_SAYS_TOOLS, CLAUDE_RETRY],
          options: { ...CLAUDE_USER, ...CLAUDE_SAFE, tools: CLAUDE_READS, strictMcpConfig: true },
        },
      },
      // older versions offer these tools, and leaving plan mode ends their work
      work: {
        claudeCode: {
          emitRawSDKMessages: [CLAUDE_RETRY],
          options: { ...CLAUDE_USER, ...CLAUDE_SAFE, disallowedTools: CLAUDE_MODES },
        },
      },
      unbounded: { claudeCode: { emitRawSDKMessages: [CLAUDE_RETRY], options: CLAUDE_USER } },
    },
  },
  {
    ...plainAgent('codex-acp', 'Codex (ACP)', 'codex-acp', []),
    install: 'npm install -g @agentclientprotocol/codex-acp',
    env: AGENT_ENV.codex,
    endsAtDenial: true,
    planMode: {
      holds: 'sandbox',
      note: 'Its read-only mode runs every command in a sandbox of the operating system.',
    },
    // in its mode `agent` a model approves actions instead of us
    modes: { plan: 'read-only', work: 'workspace-write' },
    readRecord: readCodexRecord,
    findDenial: sandboxError,
    // it marks the folder as trusted for Codex
    projectFiles: ['.codex/'],
  },
  {
    ...plainAgent('copilot-acp', 'Copilot CLI (ACP)', 'copilot', ['--acp']),
    install: 'npm install -g @github/copilot',
    env: AGENT_ENV.copilot,
    planMode: { holds: 'tools', note: 'It has only the tools view, grep and glob.' },
    modes: { plan: COPILOT_MODE, work: COPILOT_MODE },
    planArgs: ['--available-tools', 'view', 'grep', 'glob'],
    sendsNoticesAsText: true,
    // it ends its turn after any negative answer: reject_once, cancelled, an error
    endsAtDenial: true,
    userPlaces: COPILOT_PLACES,
    projectFiles: COPILOT_FILES,
    // with "true" it would trust the folder and allow everything, while claiming that it asks
    fixedEnv: { COPILOT_ALLOW_ALL: 'false' },
  },
  {
    ...plainAgent('gemini-acp', 'Gemini CLI (ACP)', 'gemini', ['--acp']),
    install: 'npm install -g @google/gemini-cli',
    env: AGENT_ENV.gemini,
    planMode: {
      holds: 'tools',
      note: 'A policy allows only tools that read and search files.',
    },
    modes: { plan: 'default', work: 'default' },
    instructions: GEMINI_INSTRUCTIONS,
    planArgs: ['--policy', '{folder}/policy.toml'],
    planFiles: { 'policy.toml': GEMINI_PLAN },
    userPlaces: GEMINI_PLACES,
    // needed even if the user's settings trust the folder, which may have changed since
    fixedEnv: { GEMINI_CLI_TRUST_WORKSPACE: 'false' },
    // even then it reads these from a .env file in or above the folder, unless they are set
    defaultEnv: {
      GEMINI_API_KEY: '',
      GOOGLE_API_KEY: '',
      GOOGLE_CLOUD_PROJECT: '',
      GOOGLE_CLOUD_LOCATION: '',
    },
  },
  {
    ...plainAgent('opencode-acp', 'opencode (ACP)', 'opencode', ['acp']),
    install: 'npm install -g opencode-ai',
    env: AGENT_ENV.opencode,
    planMode: {
      holds: 'tools',
      note: 'OPENCODE_PERMISSION allows only tools that read.',
    },
    modes: { plan: 'build', work: 'build' },
    projectFiles: OPENCODE_FILES,
    instructions: OPENCODE_INSTRUCTIONS,
    fixedEnv: { ...OPENCODE_OWN_ENV, ...OPENCODE_LOGS },
    defaultEnv: OPENCODE_DEFAULT_ENV,
    planEnv: { OPENCODE_PERMISSION: JSON.stringify(OPENCODE_PLAN) },
    userPlaces: {
      allow: ({ scratch }) => ({
        env: {
          OPENCODE_PERMISSION: JSON.stringify({
            ...OPENCODE_ASKS,
            external_directory: opencodeFolders(scratch),
          }),
        },
      }),
    },
    openLog: (hasProgress) => createOpencodeLog(hasProgress).line,
    // it reports the usage of the turn's last request only
    countsTurn: false,
  },
]

/** An agent without further known settings. */
export function plainAgent(
  id: string,
  title: string,
  program: string,
  args: readonly string[],
): AcpSpec {
  return {
    id,
    kind: 'acp',
    title,
    program,
    args,
    install: '',
    env: [],
    version: ['--version'],
    bad: [],
    planMode: { holds: 'advice', note: '' },
    modes: UNNAMED,
    named: UNNAMED,
    projectFiles: [],
    instructions: [],
    fixedEnv: {},
    defaultEnv: {},
    planEnv: {},
    workEnv: {},
    planArgs: [],
    planFiles: {},
    planTools: null,
    sendsNoticesAsText: false,
    userPlaces: { allow: () => ({}) },
    countsTurn: true,
    endsAtDenial: false,
    openLog: null,
    meta: { plan: null, work: null, unbounded: null },
  }
}
