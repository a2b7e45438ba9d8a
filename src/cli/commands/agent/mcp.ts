import { Command } from 'commander'
import { explain, memoryRootOption, nearestRootOption, stateDirOption } from '../../command.ts'
import type { WorkspaceOptions } from '../../find-workspace.ts'

/** `casefile agent mcp`. */
export function mcpCommand(): Command {
  const mcp = new Command('mcp')
    .description('Run an MCP server on standard input and output.')
    .action(async (options: WorkspaceOptions) => {
      const { serveMcp } = await import('../../mcp/serve-mcp.ts')
      await serveMcp(options)
    })
  return explain(mcp, {
    examples: [
      ['claude mcp add casefile -- casefile agent mcp', 'Add it to Claude Code.'],
      ['casefile agent mcp --root ~/shop', 'Another folder.'],
    ],
    more: 'Agents read everything, add notes, propose plans and attach proof. They cannot approve, verify, resolve or delete. docs/hooks.md has the clients.',
    shared: [nearestRootOption(), memoryRootOption(), stateDirOption()],
  })
}
