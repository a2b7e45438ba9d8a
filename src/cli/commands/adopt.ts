import { Command } from 'commander'
import type { ConversationJson } from '../../http/schemas/conversation.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader, withService } from '../context.ts'
import { conversationTable } from '../output/conversation-table.ts'
import { EXIT, type ExitCode, exiting } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

export function command(): Command {
  const adopt = new Command('adopt')
    .description('Make a conversation with an agent part of a case.')
    .argument('[conversation]', 'The start of its id. Default: the newest that has no case.')
    .argument('[case]', 'Its id, the start of its id, or part of its title.')
    .action((first: string | undefined, second: string | undefined, options: CommandOptions) =>
      first === undefined
        ? withReader(options, list)
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
      ['casefile adopt', 'List the conversations that have no case.'],
      ['casefile adopt "sign-in"', 'The newest of them belongs to this case.'],
      ['casefile adopt 0d0a "sign-in"', 'Another one.'],
    ],
    exits: [EXIT.unknown],
    more: 'With one argument, it is the case. With none, it lists the conversations that have no case.',
  })
}

async function list({ client, terminal, json }: ReadContext): Promise<ExitCode> {
  const { body } = await client.request('GET', '/conversations')
  const unbound = body.filter(isWithoutCase)
  if (json) terminal.print(jsonText(unbound))
  else if (unbound.length === 0) terminal.say('Every conversation has a case.')
  else {
    terminal.print(conversationTable(unbound, terminal))
    terminal.say('\nNext: casefile adopt [conversation] <case>')
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
  const message = `${what}. List those without a case: casefile adopt`
  throw exiting(EXIT.unknown, new AppError('not_found', message))
}
