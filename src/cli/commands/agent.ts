import { Argument, Command } from 'commander'
import type { ConversationJson } from '../../http/schemas/conversation.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain, withSubcommands } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader, withService } from '../context.ts'
import { conversationTable } from '../output/conversation-table.ts'
import { EXIT, type ExitCode, exiting, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'
import { installCommand, removeCommand, statusCommand, testCommand } from './agent/hooks.ts'
import { mcpCommand } from './agent/mcp.ts'
import { runCommand } from './agent/run.ts'

/** `casefile agent …`: the agents that people start themselves. */
export function command(): Command {
  const agent = new Command('agent').description(
    'Your own agents: gate them by their hooks, or connect them by MCP.',
  )
  return withSubcommands(agent, [
    installCommand(),
    statusCommand(),
    testCommand(),
    removeCommand(),
    runCommand(),
    useCommand(),
    adoptCommand(),
    mcpCommand(),
  ])
}

interface UseOptions extends CommandOptions {
  none?: boolean
}

interface CurrentCase {
  folder: string
  case_id: string | null
}

/** `casefile agent use`. */
function useCommand(): Command {
  const use = new Command('use')
    .summary('Choose the case that you work on in this folder.')
    .description('Say which case you work on in this folder, for the agents that you run here.')
    .addArgument(
      new Argument(
        '[case]',
        'Its id, the start of its id, or part of its title. Default: show it.',
      ),
    )
    .option('--none', 'No case is current here.')
    .action((name: string | undefined, options: UseOptions) => {
      if (name === undefined && !options.none) return withReader(options, showCurrent)
      if (name !== undefined && options.none) throw usageError('Give a case or --none, not both.')
      return withService(options, async (context) => {
        const { client } = context
        const case_id = name === undefined ? null : await resolveCase(client, name)
        const body = { folder: process.cwd(), case_id }
        return printCurrent(context, (await client.request('PUT', '/current-case', { body })).body)
      })
    })
  return explain(use, {
    examples: [
      ['casefile agent use "sign-in"', 'Conversations that begin here belong to this case.'],
      ['casefile agent use', 'Which case is it?'],
    ],
    exits: [EXIT.unknown],
    more: 'CASEFILE_CASE in the environment of the agent, or the id of a case in the name of the branch, counts more.',
  })
}

async function showCurrent(context: ReadContext): Promise<ExitCode> {
  const query = new URLSearchParams({ folder: process.cwd() })
  return printCurrent(context, (await context.client.request('GET', `/current-case?${query}`)).body)
}

async function printCurrent(
  { client, terminal, json }: ReadContext,
  current: CurrentCase,
): Promise<ExitCode> {
  if (json) {
    terminal.print(jsonText(current))
    return EXIT.done
  }
  const { folder, case_id } = current
  const where = folder === '.' ? 'the workspace' : visibleText(folder)
  if (case_id === null) {
    terminal.print(`no case is current in ${where}\n`)
    return EXIT.done
  }
  const { title } = (await client.request('GET', `/cases/${case_id}`)).body
  terminal.print(`${case_id.slice(0, 8)}  ${visibleText(title)}\n`)
  terminal.say(`It is current in ${where}.`)
  return EXIT.done
}

/** `casefile agent adopt`. */
function adoptCommand(): Command {
  const adopt = new Command('adopt')
    .description('Make a conversation with an agent part of a case.')
    .argument('[conversation]', 'The start of its id. Default: the newest that has no case.')
    .argument('[case]', 'Its id, the start of its id, or part of its title.')
    .action((first: string | undefined, second: string | undefined, options: CommandOptions) =>
      first === undefined
        ? withReader(options, listConversations)
        : withService(options, async (context) => {
            const { client, terminal, json } = context
            const [idPrefix, name] = second === undefined ? [null, first] : [first, second]
            const case_id = await resolveCase(client, name)
            const { id } = await findConversation(context, idPrefix)
            const path = `/conversations/${id}/adopt`
            const { body } = await client.request('POST', path, { body: { case_id } })
            terminal.print(
              json ? jsonText(body) : `${id.slice(0, 8)} belongs to ${case_id.slice(0, 8)}\n`,
            )
            if (!json) terminal.say('Its agent may change nothing until a plan is approved.')
            return EXIT.done
          }),
    )
  return explain(adopt, {
    examples: [
      ['casefile agent adopt', 'List the conversations that have no case.'],
      ['casefile agent adopt "sign-in"', 'The newest of them belongs to this case.'],
      ['casefile agent adopt 0d0a "sign-in"', 'Another one.'],
    ],
    exits: [EXIT.unknown],
    more: 'With one argument, it is the case. With none, it lists the conversations that have no case.',
  })
}

async function listConversations({ client, terminal, json }: ReadContext): Promise<ExitCode> {
  const { body } = await client.request('GET', '/conversations')
  const unbound = body.filter(isWithoutCase)
  if (json) terminal.print(jsonText(unbound))
  else if (unbound.length === 0) terminal.say('Every conversation has a case.')
  else {
    terminal.print(conversationTable(unbound, terminal))
    terminal.say('\nNext: casefile agent adopt [conversation] <case>')
  }
  return EXIT.done
}

const isWithoutCase = ({ case_id, needs_case }: ConversationJson) => case_id === null || needs_case

async function findConversation(
  { client }: ReadContext,
  idPrefix: string | null,
): Promise<ConversationJson> {
  const all: ConversationJson[] = (await client.request('GET', '/conversations')).body
  const fitting = all.filter((each) =>
    idPrefix === null ? isWithoutCase(each) : each.id.startsWith(idPrefix),
  )
  const [found] = fitting
  if (found && (idPrefix === null || fitting.length === 1)) return found
  const what =
    idPrefix === null
      ? 'Every conversation has a case already'
      : `${fitting.length === 0 ? 'No conversation has' : 'Several conversations have'} an id that begins with "${visibleText(idPrefix)}"`
  const message = `${what}. List those without a case: casefile agent adopt`
  throw exiting(EXIT.unknown, new AppError('not_found', message))
}
