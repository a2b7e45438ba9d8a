import { Command } from 'commander'
import type { QueueEntryJson } from '../../http/schemas/queue.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { waitsForText } from '../output/queue-text.ts'
import { table } from '../output/table.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'

/** `casefile queue …`: approved sessions that wait for their working folder. */
export function command(): Command {
  return new Command('queue')
    .description('Show the sessions that wait in line, and take one out.')
    .addCommand(list(), { isDefault: true })
    .addCommand(cancel())
}

function list(): Command {
  const command = new Command('list')
    .description('List the sessions that wait until their working folder is free.')
    .action((options: CommandOptions) => withReader(options, printQueue))
  return explain(command, {
    examples: [['casefile queue', 'See who waits, and for whom.']],
  })
}

function cancel(): Command {
  const command = new Command('cancel')
    .description('Take a session out of the line.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('the one in line'))
    .action((name: string, word: string | undefined, options: CommandOptions) =>
      withService(options, (context) => takeOut(context, name, word)),
    )
  return explain(command, {
    examples: [['casefile queue cancel "sign-in"', 'It does not start any more.']],
    exits: [EXIT.unknown],
  })
}

async function printQueue({ client, terminal, json }: ReadContext): Promise<ExitCode> {
  const entries: QueueEntryJson[] = (await client.request('GET', '/queue')).body
  if (json) terminal.print(jsonText(entries))
  else if (entries.length === 0) terminal.say('No session waits in line.')
  else terminal.print(table(entries.map(cells), { width: terminal.width() }))
  return EXIT.done
}

function cells(entry: QueueEntryJson) {
  const { title, case_id, number, position, folder, isolated } = entry
  return [
    { text: visibleText(title) },
    { text: case_id.slice(0, 8) },
    { text: `session ${number}` },
    { text: `place ${position}` },
    { text: isolated ? 'isolated' : visibleText(folder) },
    { text: waitsForText(entry) },
  ]
}

async function takeOut(
  { client, terminal, json }: CommandContext,
  name: string,
  word: string | undefined,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const entries: QueueEntryJson[] = (await client.request('GET', '/queue')).body
  const waiting = entries.find(({ case_id }) => case_id === id)
  const session = await resolveSession(client, id, word ?? waiting?.session_id)
  const { body } = await client.request('DELETE', `${sessionPath(session)}/queue`)
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(`session ${session.number} is out of the line; nothing was run\n`)
    terminal.say(`Its plan waits: casefile approve ${id.slice(0, 8)} ${session.number}`)
  }
  return EXIT.done
}
