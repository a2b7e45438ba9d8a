/** For `AgentSpec.projectFiles`. Copilot starts the servers of custom agents in a folder that it does not trust, too. */
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

/** What Gemini CLI reads once it has been told to skip the question of trust. */
export const GEMINI_FILES: readonly string[] = [
  '.env',
  '.gemini/.env',
  '.gemini/policies/',
  '.gemini/agents/',
]
