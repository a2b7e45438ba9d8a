import { AGENT_ENV } from '../agents/agent-env.ts'
import type { AgentSpec } from '../agents/agent-spec.ts'
import {
  CLAUDE_INSTRUCTIONS,
  COPILOT_FILES,
  GEMINI_INSTRUCTIONS,
  OPENCODE_FILES,
  OPENCODE_INSTRUCTIONS,
  OPENCODE_OWN_ENV,
} from '../agents/project-files.ts'

export interface AcpSpec extends AgentSpec {
  kind: 'acp'
  /** What makes the program speak the protocol. */
  args: readonly string[]
  /** Its own ids of modes, as it was seen to offer them; null where it is found by name, or not changed. */
  modes: { plan: string | null; work: string | null }
  /** Modes that the operator names in casefile.md. */
  named: { plan: string | null; work: string | null }
  /** Environment that it always gets, over the service's. */
  fixedEnv: Readonly<Record<string, string>>
  /** Environment that it gets where the service has no such variable. */
  defaultEnv: Readonly<Record<string, string>>
  /** Further environment while it plans. */
  planEnv: Readonly<Record<string, string>>
  /** `_meta` of session/new in each mode; `unbounded` for a mode without bounds that the operator names. */
  meta: { plan: Meta | null; work: Meta | null; unbounded: Meta | null }
}

type Meta = Readonly<Record<string, unknown>>

const UNNAMED = { plan: null, work: null }

/** It has the settings of its user, and none of the project's: no hooks, servers, addresses, skills or agents of it. */
const CLAUDE_USER = { settingSources: ['user'] }

/** Without this an ordinary user's claude runs what it likes in its plan mode, and asks nobody. */
const CLAUDE_SAFE = {
  allowDangerouslySkipPermissions: false,
  settings: { permissions: { disableBypassPermissionsMode: 'disable' } },
}

/** A request that is denied by us ends its turn; what its own rule denies it goes on without. */
const OPENCODE_PLANS = {
  ...{ bash: 'deny', edit: 'deny', webfetch: 'deny' },
  external_directory: 'deny',
}

/** Agents that speak the Agent Client Protocol, as measured with the versions of docs/agents.md. */
export const ACP_AGENTS: readonly AcpSpec[] = [
  {
    ...plainAgent('claude-agent-acp', 'Claude Code (ACP)', 'claude-agent-acp', []),
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    env: AGENT_ENV.claude,
    bad: [
      {
        below: '0.100.0',
        why: 'its plan mode can write without asking where bypassing permissions is available',
      },
    ],
    planMode: {
      holds: 'tools',
      note: 'In plan mode it is given no tools but Read, Grep and Glob.',
    },
    modes: { plan: 'plan', work: null },
    instructions: CLAUDE_INSTRUCTIONS,
    meta: {
      plan: {
        claudeCode: {
          options: { ...CLAUDE_USER, ...CLAUDE_SAFE, tools: ['Read', 'Grep', 'Glob'] },
        },
      },
      work: { claudeCode: { options: { ...CLAUDE_USER, ...CLAUDE_SAFE } } },
      unbounded: { claudeCode: { options: CLAUDE_USER } },
    },
  },
  {
    ...plainAgent('codex-acp', 'Codex (ACP)', 'codex-acp', []),
    install: 'npm install -g @agentclientprotocol/codex-acp',
    env: AGENT_ENV.codex,
    planMode: {
      holds: 'sandbox',
      note: 'Its read-only mode runs every command in a sandbox of the operating system.',
    },
    modes: { plan: 'read-only', work: null },
    // It tells Codex that the folder is trusted.
    projectFiles: ['.codex/'],
  },
  {
    ...plainAgent('copilot-acp', 'Copilot CLI (ACP)', 'copilot', ['--acp']),
    install: 'npm install -g @github/copilot',
    env: AGENT_ENV.copilot,
    planMode: {
      holds: 'advice',
      note: 'Its plan mode was not measured over ACP; on the command line it denied what writes.',
    },
    modes: {
      plan: 'https://agentclientprotocol.com/protocol/session-modes#plan',
      work: 'https://agentclientprotocol.com/protocol/session-modes#agent',
    },
    projectFiles: COPILOT_FILES,
    // With "true" it would trust the folder, and allow everything.
    fixedEnv: { COPILOT_ALLOW_ALL: 'false' },
  },
  {
    ...plainAgent('gemini-acp', 'Gemini CLI (ACP)', 'gemini', ['--acp']),
    install: 'npm install -g @google/gemini-cli',
    env: AGENT_ENV.gemini,
    planMode: {
      holds: 'tools',
      note: 'In plan mode its tools write to its own folder of plans only; its request to leave the mode is never granted.',
    },
    modes: { plan: 'plan', work: 'default' },
    instructions: GEMINI_INSTRUCTIONS,
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
      note: 'Its plan mode alone leaves the shell open: so bash, edit and webfetch are denied by OPENCODE_PERMISSION.',
    },
    modes: { plan: 'plan', work: 'build' },
    projectFiles: OPENCODE_FILES,
    instructions: OPENCODE_INSTRUCTIONS,
    fixedEnv: OPENCODE_OWN_ENV,
    planEnv: { OPENCODE_PERMISSION: JSON.stringify(OPENCODE_PLANS) },
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
    ...{ id, kind: 'acp', title, program, args },
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
    meta: { plan: null, work: null, unbounded: null },
  }
}
