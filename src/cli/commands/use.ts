import { Argument, Command } from 'commander'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader, withService } from '../context.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  none?: boolean
}

interface CurrentCase {
  folder: string
  case_id: string | null
}

export function command(): Command {
  const use = new Command('use')
    .description('Say which case you work on in this folder, for the agents that you run here.')
    .addArgument(
      new Argument(
        '[case]',
        'Its id, the start of its id, or part of its title. Default: show it.',
      ),
    )
    .option('--none', 'No case is current here.')
    .action((name: string | undefined, options: Options) => {
      if (name === undefined && !options.none) return withReader(options, show)
      if (name !== undefined && options.none) throw usageError('Give a case or --none, not both.')
      return withService(options, async (context) => {
        const { client } = context
        const case_id = name === undefined ? null : await resolveCase(client, name)
        const body = { folder: process.cwd(), case_id }
        return print(context, (await client.request('PUT', '/current-case', { body })).body)
      })
    })
  return explain(use, {
    examples: [
      ['casefile use "sign-in"', 'Conversations that begin here belong to this case.'],
      ['casefile use', 'Which case is it?'],
    ],
    exits: [EXIT.unknown],
    more: 'CASEFILE_CASE in the environment of the agent, or the id of a case in the name of the branch, counts more.',
  })
}

async function show(context: ReadContext): Promise<ExitCode> {
  const query = new URLSearchParams({ folder: process.cwd() })
  return print(context, (await context.client.request('GET', `/current-case?${query}`)).body)
}

async function print(
  { client, terminal, json }: ReadContext,
  current: CurrentCase,
): Promise<ExitCode> {
  if (json) {
    terminal.print(jsonText(current))
    return EXIT.done
  }
  const { folder, case_id } = current
  const where = folder === '.' ? 'the workspace' : visibleText(folder)
  if (case_id === null) {
    terminal.print(`no case is current in ${where}\n`)
    return EXIT.done
  }
  const { title } = (await client.request('GET', `/cases/${case_id}`)).body
  terminal.print(`${case_id.slice(0, 8)}  ${visibleText(title)}\n`)
  terminal.say(`It is current in ${where}.`)
  return EXIT.done
}
