import { AGENT_ENV } from '../agents/agent-env.ts'
import type { AgentSpec } from '../agents/agent-spec.ts'
import type { AgentStream } from '../streams/agent-stream.ts'
import { errorLine as geminiLogLine } from '../streams/gemini.ts'
import { createOpencodeLog, OPENCODE_LOGS } from '../streams/opencode-log.ts'
import { CLAUDE_RETRIES } from './retry.ts'

export interface AcpSpec extends AgentSpec {
  kind: 'acp'
  /** What makes the program speak the protocol. */
  args: readonly string[]
  /** Its own ids of modes, as it was seen to offer them; null where it is found by name, or not changed. */
  modes: { plan: string | null; work: string | null }
  /** Modes that the operator names in casefile.md. */
  named: { plan: string | null; work: string | null }
  /** Further environment. */
  ownEnv: Readonly<Record<string, string>>
  /** Further environment while it plans. */
  planEnv: Readonly<Record<string, string>>
  /** Reads the lines that one run writes to its standard error. */
  openLog: (() => NonNullable<AgentStream['errorLine']>) | null
  /** `_meta` of session/new in each mode. */
  meta: { plan: Meta | null; work: Meta | null }
}

type Meta = Readonly<Record<string, unknown>>

const UNNAMED = { plan: null, work: null }

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
    meta: {
      plan: {
        claudeCode: {
          options: { tools: ['Read', 'Grep', 'Glob'], ...CLAUDE_SAFE },
          ...CLAUDE_RETRIES,
        },
      },
      work: { claudeCode: { options: CLAUDE_SAFE, ...CLAUDE_RETRIES } },
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
    openLog: () => geminiLogLine,
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
    ownEnv: OPENCODE_LOGS,
    openLog: () => createOpencodeLog().line,
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
    ownEnv: {},
    planEnv: {},
    openLog: null,
    meta: { plan: null, work: null },
  }
}
