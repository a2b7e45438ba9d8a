import { Command } from 'commander'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { gateText } from '../output/gate-text.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  type: string
  required?: boolean
}

export function command(): Command {
  const item = new Command('item')
    .description('Add an item to the proof checklist of a case.')
    .addArgument(caseArgument())
    .argument('<text>', 'What the proof should show, on one line.')
    .option('--type <type>', 'Type of proof that satisfies it.', 'test-log')
    .option('--required', 'The case cannot be resolved without it.')
    .action((name: string, text: string, options: Options) =>
      withService(options, (context) => run(context, name, text, options)),
    )
  return explain(item, {
    examples: [
      ['casefile item "sign-in" "All tests pass" --required', 'Require a passing test log.'],
      ['casefile item c12d "Seen in the browser" --type screenshot', 'Add an optional item.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function run(
  { client, terminal, json }: CommandContext,
  name: string,
  description: string,
  { type, required = false }: Options,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const body = { description, type, required }
  const answer = await client.request('POST', `/cases/${id}/proof/checklist`, { body })
  if (json) terminal.print(jsonText(answer.body))
  else terminal.print(gateText((await client.request('GET', `/cases/${id}/gate`)).body, terminal))
  return EXIT.done
}
