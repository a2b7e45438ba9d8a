import { Command } from 'commander'
import { SETTABLE } from '../../model/case-fields.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { fieldOption, fieldValues } from '../field-options.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

type Options = CommandOptions & Readonly<Record<string, unknown>>

export function command(): Command {
  const edit = new Command('edit')
    .description('Change the title, description, type, tags or other fields of a case.')
    .addArgument(caseArgument())
  for (const field of SETTABLE.filter(({ option }) => option))
    edit.addOption(fieldOption(field, 'edit'))
  edit.action((name: string, options: Options) =>
    withService(options, (context) => run(context, name, options)),
  )
  return explain(edit, {
    examples: [
      ['casefile edit "sign-in" --title "Sign-in fails after a day"', 'Change the title.'],
      ['casefile edit c12d --type feature --tag auth --tag web', 'Change type and tags.'],
      ['casefile edit c12d', 'Edit the description in your editor.'],
    ],
    exits: [EXIT.unknown],
    more: 'Without an option, the description opens in your editor. "" removes a value, and --tag replaces all tags. casefile state changes the state.',
  })
}

async function run(context: CommandContext, name: string, options: Options): Promise<ExitCode> {
  const { client } = context
  const id = await resolveCase(client, name)
  const fields = await fieldValues(client, SETTABLE, options, 'edit')
  if (options.description === true || Object.keys(fields).length === 0)
    return editDescription(context, id, fields)
  await send(context, id, fields)
  return EXIT.done
}

/** Sends the edited text only if the case has not changed in between. */
async function editDescription(
  context: CommandContext,
  id: string,
  fields: object,
): Promise<ExitCode> {
  const { client, terminal, json, signal } = context
  if (!terminal.canAsk && !process.env.VISUAL && !process.env.EDITOR) {
    throw usageError('Nothing to change: name an option such as --title, or - after --description.')
  }
  const { body: present, etag } = await client.request('GET', `/cases/${id}`)
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited(
    present.description,
    { name: 'description.md', signal, onSaved },
    async (text) => {
      if (text !== present.description) {
        await send(context, id, { ...fields, description: text }, etag)
        return
      }
      terminal.warn('the description was not changed')
      if (json) terminal.print(jsonText(present))
    },
  )
  return EXIT.done
}

async function send(
  { client, terminal, json }: CommandContext,
  id: string,
  fields: object,
  etag: string | null = null,
): Promise<void> {
  const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag }
  const { body } = await client.request('PUT', `/cases/${id}`, { body: fields, headers })
  if (json) terminal.print(jsonText(body))
  else terminal.print(`${id.slice(0, 8)}  ${body.state}  ${visibleText(body.title)}\n`)
}
