import { Command } from 'commander'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { caseText } from '../output/case-text.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { historyText } from '../output/history-text.ts'
import { jsonText } from '../output/json.ts'
import { printSession } from '../output/session-text.ts'
import { sayStatus } from '../output/status-text.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession } from '../resolve/find-session.ts'
import { wholeCase, wholeCaseWithContents } from '../resolve/whole-case.ts'

interface Options extends CommandOptions {
  history?: boolean
}

export function command(): Command {
  const show = new Command('show')
    .description('Show a case, or one of its sessions.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('show the case itself'))
    .option('--history', 'Show what happened to the case: who, what and why.')
    .action((name: string, word: string | undefined, options: Options) =>
      withReader(options, (context) => run(context, name, word, options)),
    )
  return explain(show, {
    examples: [
      ['casefile show "sign-in"', 'Find a case by part of its title.'],
      ['casefile show c12d latest', 'Show its newest session.'],
      ['casefile show c12d --history', 'All that happened, oldest first.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function run(
  context: ReadContext,
  name: string,
  word: string | undefined,
  { history }: Options,
): Promise<ExitCode> {
  if (history && word !== undefined) throw usageError('--history is of the case: name no session.')
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  if (history) {
    const { body } = await client.request('GET', `/cases/${id}/history`)
    terminal.print(json ? jsonText(body) : historyText(body, terminal))
    return EXIT.done
  }
  if (word !== undefined) {
    const session = await resolveSession(client, id, word)
    if (json) terminal.print(jsonText(session))
    else await printSession(context, session)
    return EXIT.done
  }
  if (json) {
    terminal.print(jsonText(await wholeCaseWithContents(client, id)))
    return EXIT.done
  }
  const [whole, triage] = await Promise.all([
    wholeCase(client, id),
    client.request('GET', `/triage?named=${id}`),
  ])
  const [row]: TriageRowJson[] = triage.body
  terminal.print(caseText(whole, row?.needs ?? null, context))
  terminal.say('')
  await sayStatus(context, id)
  return EXIT.done
}
