import { text as readAll } from 'node:stream/consumers'
import { Command } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import type { CaseJson } from '../../http/schemas/case.ts'
import { FIELD_LIST, type NamedField } from '../../model/case-fields.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { sayUnusual } from '../field-options.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'
import { changesOf, setState } from './resolve.ts'

/** The fields that can be set. */
export const SET_FIELDS: readonly NamedField[] = FIELD_LIST.filter(
  ({ name, option }) => option !== undefined || name === 'state',
)
const NAMES = SET_FIELDS.map(({ name }) => name).join(', ')

export function command(): Command {
  const set = new Command('set')
    .description('Set fields of a case: its state, title, tags and others.')
    .addArgument(caseArgument())
    .argument('[field=value...]', `Fields: ${NAMES}. Default: edit the description.`)
    .action((name: string, words: string[], options: CommandOptions) =>
      withService(options, (context) => run(context, name, words)),
    )
  return explain(set, {
    examples: [
      ['casefile set "sign-in" title="Sign-in fails after a day"', 'Change the title.'],
      ['casefile set c12d state=blocked reason="Waits for ops"', 'Change the state.'],
      ['casefile set c12d type=feature tag=auth tag=web', 'Replace its tags.'],
      ['casefile set c12d parent=', 'Remove a value.'],
      ['casefile set c12d', 'Edit the description in your editor.'],
    ],
    exits: [EXIT.unknown, EXIT.gateShut],
    more: 'description=- reads standard input. reason= without state= keeps the state.',
  })
}

async function run(
  context: CommandContext,
  name: string,
  words: readonly string[],
): Promise<ExitCode> {
  const given = parseWords(words)
  const { client } = context
  const id = await resolveCase(client, name)
  const before = await client.request('GET', `/cases/${id}`)
  const values = await valuesOf(client, given)
  await sayUnusual(context, values)
  const { reason, ...rest } = values
  const { state = reason === undefined ? undefined : before.body.state, ...fields } = rest
  if (state === undefined) {
    if (words.length === 0) return editDescription(context, before)
    await send(context, before.body, fields)
    return EXIT.done
  }
  return setState(context, id, String(state), { ...fields, reason }, before.body)
}

type Values = Record<string, string | string[] | null>

/** The fields with their values as they were typed; several of a list. */
function parseWords(words: readonly string[]): Map<NamedField, string[]> {
  const given = new Map<NamedField, string[]>()
  for (const word of words) {
    const [, name, value] = /^([a-z]+)=(.*)$/s.exec(word) ?? []
    if (name === undefined || value === undefined) {
      throw usageError(`Expected field=value, got "${visibleText(word)}". Fields: ${NAMES}.`)
    }
    const field = SET_FIELDS.find((each) => each.name === name || each.filter === name)
    if (!field) throw usageError(`There is no field "${name}". Fields: ${NAMES}.`)
    const before = given.get(field) ?? []
    if (before.length > 0 && field.kind !== 'words') throw usageError(`Set ${name}= only once.`)
    given.set(field, [...before, value])
  }
  return given
}

async function valuesOf(
  client: ApiReader,
  given: ReadonlyMap<NamedField, readonly string[]>,
): Promise<Values> {
  const values: Values = {}
  for (const [{ name, kind, required }, texts] of given) {
    const [text = ''] = texts
    if (kind === 'words') {
      values[name] = texts.flatMap((each) => each.split(',')).filter((each) => each !== '')
    } else if (kind === 'markdown') {
      values[name] = text === '-' ? await readAll(process.stdin) : text
    } else if (text === '' && !required) values[name] = null
    else values[name] = kind === 'case' ? await resolveCase(client, text) : text
  }
  return values
}

/** Sends the edited text only if the case has not changed in between. */
async function editDescription(
  context: CommandContext,
  { body: present, etag }: { body: CaseJson; etag: string | null },
): Promise<ExitCode> {
  const { terminal, json, signal } = context
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  const editing = { name: 'description.md', signal, onSaved }
  await withEdited(present.description, editing, async (description) => {
    if (description !== present.description) {
      await send(context, present, { description }, etag)
      return
    }
    terminal.warn('the description was not changed')
    if (json) terminal.print(jsonText(present))
  })
  return EXIT.done
}

async function send(
  { client, terminal, json }: CommandContext,
  before: CaseJson,
  body: object,
  etag: string | null = null,
): Promise<void> {
  const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag }
  const { body: changed } = await client.request('PUT', `/cases/${before.id}`, { body, headers })
  if (json) return terminal.print(jsonText(changed))
  terminal.print(`${changed.id.slice(0, 8)}  ${changed.state}  ${visibleText(changed.title)}\n`)
  for (const line of changesOf(before, changed)) terminal.say(line)
}
