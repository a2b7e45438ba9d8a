import { Command } from 'commander'
import { explain, memoryRootOption, nearestRootOption, stateDirOption } from '../command.ts'
import type { WorkspaceOptions } from '../find-workspace.ts'

export function command(): Command {
  const mcp = new Command('mcp')
    .description('Run an MCP server on standard input and output.')
    .action(async (options: WorkspaceOptions) => {
      const { serveMcp } = await import('../mcp/serve-mcp.ts')
      await serveMcp(options)
    })
  return explain(mcp, {
    examples: [
      ['claude mcp add casefile -- casefile mcp', 'Claude Code; docs/mcp.md has other clients.'],
      ['casefile mcp --root ~/shop', 'Another folder.'],
    ],
    more: 'Agents read cases, sessions, proof and memory files, add to memory files, propose plans and attach proof. They cannot approve, verify, resolve or delete. It uses the running service. Without one it reads the files, and locks the workspace only while it writes.',
    shared: [nearestRootOption(), memoryRootOption(), stateDirOption()],
  })
}
