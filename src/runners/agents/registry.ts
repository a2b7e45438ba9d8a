import type { AgentName } from '../../model/agent-names.ts'
import type { StreamName } from '../../model/settings.ts'
import type { Agent } from './agent.ts'
import { claudeDialect } from './claude/hooks.ts'
import { claudeHooks } from './claude/install.ts'
import { claude } from './claude/run.ts'
import { codexDialect } from './codex/hooks.ts'
import { codexHooks } from './codex/install.ts'
import { codex } from './codex/run.ts'
import { copilotDialect } from './copilot/hooks.ts'
import { copilotHooks } from './copilot/install.ts'
import { copilot } from './copilot/run.ts'
import { createEventParser } from './event-parser.ts'
import { geminiDialect } from './gemini/hooks.ts'
import { geminiHooks } from './gemini/install.ts'
import { gemini } from './gemini/run.ts'
import type { HookDialect } from './hooks/hook-event.ts'
import type { AgentHooks } from './install/agent-hooks.ts'
import { opencodeDialect } from './opencode/hooks.ts'
import { opencodeHooks } from './opencode/install.ts'
import { opencode } from './opencode/run.ts'
import type { CreateParser } from './parser-kit.ts'
import { createPlainParser } from './plain.ts'

/** What the folder of an agent has: how it runs, how its hooks speak, and how they are installed. */
interface AgentFolder {
  run: Agent
  hooks: HookDialect
  install: AgentHooks
}

export const AGENTS: Readonly<Record<AgentName, AgentFolder>> = {
  claude: { run: claude, hooks: claudeDialect, install: claudeHooks },
  codex: { run: codex, hooks: codexDialect, install: codexHooks },
  gemini: { run: gemini, hooks: geminiDialect, install: geminiHooks },
  opencode: { run: opencode, hooks: opencodeDialect, install: opencodeHooks },
  copilot: { run: copilot, hooks: copilotDialect, install: copilotHooks },
}

/**
 * The non-interactive modes of the known agents, as measured with the versions in docs/agents.md. Each reads its
 * prompt from standard input, because an argument is limited to 128 KiB and visible in `ps`. In Work mode nobody
 * can be asked, so anything not allowed is denied. Each gets the narrowest setting that lets it edit files and run
 * commands in the working folder; none allows everything.
 */
export const KNOWN_AGENTS: readonly Agent[] = Object.values(AGENTS).map(({ run }) => run)

/** The parser of an output format. */
export function parserFor(format: StreamName): CreateParser {
  if (format === 'plain') return createPlainParser
  return (shown) => createEventParser(shown, AGENTS[format].run.events)
}
