/**
 * For `AgentSpec.projectFiles`. Copilot starts the servers of custom agents in a folder that it does not trust, too, and
 * over ACP runs the hooks.
 */
export const COPILOT_FILES: readonly string[] = [
  '.github/hooks/',
  '.github/copilot/',
  '.github/agents/',
  '.github/extensions/',
  '.github/mcp.json',
  '.github/lsp.json',
  '.mcp.json',
  '.vscode/mcp.json',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/agents/',
]

/** What Gemini CLI reads with `--skip-trust`; 0.61 has its policies switched off. */
export const GEMINI_FILES: readonly string[] = [
  '.env',
  '.gemini/.env',
  '.gemini/policies/',
  '.gemini/agents/',
]

/**
 * opencode 1.18 reads these even with the project's configuration switched off: it imports the plugins,
 * installs those that are named, and clones the references.
 */
export const OPENCODE_FILES: readonly string[] = [
  'opencode.json',
  'opencode.jsonc',
  '.opencode/opencode.json',
  '.opencode/opencode.jsonc',
  '.opencode/plugin/',
  '.opencode/plugins/',
]

/** Over the service's own variables: the rest of the project's configuration, and the skills of the project. */
export const OPENCODE_OWN_ENV = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
} as const

/**
 * Where the user's own configuration turns them on, opencode starts the language servers and formatters of the
 * project. This is a whole configuration, so one of the service's environment counts instead.
 */
export const OPENCODE_DEFAULT_ENV = {
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    lsp: false,
    formatter: false,
    // else its turn ends with the first request that is refused
    experimental: { continue_loop_on_deny: true },
  }),
} as const

/**
 * Claude Code reads the project's scheduled tasks whatever its setting sources are: it sends their prompts to its model, and
 * writes into `.git/info/exclude`.
 */
export const CLAUDE_OWN_ENV = { CLAUDE_CODE_DISABLE_CRON: '1' } as const

/** For `AgentSpec.instructions`. */
export const CLAUDE_INSTRUCTIONS = [
  ['CLAUDE.md', 'AGENTS.md'],
  ['.claude/CLAUDE.md'],
  ['CLAUDE.local.md'],
]
export const OPENCODE_INSTRUCTIONS = [['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md']]
export const CODEX_INSTRUCTIONS = [['AGENTS.override.md', 'AGENTS.md']]
export const GEMINI_INSTRUCTIONS = [['GEMINI.md']]
