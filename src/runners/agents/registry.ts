import type { StreamName } from '../../model/settings.ts'
import type { Agent, CommandSpec } from './agent.ts'
import { claude } from './claude/run.ts'
import { codex } from './codex/run.ts'
import { copilot } from './copilot/run.ts'
import { createEventParser } from './event-parser.ts'
import { gemini } from './gemini/run.ts'
import { opencode } from './opencode/run.ts'
import type { CreateParser } from './parser-kit.ts'
import { createPlainParser } from './plain.ts'

/** The known agents, by the name of their command provider and of their output format. */
const AGENTS: Readonly<Record<Exclude<StreamName, 'plain'>, Agent>> = {
  claude,
  codex,
  copilot,
  gemini,
  opencode,
}

/**
 * The non-interactive modes of the known agents, as measured with the versions in docs/agents.md. Each reads its
 * prompt from standard input, because an argument is limited to 128 KiB and visible in `ps`. In Work mode nobody
 * can be asked, so anything not allowed is denied. Each gets the narrowest setting that lets it edit files and run
 * commands in the working folder; none allows everything.
 */
export const KNOWN_AGENTS: readonly CommandSpec[] = Object.values(AGENTS)

/** The parser of an output format. */
export function parserFor(format: StreamName): CreateParser {
  if (format === 'plain') return createPlainParser
  return (shown) => createEventParser(shown, AGENTS[format].events)
}
