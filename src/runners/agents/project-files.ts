/**
 * Values for `AgentSpec.projectFiles`. In an untrusted folder Copilot still starts the servers of custom agents,
 * and over ACP it runs hooks.
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

/** What Gemini CLI reads with `--skip-trust`. In 0.61 its policies are turned off. */
export const GEMINI_FILES: readonly string[] = [
  '.env',
  '.gemini/.env',
  '.gemini/policies/',
  '.gemini/agents/',
]

/**
 * What opencode 1.18 reads even with project configuration turned off: it imports plugins, installs the ones named,
 * and clones references.
 */
export const OPENCODE_FILES: readonly string[] = [
  'opencode.json',
  'opencode.jsonc',
  '.opencode/opencode.json',
  '.opencode/opencode.jsonc',
  '.opencode/plugin/',
  '.opencode/plugins/',
]

/** Overrides the service's variables: turns off the rest of the project's configuration, and its skills. */
export const OPENCODE_OWN_ENV = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
} as const

/**
 * Turns off language servers and formatters, which opencode starts in the project if the user's configuration turns
 * them on. This is a complete configuration, so one in the service's environment replaces it.
 */
export const OPENCODE_DEFAULT_ENV = {
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    lsp: false,
    formatter: false,
    // without this, its turn ends at the first denied request
    experimental: { continue_loop_on_deny: true },
  }),
} as const

/**
 * Claude Code runs the project's scheduled tasks whatever its settings say: it sends their prompts to its model and
 * writes to `.git/info/exclude`. This turns that off.
 */
export const CLAUDE_OWN_ENV = { CLAUDE_CODE_DISABLE_CRON: '1' } as const

/** Values for `AgentSpec.instructions`. */
export const CLAUDE_INSTRUCTIONS = [
  ['CLAUDE.md', 'AGENTS.md'],
  ['.claude/CLAUDE.md'],
  ['CLAUDE.local.md'],
]
export const OPENCODE_INSTRUCTIONS = [['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md']]
export const CODEX_INSTRUCTIONS = [['AGENTS.override.md', 'AGENTS.md']]
export const GEMINI_INSTRUCTIONS = [['GEMINI.md']]
