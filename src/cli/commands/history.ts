import { Command } from 'commander'
import { caseArgument, explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { historyText } from '../output/history-text.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

export function command(): Command {
  const history = new Command('history')
    .description('Show what happened to a case: who, what and why.')
    .addArgument(caseArgument())
    .action((name: string, options: CommandOptions) =>
      withReader(options, (context) => run(context, name)),
    )
  return explain(history, {
    examples: [['casefile history "sign-in"', 'Oldest entry first.']],
    exits: [EXIT.unknown],
  })
}

async function run({ client, terminal, json }: ReadContext, name: string): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const { body } = await client.request('GET', `/cases/${id}/history`)
  terminal.print(json ? jsonText(body) : historyText(body, terminal))
  return EXIT.done
}
