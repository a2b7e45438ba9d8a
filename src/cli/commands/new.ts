import { text as readAll } from 'node:stream/consumers'
import { Command } from 'commander'
import { KNOWN_CASE_TYPES } from '../../model/known-words.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain, several } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  type?: string
  description?: string
  tag?: string[]
  parent?: string
  workdir?: string
  provider?: string
}

export function command(): Command {
  const create = new Command('new')
    .description('Create a case.')
    .argument('<title>', 'The problem or request, on one line.')
    .option('-d, --description <text>', 'Description, as markdown; - reads standard input.')
    .option(
      '--type <type>',
      `Type of case: ${KNOWN_CASE_TYPES.join(', ')}, or a word of your own. Default: bug.`,
    )
    .addOption(several('--tag <tag>', 'A tag. Repeatable.'))
    .option('--parent <case>', 'The case that this one belongs to.')
    .option('--workdir <dir>', 'Working folder of its sessions. Default: the workspace.')
    .option('--provider <name>', 'Provider of its sessions. Default: that of the workspace.')
    .action((title: string, options: Options) =>
      withService(options, (context) => run(context, title, options)),
    )
  return explain(create, {
    examples: [
      ['casefile new "Sign-in fails" --tag auth', 'Create a bug with a tag.'],
      ['casefile new "Export as CSV" --type feature -d - < wish.md', 'Describe it in a file.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function run(
  { client, terminal, json }: CommandContext,
  title: string,
  { type, description, tag, parent, workdir, provider }: Options,
): Promise<ExitCode> {
  const fields = {
    title,
    type,
    workdir,
    provider,
    tags: tag,
    description: description === '-' ? await readAll(process.stdin) : description,
    parent: parent === undefined ? undefined : await resolveCase(client, parent),
  }
  const { body } = await client.request('POST', '/cases', { body: fields })
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(`${body.id}  ${visibleText(body.title)}\n`)
    terminal.say(`Next: casefile start ${body.id.slice(0, 8)}`)
  }
  return EXIT.done
}
