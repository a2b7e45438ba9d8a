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
import type { AgentStream } from '../streams/agent-stream.ts'
import { readCodexRecord, sandboxError } from '../streams/codex-record.ts'
import { createOpencodeLog, OPENCODE_LOGS } from '../streams/opencode-log.ts'
import { CLAUDE_RETRY } from './retry.ts'

export interface AcpSpec extends AgentSpec {
  kind: 'acp'
  /** What makes the program speak the protocol. */
  args: readonly string[]
  /**
   * Its own ids of modes, as it was seen to offer them; null where it is found by name, or not changed. One
   * whose tools are taken away while it plans does so in its ordinary mode: the instructions of its plan mode
   * (to write the plan into a file, to ask, to begin) contradict our prompt. It has to be one in which it asks.
   */
  modes: { plan: string | null; work: string | null }
  /** Modes that the operator names in casefile.md. */
  named: { plan: string | null; work: string | null }
  /** Environment that it always gets, over the service's. */
  fixedEnv: Readonly<Record<string, string>>
  /** Environment that it gets where the service has no such variable. */
  defaultEnv: Readonly<Record<string, string>>
  /** Further environment in each mode. */
  planEnv: Readonly<Record<string, string>>
  workEnv: Readonly<Record<string, string>>
  /** Further arguments while it plans; `{folder}` is where `planFiles` are. */
  planArgs: readonly string[]
  /** Texts of files that it needs while it plans, by name. */
  planFiles: Readonly<Record<string, string>>
  /** The tools that it may have while it plans, where it says which it has; null where it does not. */
  planTools: readonly string[] | null
  /** What a failed command printed, where the agent's own sandbox refused it; null for any other failure. */
  refusalIn?: (printed: string) => string | null
  /** It says its notices and errors as words of its answer: the protocol has fields, and it does not use them. */
  saysInWords: boolean
  /** Whether the `usage` of its answer counts the whole turn; else it is left out. */
  countsTurn: boolean
  /** It ends its turn where an action is refused, and goes on without it only when it is asked to. */
  endsAtRefusal: boolean
  /** What of its user's it may use at work. */
  userPlaces: AllowsUserPlaces
  /**
   * Reads the lines that one run writes to its standard error. `hasProgress`: whether it has said or done
   * anything since the last call.
   */
  openLog: ((hasProgress: () => boolean) => NonNullable<AgentStream['errorLine']>) | null
  /** `_meta` of session/new in each mode; `unbounded` for a mode without bounds that the operator names. */
  meta: { plan: Meta | null; work: Meta | null; unbounded: Meta | null }
}

type Meta = Readonly<Record<string, unknown>>

const UNNAMED = { plan: null, work: null }

/**
 * It has the settings of its user, and none of the project's: no hooks, servers, addresses, skills or agents of it.
 * And it does not ask its model, once its turn has ended, what we might say next: it would send the whole
 * conversation again, and count that nowhere.
 */
const CLAUDE_USER = { settingSources: ['user'], promptSuggestions: false }

/** Without this an ordinary user's claude runs what it likes in its plan mode, and asks nobody. */
const CLAUDE_SAFE = {
  allowDangerouslySkipPermissions: false,
  settings: { permissions: { disableBypassPermissionsMode: 'disable' } },
}

const CLAUDE_INSTALL = 'npm install -g @agentclientprotocol/claude-agent-acp'
const CLAUDE_MODES = ['EnterPlanMode', 'ExitPlanMode']
const CLAUDE_READS = ['Read', 'Grep', 'Glob']

/** Its own words on which tools it has, before its model is asked. */
const CLAUDE_SAYS_TOOLS = [{ type: 'system', subtype: 'init' }]

/** By itself it asks only for what is outside of the folder. */
const OPENCODE_ASKS = { edit: 'ask', bash: 'ask', webfetch: 'ask' }

const COPILOT_MODE = 'https://agentclientprotocol.com/protocol/session-modes#agent'

/** Agents that speak the Agent Client Protocol, as measured with the versions of docs/agents.md. */
export const ACP_AGENTS: readonly AcpSpec[] = [
  {
    ...plainAgent('claude-agent-acp', 'Claude Code (ACP)', 'claude-agent-acp', []),
    install: CLAUDE_INSTALL,
    env: AGENT_ENV.claude,
    bad: [
      {
        below: '0.100.0',
        why: 'what it says of itself comes as a part of its answer',
        advice: `npm gives this old one to Node 20. Install Node 22 or newer, then: ${CLAUDE_INSTALL}`,
      },
    ],
    planMode: {
      holds: 'tools',
      note: 'It is given no tools but Read, Grep and Glob, and says so itself.',
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
      // older ones offer it these, and a mode that it left ends its work
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
    endsAtRefusal: true,
    planMode: {
      holds: 'sandbox',
      note: 'Its read-only mode runs every command in a sandbox of the operating system.',
    },
    // in its mode `agent` a model decides in our place
    modes: { plan: 'read-only', work: 'workspace-write' },
    readRecord: readCodexRecord,
    refusalIn: sandboxError,
    // It marks the folder as trusted for Codex.
    projectFiles: ['.codex/'],
  },
  {
    ...plainAgent('copilot-acp', 'Copilot CLI (ACP)', 'copilot', ['--acp']),
    install: 'npm install -g @github/copilot',
    env: AGENT_ENV.copilot,
    planMode: { holds: 'tools', note: 'It is given no tools but view, grep and glob.' },
    modes: { plan: COPILOT_MODE, work: COPILOT_MODE },
    planArgs: ['--available-tools', 'view', 'grep', 'glob'],
    saysInWords: true,
    // whatever it is answered: reject_once, cancelled, an error
    endsAtRefusal: true,
    userPlaces: COPILOT_PLACES,
    projectFiles: COPILOT_FILES,
    // With "true" it would trust the folder, ask for nothing, and still say that it does.
    fixedEnv: { COPILOT_ALLOW_ALL: 'false' },
  },
  {
    ...plainAgent('gemini-acp', 'Gemini CLI (ACP)', 'gemini', ['--acp']),
    install: 'npm install -g @google/gemini-cli',
    env: AGENT_ENV.gemini,
    planMode: {
      holds: 'tools',
      note: 'By a policy it is given no tools but those that read files and search in them.',
    },
    modes: { plan: 'default', work: 'default' },
    instructions: GEMINI_INSTRUCTIONS,
    planArgs: ['--policy', '{folder}/policy.toml'],
    planFiles: { 'policy.toml': GEMINI_PLAN },
    userPlaces: GEMINI_PLACES,
    // Also where the user's own settings trust the folder: it may have changed since.
    fixedEnv: { GEMINI_CLI_TRUST_WORKSPACE: 'false' },
    // These it takes from a .env of the folder, or above, even then, unless it has them.
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
      note: 'It is given no tools but those that read, by OPENCODE_PERMISSION.',
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
    // it says what the last request of the turn used
    countsTurn: false,
  },
]

/** An agent of which no more is known. */
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
    saysInWords: false,
    userPlaces: { allow: () => ({}) },
    countsTurn: true,
    endsAtRefusal: false,
    openLog: null,
    meta: { plan: null, work: null, unbounded: null },
  }
}
