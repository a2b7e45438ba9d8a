import { AGENT_ENV } from '../agents/agent-env.ts'
import {
  CLAUDE_PLACES,
  COPILOT_PLACES,
  GEMINI_PLACES,
  OPENCODE_PLACES,
} from '../agents/allowances.ts'
import { GEMINI_PLAN, OPENCODE_PLAN } from '../agents/plan-tools.ts'
import {
  CLAUDE_INSTRUCTIONS,
  CLAUDE_OWN_ENV,
  CODEX_INSTRUCTIONS,
  COPILOT_FILES,
  GEMINI_FILES,
  OPENCODE_DEFAULT_ENV,
  OPENCODE_FILES,
  OPENCODE_INSTRUCTIONS,
  OPENCODE_OWN_ENV,
} from '../agents/project-files.ts'
import { readCodexRecord } from '../streams/codex-record.ts'
import { OPENCODE_LOGS } from '../streams/opencode-log.ts'
import type { CommandLine, CommandSpec } from './command-spec.ts'

/** In `auto_edit` it has no shell. The first rule gives it one; `yolo` would allow much more. */
const GEMINI_WORK = `[[rule]]
toolName = ["run_shell_command", "web_fetch"]
decision = "allow"
priority = 900

[[rule]]
toolName = "enter_plan_mode"
decision = "deny"
priority = 900
`

/**
 * The non-interactive modes of well-known agents, as measured with the versions of docs/agents.md. Each
 * reads its prompt from its standard input: an argument may have 128 KiB at most, and shows in `ps`.
 *
 * In Work mode no person can be asked, so what is not allowed is refused. Each gets the narrowest setting
 * in which it edits files and runs commands in the working folder, and none that allows everything.
 */
export const PRESETS: readonly CommandSpec[] = [claude(), codex(), copilot(), gemini(), opencode()]

function claude(): CommandSpec {
  // The settings of its user, and none of the project's: no hooks, servers, addresses, skills or agents of it.
  const own = ['--setting-sources', 'user']
  const start = ['claude', '-p', '{args}', '--output-format', 'stream-json', '--verbose', ...own]
  // With servers of MCP it would have tools again that nobody has looked at.
  // In its plan mode its instructions are to write the plan into a file, to ask, and to begin.
  const only = ['--permission-mode', 'default', '--tools', 'Read,Grep,Glob', '--strict-mcp-config']
  // It writes in its folder alone. Whoever may run commands has the network anyway.
  const all = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,WebFetch,WebSearch']
  const env = { ...CLAUDE_OWN_ENV, DISABLE_AUTOUPDATER: '1' }
  const line = (...argv: string[]): CommandLine => ({ argv, prompt: 'stdin', env })
  return {
    ...preset('claude', 'Claude Code', 'npm install -g @anthropic-ai/claude-code'),
    instructions: CLAUDE_INSTRUCTIONS,
    planMode: { holds: 'tools', note: 'It is given no tools but Read, Grep and Glob.' },
    plan: line(...start, ...only, '--session-id', '{id}'),
    resume: line(...start, ...only, '--resume', '{session}'),
    work: {
      ...line(...start, ...all, '--session-id', '{id}'),
      userPlaces: CLAUDE_PLACES,
    },
  }
}

function codex(): CommandSpec {
  // Then it leaves the project's settings, servers, hooks and rules alone, also where the user's own settings trust it.
  const untrusted = ['-c', 'projects={untrusted_projects}']
  const end = ['--json', '--skip-git-repo-check', ...untrusted]
  const line = (...argv: string[]): CommandLine => ({ argv: ['codex', ...argv], prompt: 'stdin' })
  return {
    ...preset('codex', 'Codex', 'npm install -g @openai/codex'),
    instructions: CODEX_INSTRUCTIONS,
    readRecord: readCodexRecord,
    planMode: {
      holds: 'sandbox',
      note: 'Its commands run in a sandbox of the operating system that refuses writes; servers of MCP that you configured run outside of it.',
    },
    plan: line('exec', '{args}', ...end, '--sandbox', 'read-only', '-'),
    // Here it takes no --sandbox.
    resume: line(
      'exec',
      'resume',
      '{args}',
      ...end,
      '-c',
      'sandbox_mode="read-only"',
      '{session}',
      '-',
    ),
    work: line('exec', '{args}', ...end, '--sandbox', 'workspace-write', '-'),
  }
}

