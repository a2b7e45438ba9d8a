import { text as readAll } from 'node:stream/consumers'
import { Option } from 'commander'
import type { ApiReader } from '../client/client.ts'
import { type CaseFieldRow, FILTERED, type NamedField } from '../model/case-fields.ts'
import { listOption } from './command.ts'
import { resolveCase } from './resolve/case.ts'

/** The command of an option: `edit` can also remove a value. */
type For = 'new' | 'edit'

/** The option for a field of a case, from its row in model/case-fields.ts. */
export function fieldOption(row: CaseFieldRow, command: For = 'new'): Option {
  const flags = row.option!
  const help = [`${textOf(row)}.`, endOf(row, command)].join(' ').trim()
  if (row.kind === 'words') return listOption(flags, help)
  const hasEditor = row.kind === 'markdown' && command === 'edit'
  return new Option(hasEditor ? flags.replace(/<(\w+)>/, '[$1]') : flags, help)
}

function textOf({ kind, about, known }: CaseFieldRow): string {
  if (kind === 'markdown') return `${about}; - reads standard input`
  return known ? `${about}: ${known.join(', ')}, or another word` : about
}

function endOf(row: CaseFieldRow, command: For): string {
  const none = row.placeholder ?? (row.default || undefined)
  if (row.kind === 'words') {
    return command === 'edit' ? 'Replaces the existing ones. Repeatable.' : 'Repeatable.'
  }
  if (row.kind === 'markdown') return command === 'edit' ? 'Without a text $EDITOR opens.' : ''
  if (command === 'edit') return row.required ? '' : `"" for ${none ?? 'none'}.`
  return none === undefined ? '' : `Default: ${none}.`
}

/** Turns the options of a command into the body of a request. */
export async function fieldValues(
  client: ApiReader,
  fields: readonly NamedField[],
  options: Readonly<Record<string, unknown>>,
  command: For = 'new',
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, kind, required, option } of fields) {
    if (option === undefined) continue
    const given = options[new Option(option).attributeName()]
    if (given === undefined || given === true) continue // true: the person edits it
    const isRemoved = given === '' && command === 'edit' && !required
    if (isRemoved) values[name] = null
    else if (kind === 'case') values[name] = await resolveCase(client, String(given))
    else values[name] = kind === 'markdown' && given === '-' ? await readAll(process.stdin) : given
  }
  return values
}

/** The options that filter lists of cases. */
export function filterOptions(): Option[] {
  return FILTERED.map(({ filter, example }) =>
    listOption(`--${filter} <${filter}>`, `Only cases with this ${filter}, such as ${example}.`),
  )
}
