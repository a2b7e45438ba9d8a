import { Command } from 'commander'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { sayStatus } from '../output/status-text.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'

interface Options extends CommandOptions {
  reason?: string
}

export function command(): Command {
  const abandon = new Command('abandon')
    .description('Stop a session and everything it runs.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument())
    .option('--reason <text>', 'Why it is stopped.')
    .action((name: string, word: string | undefined, options: Options) =>
      withService(options, (context) => run(context, name, word, options)),
    )
  return explain(abandon, {
    examples: [['casefile abandon c12d 2 --reason "Solved by hand"', 'Stop session 2.']],
    exits: [EXIT.unknown],
  })
}

async function run(
  { client, terminal, json }: CommandContext,
  name: string,
  word: string | undefined,
  { reason }: Options,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word)
  const answer = await client.request('POST', `${sessionPath(session)}/abandon`, {
    body: { reason },
  })
  if (json) terminal.print(jsonText(answer.body))
  else {
    terminal.print(`session ${session.number} is abandoned\n`)
    await sayStatus({ client, terminal }, id)
  }
  return EXIT.done
}
