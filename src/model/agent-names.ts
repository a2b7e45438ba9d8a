/** The agents that Casefile knows: each has a folder in src/runners/agents/. */
export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const
export type AgentName = (typeof AGENT_NAMES)[number]

/** Those whose hooks the service understands: Casefile does not start the last two. */
export const HOOK_AGENTS = [...AGENT_NAMES, 'cursor', 'vscode'] as const
export type HookAgent = (typeof HOOK_AGENTS)[number]

/** Their names for people. */
export const AGENT_TITLES: Readonly<Record<HookAgent, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  copilot: 'GitHub Copilot CLI',
  cursor: 'Cursor',
  vscode: 'VS Code',
}
