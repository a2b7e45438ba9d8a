import { Command } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import type { CaseJson } from '../../http/schemas/case.ts'
import { AppError } from '../../model/app-error.ts'
import { CASE_FIELDS, FIELD_LIST } from '../../model/case-fields.ts'
import { KNOWN_OUTCOMES } from '../../model/suggested-values.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { fieldOption } from '../field-options.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { commitCommand } from '../output/next-commit.ts'
import { shownLine } from '../output/shown-line.ts'
import { statusOf, statusText } from '../output/status-text.ts'
import { resolveCase } from '../resolve/case.ts'
import { findEnding } from '../resolve/ending.ts'

const SHOWN = FIELD_LIST.filter(({ name }) => name !== 'state')

interface Options extends CommandOptions {
  outcome?: string
  reason?: string
}

export function command(): Command {
  const resolve = new Command('resolve')
    .description('Resolve a case whose proof is verified, or close it without a fix.')
    .addArgument(caseArgument())
    .option(
      '--outcome <outcome>',
      `How it ends: fixed, wont-fix, duplicate, not-a-bug, ${KNOWN_OUTCOMES.join(', ')}, or another word.`,
    )
    .addOption(fieldOption(CASE_FIELDS.reason))
    .action((name: string, options: Options) =>
      withService(options, async (context) => {
        const id = await resolveCase(context.client, name)
        const { type } = (await context.client.request('GET', `/cases/${id}`)).body
        const { state, ...ending } = await findEnding(context, type, options.outcome)
        return setState(context, id, state, { reason: options.reason, ...ending })
      }),
    )
  return explain(resolve, {
    examples: [
      ['casefile resolve "sign-in"', 'Choose how it ends.'],
      [
        'casefile resolve "sign-in" --outcome fixed',
        'ConfirmedCodeBug, or FeatureShipped for a feature.',
      ],
      [
        'casefile resolve "sign-in" --outcome wont-fix',
        'Also duplicate and not-a-bug: needs no proof.',
      ],
    ],
    exits: [EXIT.unknown, EXIT.gateShut],
  })
}

/** Also for `casefile set`, which sets other fields too: all, or none. */
export async function setState(
  { client, terminal, json, workspace }: CommandContext,
  id: string,
  wanted: string,
  fields: object,
  known?: CaseJson,
): Promise<ExitCode> {
  const body = { ...fields, state: wanted.toUpperCase().replaceAll('-', '_') }
  const before: CaseJson = known ?? (await client.request('GET', `/cases/${id}`)).body
  const answer = await client
    .request('PUT', `/cases/${id}/state`, { body })
    .catch(async (error) => {
      throw await withMissing(error, client, id)
    })
  const after: CaseJson = answer.body
  if (json) {
    terminal.print(jsonText(after))
    return EXIT.done
  }
  const { state, title } = after
  terminal.print(`${id.slice(0, 8)}  ${state}  ${visibleText(title)}\n`)
  for (const line of changesOf(before, after)) terminal.say(line)
  if (state === 'RESOLVED') {
    const status = await statusOf(client, id)
    if (status.next !== null || status.tone === 'warn') terminal.say(statusText(status, id))
  }
  const commit = state === 'RESOLVED' ? await commitCommand(workspace, id) : null
  if (commit !== null) terminal.say(commit)
  return EXIT.done
}

/** What changed of a case, field by field; its state is in the line above. */
export function changesOf(before: CaseJson, after: CaseJson): string[] {
  const changed = SHOWN.filter(({ name }) => String(before[name]) !== String(after[name]))
  if (changed.length === 0 && before.state === after.state) return ['nothing changed']
  return changed.map(({ name, kind }) =>
    kind === 'markdown'
      ? `${name}: changed`
      : `${name}: ${shownValue(before[name])} → ${shownValue(after[name])}`,
  )
}

function shownValue(value: string | readonly string[] | null): string {
  return value === null || value.length === 0 ? 'none' : shownLine(String(value))
}

/** For people: what is missing, and the commands that add it. JSON has it in `missing`. */
async function withMissing(error: unknown, client: ApiReader, id: string): Promise<Error> {
  if (!(error instanceof AppError) || error.code !== 'proof_gate') return error as Error
  const { missing } = error.extra
  if (!Array.isArray(missing)) return error
  const message = [
    'Proof requirements are not met. Missing:',
    ...missing.map((what) => `  ${visibleText(String(what))}`),
    statusText(await statusOf(client, id), id),
  ].join('\n')
  return new AppError(error.code, message, { extra: error.extra, cause: error })
}
