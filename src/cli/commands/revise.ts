import { Command } from 'commander'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { followPlanning } from '../follow/follow.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'

interface Options extends CommandOptions {
  note: string
}

export function command(): Command {
  const revise = new Command('revise')
    .description('Request a revised plan and wait for it.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('the newest that waits for approval'))
    .requiredOption('-m, --note <text>', 'What should change.')
    .action((name: string, word: string | undefined, options: Options) =>
      withService(options, (context) => run(context, name, word, options)),
    )
  return explain(revise, {
    examples: [['casefile revise "sign-in" -m "Leave the clock alone"', 'Request another plan.']],
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted],
  })
}

async function run(
  context: CommandContext,
  name: string,
  word: string | undefined,
  { note }: Options,
): Promise<ExitCode> {
  const { client } = context
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word, { waiting: true })
  const path = `${sessionPath(session)}/revise`
  const answer = await client.request('POST', path, { body: { note } })
  return followPlanning(context, answer.body)
}
