import { Command } from 'commander'
import { caseArgument, explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { gateText } from '../output/gate-text.ts'
import { jsonText } from '../output/json.ts'
import { nextProof, nextProofText, unappliedWork } from '../output/next-proof.ts'
import { resolveCase } from '../resolve/case.ts'
import { sessionsOf } from '../resolve/session.ts'

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
    const unapplied = unappliedWork(await sessionsOf(client, id))
    for (const text of unapplied.texts) terminal.say(text)
    const { state } = (await client.request('GET', `/cases/${id}`)).body
    if (state !== 'RESOLVED') {
      const { texts, commands } = body.open
        ? { texts: [], commands: [`casefile resolve ${id.slice(0, 8)}`] }
        : await nextProof(client, id)
      const next = { texts, commands: [...unapplied.commands, ...commands] }
      terminal.say(`\n${nextProofText(next)}`)
    }
  }
  return body.open ? EXIT.done : EXIT.gateShut
}
