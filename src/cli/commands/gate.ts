import { Command } from 'commander'
import { caseArgument, explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { gateText } from '../output/gate-text.ts'
import { jsonText } from '../output/json.ts'
import { sayStatus } from '../output/status-text.ts'
import { resolveCase } from '../resolve/case.ts'

export function command(): Command {
  const gate = new Command('gate')
    .description('Show what is missing before a case can be resolved.')
    .addArgument(caseArgument())
    .action((name: string, options: CommandOptions) =>
      withReader(options, (context) => run(context, name)),
    )
  return explain(gate, {
    examples: [
      ['casefile gate "sign-in" && casefile resolve "sign-in"', 'Resolve it if it is proved.'],
    ],
    exits: [EXIT.unknown, EXIT.gateShut],
  })
}

async function run({ client, terminal, json }: ReadContext, name: string): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const { body } = await client.request('GET', `/cases/${id}/gate`)
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(gateText(body, terminal))
    terminal.say('')
    await sayStatus({ client, terminal }, id)
  }
  return body.open ? EXIT.done : EXIT.gateShut
}
