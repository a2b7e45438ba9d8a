import { Command } from 'commander'
import type { SyncResultJson } from '../../http/schemas/sync.ts'
import { counted } from '../../model/amounts.ts'
import { AppError } from '../../model/app-error.ts'
import { capital } from '../../model/one-line.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode, exiting } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { wrapped } from '../output/wrapped.ts'

interface Options extends CommandOptions {
  dryRun?: boolean
}

export function command(): Command {
  const sync = new Command('sync')
    .description('Share the record with your team: commit it, merge it, push it.')
    .option('--dry-run', 'Say what it would do. It still fetches.')
    .action((options: Options) =>
      orNotPushed(withService(options, (context) => run(context, options))),
    )
  return explain(sync, {
    examples: [
      ['casefile sync', 'Get what others pushed, and push what changed here.'],
      ['casefile sync --dry-run', 'Look first.'],
    ],
    more: 'Exit codes: 0 in sync, 1 done, but something could not be merged, 2 nothing was pushed. docs/git.md explains it.',
  })
}

/** By the state of the result. */
const CODES = { in_sync: EXIT.done, conflicts: EXIT.failed, stopped: EXIT.usage } as const

/** 1 would say that it was pushed. */
async function orNotPushed(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    throw error instanceof AppError ? exiting(EXIT.usage, error) : error
  }
}

async function run(
  { client, terminal, json }: CommandContext,
  { dryRun = false }: Options,
): Promise<ExitCode> {
  const { body } = await client.request('POST', '/sync', { body: { dry_run: dryRun } })
  const result = body as SyncResultJson
  if (json) terminal.print(jsonText(result))
  else terminal.print(wrapped(syncText(result), terminal.width(), '  '))
  return CODES[result.state]
}

function syncText(result: SyncResultJson): string {
  const { state, dry_run, committed, received, sent, upstream } = result
  const would = dry_run ? 'Would have ' : ''
  const did = (verb: string) => (dry_run ? `${would}${verb}` : capital(verb))
  const lines = [
    ...(committed
      ? [`${did('committed')} ${counted(committed.files, 'file')}${named(committed.cases)}.`]
      : []),
    ...moved(did('received'), received),
    ...result.renumbered.map(
      ({ case_id, from, to }) =>
        `Session ${from} of case ${case_id.slice(0, 8)} is now session ${to}: two clones had used its number.`,
    ),
    ...result.restored.map(
      ({ case_id }) =>
        `Case ${case_id.slice(0, 8)} stays: it was deleted in one clone and changed in another. Delete it again if nothing in it is needed.`,
    ),
    ...result.copies.map(
      ({ file, copy }) =>
        `CONFLICT in ${file}: your version stays, and the other one is ${copy}. Copy what you need from it, then delete it.`,
    ),
    ...(result.left.length > 0
      ? [`Not committed, as Casefile does not keep it: ${result.left.join(', ')}.`]
      : []),
    ...result.broken.map(({ file, message }) => `BROKEN by others: ${file}: ${message}.`),
    ...moved(did('sent'), sent),
  ]
  const last =
    state === 'stopped'
      ? `Nothing was pushed. ${result.reason ?? ''}`
      : dry_run
        ? `Nothing was changed.`
        : `In sync with ${upstream}.`
  return `${[...lines, last].map((line) => visibleText(line)).join('\n')}\n`
}

function moved(what: string, { commits, cases }: SyncResultJson['sent']): string[] {
  return commits === 0 ? [] : [`${what} ${counted(commits, 'commit')}${named(cases)}.`]
}

const MAX_NAMED = 3

function named(cases: SyncResultJson['sent']['cases']): string {
  if (cases.length === 0) return ''
  const titles = cases.slice(0, MAX_NAMED).map(({ title }) => title)
  const more =
    cases.length > MAX_NAMED ? ` and ${counted(cases.length - MAX_NAMED, 'more case')}` : ''
  return `: ${titles.join(', ')}${more}`
}
