import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { Option } from 'commander'
import type { ApiReader } from '../client/client.ts'
import { type CaseFieldRow, FIELD_LIST, FILTERED, type NamedField } from '../model/case-fields.ts'
import { usualEndings } from '../model/outcomes.ts'
import { KNOWN_PROOF_TYPES } from '../model/suggested-values.ts'
import { visibleText } from '../model/visible-text.ts'
import { realFolder } from '../settings/workdir.ts'
import { workspaceFoldersIn } from '../settings/workspace-folders.ts'
import { listOption } from './command.ts'
import type { ReadContext } from './context.ts'
import { resolveCase } from './resolve/case.ts'

/** The option for a field of a new case, from its row in model/case-fields.ts. */
export function fieldOption(row: CaseFieldRow): Option {
  const { kind, about, known, option } = row
  const none = row.placeholder ?? (row.default || undefined)
  if (kind === 'words') return listOption(option!, `${about}. Repeatable.`)
  if (kind === 'markdown') return new Option(option!, `${about}; - reads standard input.`)
  const text = known ? `${about}: ${known.join(', ')}, or another word.` : `${about}.`
  return new Option(option!, none === undefined ? text : `${text} Default: ${none}.`)
}

/** Turns the options of a command into the body of a request. */
export async function fieldValues(
  client: ApiReader,
  fields: readonly NamedField[],
  options: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, kind, option } of fields) {
    if (option === undefined) continue
    const given = options[new Option(option).attributeName()]
    if (given === undefined) continue
    if (kind === 'case') values[name] = await resolveCase(client, String(given))
    else values[name] = kind === 'markdown' && given === '-' ? await readAll(process.stdin) : given
  }
  return values
}

const PROOF_TYPE = { name: 'proof type', known: KNOWN_PROOF_TYPES as readonly string[] }

/** Says which values are allowed, but may be mistakes. */
export async function sayUnusual(
  { terminal, workspace }: ReadContext,
  { workdir, provider, ...values }: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const { name, known } of [...FIELD_LIST, PROOF_TYPE]) {
    const value = values[name]
    if (typeof value === 'string' && known && !known.includes(value))
      terminal.warn(`note: ${visibleText(value)} is no usual ${name}, such as ${known.join(', ')}`)
  }
  if (typeof provider === 'string') {
    // loaded only here, because it loads all agents
    const { listProviders } = await import('../sessions/providers.ts')
    const settings = await workspaceFoldersIn(workspace, terminal.warn).settings()
    const names = listProviders(settings).map(({ id }) => id)
    if (!names.includes(provider))
      terminal.warn(
        `note: sessions cannot start before casefile.md defines ${visibleText(provider)}; providers are ${names.join(', ')}`,
      )
  }
  const { root } = workspace
  if (typeof workdir === 'string' && (await realFolder(resolve(root, workdir))) === null)
    terminal.warn(
      `note: sessions cannot start before ${visibleText(workdir)} is a folder in ${root}`,
    )
}

/** The options that filter lists of cases. */
export function filterOptions(): Option[] {
  return FILTERED.map(({ filter, example }) =>
    listOption(`--${filter} <${filter}>`, `Only cases with this ${filter}, such as ${example}.`),
  )
}

/** The values that a person means: `wont-fix` is the state WONT_FIX, and the outcome WontFix. */
export function meantValues({ name, known, values }: NamedField, text: string): string[] {
  const letters = (each: string) => each.toLowerCase().replace(/[^a-z]/g, '')
  const same = (values ?? known ?? []).filter((each) => letters(each) === letters(text))
  if (same.length > 0 || name !== 'outcome') return same.length > 0 ? same : [text]
  const endings = ['bug', 'feature'].flatMap(usualEndings)
  const meant = endings.filter(({ word }) => word === text.toLowerCase())
  return meant.length > 0 ? meant.map(({ outcome }) => outcome) : [text]
}
