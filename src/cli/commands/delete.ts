import { Command } from 'commander'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { isAgreed } from '../question.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  yes?: boolean
}

export function command(): Command {
  const remove = new Command('delete')
    .description('Delete a case with all its files, after asking.')
    .addArgument(caseArgument())
    .option('--yes', 'Delete without asking.')
    .action((name: string, options: Options) =>
      withService(options, (context) => run(context, name, options)),
    )
  return explain(remove, {
    examples: [
      ['casefile delete "sign-in"', 'Read the question, answer y.'],
      ['casefile delete c12d --yes', 'Delete in a script.'],
    ],
    more: 'Git can restore only what was committed. Stop a running session first.',
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

async function run(context: CommandContext, name: string, { yes }: Options): Promise<ExitCode> {
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  const { title } = (await client.request('GET', `/cases/${id}`)).body
  const what = `${id.slice(0, 8)}  ${visibleText(title)}`
  const question = `${what}\nDelete this case with its sessions, proof and notes? [y/N] `
  if (!(await isAgreed(context, { yes, question }))) {
    terminal.warn('not deleted')
    return EXIT.notApproved
  }
  const { body } = await client.request('DELETE', `/cases/${id}`)
  terminal.print(json ? jsonText(body) : `deleted  ${what}\n`)
  return EXIT.done
}
