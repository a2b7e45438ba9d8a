import { Command } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import type { CaseJson } from '../../http/schemas/case.ts'
import { AppError } from '../../model/app-error.ts'
import { CASE_FIELDS } from '../../model/case-fields.ts'
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

export interface StateOptions extends CommandOptions {
  outcome?: string | null
  reason?: string | null
}

export function command(): Command {
  const resolve = new Command('resolve')
    .description('Resolve a case whose proof is verified, or close it without a fix.')
    .addArgument(caseArgument())
    .addOption(fieldOption(CASE_FIELDS.outcome))
    .addOption(fieldOption(CASE_FIELDS.reason))
    .action((name: string, options: StateOptions) =>
      withService(options, async (context) => {
        const id = await resolveCase(context.client, name)
        const { type } = (await context.client.request('GET', `/cases/${id}`)).body
        const { state, ...ending } = await findEnding(context, type, options.outcome ?? undefined)
        return setState(context, id, state, { ...options, ...ending })
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

/** Also runs `casefile set`. */
export async function setState(
  { client, terminal, json, workspace }: CommandContext,
  name: string,
  wanted: string,
  { outcome, reason }: StateOptions,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const body = { state: wanted.toUpperCase(), outcome, reason }
  const before: CaseJson = (await client.request('GET', `/cases/${id}`)).body
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
    if (status.next !== null) terminal.say(statusText(status, id))
  }
  const commit = state === 'RESOLVED' ? await commitCommand(workspace, id) : null
  if (commit !== null) terminal.say(`The record is not committed yet. Next: ${commit}`)
  return EXIT.done
}

/** What a command did to a case that already had this state. */
function changesOf(before: CaseJson, after: CaseJson): string[] {
  if (before.state !== after.state) return []
  const changed = (['outcome', 'reason'] as const)
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${shownValue(before[name])} → ${shownValue(after[name])}`)
  return changed.length > 0 ? changed : ['nothing changed']
}

function shownValue(value: string | null): string {
  return value === null ? 'none' : shownLine(value)
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
