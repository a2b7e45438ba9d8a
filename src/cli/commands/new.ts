import { Command } from 'commander'
import { CASE_FIELDS, NEW_CASE_FIELDS } from '../../model/case-fields.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { fieldOption, fieldValues } from '../field-options.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'

type Options = CommandOptions & Readonly<Record<string, unknown>>

const OFFERED = NEW_CASE_FIELDS.filter(({ required, option }) => option && !required)

export function command(): Command {
  const create = new Command('new')
    .description('Create a case.')
    .argument('<title>', `${CASE_FIELDS.title.about}.`)
  for (const field of OFFERED) create.addOption(fieldOption(field))
  create.action((title: string, options: Options) =>
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
  options: Options,
): Promise<ExitCode> {
  const fields = { title, ...(await fieldValues(client, OFFERED, options)) }
  const { body } = await client.request('POST', '/cases', { body: fields })
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(`${body.id}  ${visibleText(body.title)}\n`)
    terminal.say(`Next: casefile start ${body.id.slice(0, 8)}`)
  }
  return EXIT.done
}
