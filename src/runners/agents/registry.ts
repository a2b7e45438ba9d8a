import { AGENT_NAMES, type AgentName } from '../../model/agent-names.ts'
import type { StreamName } from '../../model/settings.ts'
import type { Agent } from './agent.ts'
import type { AgentFolder } from './agent-folder.ts'
import { createEventParser } from './event-parser.ts'
import type { CreateParser } from './parser-kit.ts'
import { createPlainParser } from './plain.ts'

/** Loaded by their names, so that an agent is a folder here and a name in the model. No folder may import this file. */
const folders = AGENT_NAMES.map(async (name) => {
  const { folder } = (await import(`./${name}/agent.ts`)) as { folder: AgentFolder }
  return [name, folder] as const
})

export const AGENTS = Object.fromEntries(await Promise.all(folders)) as Record<
  AgentName,
  AgentFolder
>

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