function copilot(): CommandSpec {
  const start = ['copilot', '{args}', '--output-format', 'json', '--no-ask-user']
  const only = ['--no-auto-update', '--available-tools', 'view', 'grep', 'glob']
  const all = ['--no-auto-update', '--allow-tool=write', '--allow-tool=shell']
  // Outside of a terminal this variable of the user's would allow everything.
  const env = { COPILOT_ALLOW_ALL: 'false' }
  const line = (...argv: string[]): CommandLine => ({ argv, prompt: 'stdin', env })
  return {
    ...preset('copilot', 'GitHub Copilot CLI', 'npm install -g @github/copilot'),
    projectFiles: COPILOT_FILES,
    planMode: { holds: 'tools', note: 'It is given no tools but view, grep and glob.' },
    plan: line(...start, ...only, '--session-id={id}'),
    resume: line(...start, ...only, '--resume={session}'),
    work: { ...line(...start, ...all, '--session-id={id}'), userPlaces: COPILOT_PLACES },
  }
}

function gemini(): CommandSpec {
  // Without --skip-trust it ends at once if the folder was never trusted.
  const start = ['gemini', '{args}', '-o', 'stream-json', '--skip-trust']
  const line = (policy: string, ...argv: string[]): CommandLine => ({
    argv: [...start, '--policy', '{folder}/policy.toml', ...argv],
    prompt: 'stdin',
    // At the moment in which it reads its settings: so it has none of the project's, whatever the user's own trust.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'false' },
    files: { 'policy.toml': policy },
  })
  const plan = ['--approval-mode', 'default']
  return {
    ...preset('gemini', 'Gemini CLI', 'npm install -g @google/gemini-cli'),
    projectFiles: GEMINI_FILES,
    planMode: {
      holds: 'tools',
      note: 'By a policy it is given no tools but those that read files and search in them.',
    },
    plan: line(GEMINI_PLAN, ...plan, '--session-id', '{id}'),
    resume: line(GEMINI_PLAN, ...plan, '--resume', '{session}'),
    work: {
      ...line(GEMINI_WORK, '--approval-mode', 'auto_edit', '--session-id', '{id}'),
      userPlaces: GEMINI_PLACES,
    },
  }
}

function opencode(): CommandSpec {
  const start = ['opencode', 'run', '{args}', '--format', 'json', '--agent']
  const line = (permission: Record<string, string>, ...argv: string[]): CommandLine => ({
    argv: [...start, ...argv],
    prompt: 'stdin',
    defaultEnv: OPENCODE_DEFAULT_ENV,
    env: {
      ...OPENCODE_OWN_ENV,
      OPENCODE_PERMISSION: JSON.stringify(permission),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_SHARE: '1',
      ...OPENCODE_LOGS,
    },
  })
  // --auto allows what would be asked, and so all that the user's own settings do not deny.
  const all = { external_directory: 'deny' }
  return {
    ...preset('opencode', 'opencode', 'npm install -g opencode-ai'),
    projectFiles: OPENCODE_FILES,
    instructions: OPENCODE_INSTRUCTIONS,
    bad: [
      // anomalyco/opencode#43888
      { below: '1.18.19', why: 'when a subagent asks for a permission, it can wait for ever' },
    ],
    planMode: {
      holds: 'tools',
      note: 'It is given no tools but those that read; its own plan mode alone would leave it the shell.',
    },
    plan: line(OPENCODE_PLAN, 'build'),
    // In another folder than that of the conversation it would never end; a session plans in one.
    resume: line(OPENCODE_PLAN, 'build', '-s', '{session}'),
    work: {
      ...line(all, 'build', '--auto'),
      userPlaces: OPENCODE_PLACES,
    },
  }
}

function preset<Id extends keyof typeof AGENT_ENV>(id: Id, title: string, install: string) {
  const env = AGENT_ENV[id]
  return {
    id,
    kind: 'command' as const,
    title,
    program: id,
    install,
    env,
    stream: id,
    version: ['--version'],
    bad: [],
    projectFiles: [],
    instructions: [],
  }
}
