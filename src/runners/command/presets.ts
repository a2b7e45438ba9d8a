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

/** The mode `auto_edit` has no shell. The first rule adds one; `yolo` would allow much more. */
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
 * The non-interactive modes of well-known agents, as measured with the versions in docs/agents.md. Each reads its
 * prompt from standard input, because an argument is limited to 128 KiB and visible in `ps`. In Work mode nobody
 * can be asked, so anything not allowed is denied. Each gets the narrowest setting that lets it edit files and run
 * commands in the working folder; none allows everything.
 */
export const PRESETS: readonly CommandSpec[] = [claude(), codex(), copilot(), gemini(), opencode()]

function claude(): CommandSpec {
  // the user's settings and none of the project's: no project hooks, servers, endpoints, skills or agents
  const own = ['--setting-sources', 'user']
  const start = ['claude', '-p', '{args}', '--output-format', 'stream-json', '--verbose', ...own]
  // MCP servers would give it tools that nobody has checked
  // its own plan mode would tell it to write the plan to a file, ask questions, and begin
  const only = ['--permission-mode', 'default', '--tools', 'Read,Grep,Glob', '--strict-mcp-config']
  // it can write only in its folder; a program that can run commands has network access anyway
  const all = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,WebFetch,WebSearch']
  const env = { ...CLAUDE_OWN_ENV, DISABLE_AUTOUPDATER: '1' }
  const line = (...argv: string[]): CommandLine => ({ argv, prompt: 'stdin', env })
  return {
    ...preset('claude', 'Claude Code', 'npm install -g @anthropic-ai/claude-code'),
    instructions: CLAUDE_INSTRUCTIONS,
    planMode: { holds: 'tools', note: 'It has only the tools Read, Grep and Glob.' },
    plan: line(...start, ...only, '--session-id', '{id}'),
    resume: line(...start, ...only, '--resume', '{session}'),
    work: {
      ...line(...start, ...all, '--session-id', '{id}'),
      userPlaces: CLAUDE_PLACES,
    },
  }
}

function codex(): CommandSpec {
  // makes it ignore the project's settings, servers, hooks and rules, even if the user's settings trust the project
  const untrusted = ['-c', 'projects={untrusted_projects}']
  const end = ['--json', '--skip-git-repo-check', ...untrusted]
  const line = (...argv: string[]): CommandLine => ({ argv: ['codex', ...argv], prompt: 'stdin' })
  return {
    ...preset('codex', 'Codex', 'npm install -g @openai/codex'),
    instructions: CODEX_INSTRUCTIONS,
    readRecord: readCodexRecord,
    planMode: {
      holds: 'sandbox',
      note: 'Its commands run in an operating system sandbox that blocks writes; MCP servers that you configured run outside of it.',
    },
    plan: line('exec', '{args}', ...end, '--sandbox', 'read-only', '-'),
    // `resume` accepts no --sandbox
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
  // without a terminal, this variable in the user's environment would allow everything
  const env = { COPILOT_ALLOW_ALL: 'false' }
  const line = (...argv: string[]): CommandLine => ({ argv, prompt: 'stdin', env })
  return {
    ...preset('copilot', 'GitHub Copilot CLI', 'npm install -g @github/copilot'),
    projectFiles: COPILOT_FILES,
    planMode: { holds: 'tools', note: 'It has only the tools view, grep and glob.' },
    plan: line(...start, ...only, '--session-id={id}'),
    resume: line(...start, ...only, '--resume={session}'),
    work: { ...line(...start, ...all, '--session-id={id}'), userPlaces: COPILOT_PLACES },
  }
}

function gemini(): CommandSpec {
  // without --skip-trust it exits at once in a folder that was never trusted
  const start = ['gemini', '{args}', '-o', 'stream-json', '--skip-trust']
  const line = (policy: string, ...argv: string[]): CommandLine => ({
    argv: [...start, '--policy', '{folder}/policy.toml', ...argv],
    prompt: 'stdin',
    // set while it reads its settings, so that it uses none of the project's, whatever the user trusts
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'false' },
    files: { 'policy.toml': policy },
  })
  const plan = ['--approval-mode', 'default']
  return {
    ...preset('gemini', 'Gemini CLI', 'npm install -g @google/gemini-cli'),
    projectFiles: GEMINI_FILES,
    planMode: {
      holds: 'tools',
      note: 'A policy allows only tools that read and search files.',
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
  // --auto allows whatever would be asked, so everything that the user's settings do not deny
  const all = { external_directory: 'deny' }
  return {
    ...preset('opencode', 'opencode', 'npm install -g opencode-ai'),
    projectFiles: OPENCODE_FILES,
    instructions: OPENCODE_INSTRUCTIONS,
    bad: [
      // anomalyco/opencode#43888
      { below: '1.18.19', why: 'it can wait forever when a subagent asks for a permission' },
    ],
    planMode: {
      holds: 'tools',
      note: 'It has only tools that read. Its own plan mode alone would leave it the shell.',
    },
    plan: line(OPENCODE_PLAN, 'build'),
    // outside the conversation's folder it would never exit, and a session always plans in the same folder
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
