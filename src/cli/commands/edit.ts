import { text as readAll } from 'node:stream/consumers'
import { Command } from 'commander'
import { KNOWN_CASE_TYPES } from '../../model/known-words.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain, several } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  title?: string
  /** True where the option came without a text. */
  description?: string | true
  type?: string
  tag?: string[]
  parent?: string
  workdir?: string
  provider?: string
}

export function command(): Command {
  const edit = new Command('edit')
    .description('Change the title, description, type, tags or other fields of a case.')
    .addArgument(caseArgument())
    .option('--title <text>', 'New title, on one line.')
    .option(
      '-d, --description [text]',
      'New description, as markdown; - reads standard input. Without a text $EDITOR opens.',
    )
    .option('--type <type>', `New type: ${KNOWN_CASE_TYPES.join(', ')}, or a word of your own.`)
    .addOption(several('--tag <tag>', 'New tags, which replace the present ones. Repeatable.'))
    .option('--parent <case>', 'The case that this one belongs to; "" for none.')
    .option('--workdir <dir>', 'Working folder of its sessions; "" for the workspace.')
    .option('--provider <name>', 'Provider of its sessions; "" for the default.')
    .action((name: string, options: Options) =>
      withService(options, (context) => run(context, name, options)),
    )
  return explain(edit, {
    examples: [
      ['casefile edit "sign-in" --title "Sign-in fails after a day"', 'Change the title.'],
      ['casefile edit c12d --type feature --tag auth --tag web', 'Change type and tags.'],
      ['casefile edit c12d', 'Edit the description in your editor.'],
    ],
    exits: [EXIT.unknown],
    more: 'Without an option the description opens in $VISUAL or $EDITOR. The state is changed with casefile state.',
  })
}

async function run(context: CommandContext, name: string, options: Options): Promise<ExitCode> {
  const { client } = context
  const { title, description, type, tag, parent, workdir, provider } = options
  const id = await resolveCase(client, name)
  const orNone = (text: string | undefined) => (text === '' ? null : text)
  const fields = {
    title,
    type,
    tags: tag,
    workdir: orNone(workdir),
    provider: orNone(provider),
    parent: parent ? await resolveCase(client, parent) : orNone(parent),
    description:
      description === '-'
        ? await readAll(process.stdin)
        : description === true
          ? undefined
          : description,
  }
  const isGiven = Object.values(fields).some((value) => value !== undefined)
  if (description === true || !isGiven) return editDescription(context, id, fields)
  await send(context, id, fields)
  return EXIT.done
}

/** What was edited is sent only if nobody changed the case in between. */
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
  const kept = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited(present.description, { name: 'description.md', signal, kept }, async (text) => {
    if (text !== present.description) {
      await send(context, id, { ...fields, description: text }, etag)
      return
    }
    terminal.warn('the description was not changed')
    if (json) terminal.print(jsonText(present))
  })
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
