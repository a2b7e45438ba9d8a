import { Command, InvalidArgumentError, Option } from 'commander'
import { Refusal } from '../../model/refusal.ts'
import type { ServeOptions } from '../../serve.ts'
import { EXIT } from '../output/exit-codes.ts'
import type { WorkspaceOptions } from '../find-workspace.ts'
import { consoleRootOption, memoryRootOption, rootOption, stateDirOption } from './arguments.ts'
import { explained } from './explained.ts'

/** What runs until it is stopped. */
export function serviceCommands(sample: string): Command[] {
  return [serveCommand(), mcpCommand(), demoCommand(sample)]
}

function serveCommand(): Command {
  const command = new Command('serve')
    .description('serve a workspace on 127.0.0.1')
    .addOption(rootOption())
    .addOption(
      new Option('--port <n>', 'the port; 0 takes a free one')
        .env('CASEFILE_PORT')
        .default(7878)
        .argParser(portOf),
    )
    .addOption(memoryRootOption())
    .addOption(stateDirOption())
    .addOption(
      new Option('--trust', 'trust, without asking, what casefile trust shows').default(false),
    )
    .addOption(
      new Option('--no-mount', 'do not keep agents from writing by read-only mounts').env(
        'CASEFILE_NO_MOUNT',
      ),
    )
    .addOption(
      new Option('--dev', 'answer the provider endpoints too').env('CASEFILE_DEV').default(false),
    )
    .option('--json', 'say where it listens as one JSON object on a line')
    .action(async (options: ServeOptions, command: Command) => {
      const isEnv = (name: string) => command.getOptionValueSource(name) === 'env' // commander takes any value for on
      const chosen = {
        ...options,
        ...(isEnv('dev') ? { dev: switchOf('CASEFILE_DEV') } : {}),
        ...(isEnv('mount') ? { mount: !switchOf('CASEFILE_NO_MOUNT') } : {}),
      }
      const { serve } = await import('../../serve.ts')
      await serve(chosen)
    })
  return explained(command, {
    examples: [
      ['casefile serve', 'this folder, at http://127.0.0.1:7878'],
      ['casefile serve --root ~/shop --port 0', 'another folder, at any free port'],
    ],
  })
}

function mcpCommand(): Command {
  const command = new Command('mcp')
    .description('give agents the cases over MCP, on standard input and output')
    .addOption(consoleRootOption())
    .addOption(memoryRootOption())
    .addOption(stateDirOption())
    .action(async (options: WorkspaceOptions) => {
      const { serveMcp } = await import('../mcp/serve-mcp.ts')
      await serveMcp(options)
    })
  return explained(command, {
    examples: [
      ['claude mcp add casefile -- casefile mcp', 'for Claude Code; docs/mcp.md has other clients'],
      ['casefile mcp --root ~/shop', 'another folder'],
    ],
    more: 'Agents read cases, sessions, proof and memory files, add to memory files, propose plans and attach proof. They can neither approve, verify, resolve nor delete. It uses the running service; without one it reads the files, and owns them for the length of a write.',
  })
}

function demoCommand(sample: string): Command {
  const command = new Command('demo')
    .description('play the whole flow on a temporary copy of the sample workspace')
    .option('--yes', 'approve the plan without asking')
    .option('--keep', 'leave the temporary copy, to look around in it')
    .option('--json', 'tell the story on standard error, and what came of it as JSON')
    .action(async (options: { yes?: boolean; keep?: boolean; json?: boolean }) => {
      const { demo } = await import('../../demo/demo.ts')
      process.exit(await demo(sample, options)) // see serve
    })
  return explained(command, {
    examples: [['casefile demo --keep', 'and look around in it afterwards']],
    exits: [EXIT.interrupted],
  })
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a number from 0 to 65535.')
}

function switchOf(name: string): boolean {
  const text = process.env[name] ?? ''
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new Refusal('bad_request', `${name} is "${text}". Set it to 1 or true, 0 or false.`)
}
