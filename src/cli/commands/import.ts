import { Command } from 'commander'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import type { PlannedCase } from '../../import/import-plan.ts'
import { REPOSITORY } from '../../import/source.ts'
import { visibleText } from '../../model/visible-text.ts'
import { SLUG, SLUG_RULE } from '../../model/words.ts'
import { explain } from '../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../context.ts'
import { findWorkspace } from '../find-workspace.ts'
import { progressLine } from '../follow/progress-line.ts'
import { inputOf } from '../import/input.ts'
import { makeCases } from '../import/make-cases.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { table } from '../output/table.ts'

interface Options extends CommandOptions {
  repo?: string
  type?: string
  dryRun?: boolean
}

export function command(): Command {
  const imported = new Command('import')
    .description('Create cases from GitHub issues.')
    .argument('<file>', 'Output of gh issue list --json; - reads standard input.')
    .option('--dry-run', 'Only show what would be created.')
    .option('--repo <owner/name>', 'Repository of issues without a url.')
    .option('--type <type>', 'Type of all cases. Default: feature or bug, by their labels.')
    .action(async (file: string, options: Options) => {
      const planned = await plannedCases(file, options)
      if (options.dryRun) await withReader(options, (context) => preview(context, planned))
      else await withService(options, (context) => importCases(context, planned))
    })
  return explain(imported, {
    examples: [
      ['casefile import issues.json --dry-run', 'Look first.'],
      [
        'gh issue list --json number,title,body,url | casefile import -',
        'Import straight from gh.',
      ],
    ],
    more: 'Issues that already have a case are skipped, so repeating an import creates only new cases. docs/exchange.md lists the fields to ask gh for.',
  })
}

/** Turns a list of GitHub issues into cases. Rejects the whole list if anything in it is wrong. */
async function plannedCases(file: string, options: Options): Promise<PlannedCase[]> {
  const { repo, type } = options
  if (repo !== undefined && !REPOSITORY.test(repo)) {
    throw usageError(`--repo is "${repo}". Expected owner/name, as in ada/shop.`)
  }
  if (type !== undefined && !SLUG.test(type)) {
    throw usageError(`--type is "${type}". Expected ${SLUG_RULE}.`)
  }
  await findWorkspace(options) // fails before a long list is read
  const now = new Date().toISOString()
  const { parseIssues } = await import('../../import/issue-list.ts')
  const { planImport } = await import('../../import/import-plan.ts')
  return planImport(parseIssues(await inputOf(file)), { repository: repo, type, now })
}

async function preview(context: ReadContext, planned: readonly PlannedCase[]): Promise<ExitCode> {
  const known = await knownIn(context)
  await report(context, planned, { made: planned.filter(({ id }) => !known.has(id)), isDry: true })
  return EXIT.done
}

async function importCases(
  context: CommandContext,
  planned: readonly PlannedCase[],
): Promise<ExitCode> {
  const made = new Set<PlannedCase>()
  const progress = progressLine(context.terminal)
  const began = Date.now()
  const onMade = (each: PlannedCase) => {
    made.add(each)
    if (made.size % 10 === 0) progress.show(`${made.size} of ${planned.length} cases`, began)
  }
  try {
    await makeCases(context.client, planned, { known: await knownIn(context), onMade })
  } finally {
    progress.end()
  }
  await report(context, planned, { made: planned.filter((each) => made.has(each)), isDry: false })
  return EXIT.done
}

async function knownIn({ client }: ReadContext): Promise<Set<string>> {
  const { body } = await client.request('GET', '/triage')
  return new Set((body as TriageRowJson[]).map(({ id }) => id))
}

interface Outcome {
  /** In the order of the list. */
  made: readonly PlannedCase[]
  isDry: boolean
}

async function report(
  { terminal, json }: ReadContext,
  planned: readonly PlannedCase[],
  { made, isDry }: Outcome,
): Promise<void> {
  const present = planned.length - made.length
  if (json) {
    const cases = made.map(({ id, source, value }) => ({
      id,
      source: source.url,
      state: value.state,
      type: value.type,
      title: value.title,
    }))
    terminal.print(jsonText({ dry_run: isDry, made: made.length, present, cases }))
    return
  }
  if (isDry || made.length <= SHOWN) {
    const rows = made.map(({ id, source, value }) => [
      { text: id.slice(0, 8), paint: terminal.color.cyan },
      { text: value.state },
      { text: source.name },
      { text: visibleText(value.title) },
    ])
    terminal.print(table(rows, { width: terminal.width(), cuts: [[3, 12]] }))
  } else terminal.print(byState(made))
  const verb = isDry ? 'would be created' : made.length === 1 ? 'was created' : 'were created'
  const there = present === 0 ? '' : `; ${present} of the list ${isOrAre(present)} here already`
  terminal.say(`${cases(made.length)} ${verb}${there}`)
  for (const warning of warnings(made)) terminal.say(warning)
  if (!isDry && made.length > 0) terminal.say('Next: casefile list')
}

/** Longer lists are only summarized. */
const SHOWN = 20

function byState(made: readonly PlannedCase[]): string {
  const counts = new Map<string, number>()
  for (const { value } of made) counts.set(value.state, (counts.get(value.state) ?? 0) + 1)
  const rows = [...counts].map(([state, count]) => [{ text: String(count) }, { text: state }])
  return table(rows)
}

/** A code fence that is a step of a plan; keep in line with `markdown/plan-steps.ts`. */
const RUN_FENCE = /^ {0,3}(?:`{3,}|~{3,})[ \t]*[a-z]+[ \t]+run\b/m

function warnings(made: readonly PlannedCase[]): string[] {
  const done = made.filter(({ value }) => value.state === 'COMPRESSED').length
  const runs = made.filter(({ value }) => RUN_FENCE.test(value.description)).length
  return [
    ...(done > 0
      ? [
          `${done} closed as completed: these become COMPRESSED, because only verified proof makes a case RESOLVED`,
        ]
      : []),
    ...(runs > 0
      ? [
          `${runs} with code fences that the author of the issue marked run: a plan would run them as steps`,
        ]
      : []),
  ]
}

function cases(count: number): string {
  return `${count} case${count === 1 ? '' : 's'}`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
