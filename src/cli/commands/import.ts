import { Command } from 'commander'
import { itemsOf } from '../../client/pages.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import type { PlannedCase } from '../../import/plan.ts'
import { SLUG, SLUG_RULE } from '../../model/name-patterns.ts'
import { visibleText } from '../../model/visible-text.ts'
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
import type { Input } from '../import/input.ts'
import { makeCases } from '../import/make-cases.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { table } from '../output/table.ts'

interface Options extends CommandOptions {
  from?: string
  repo?: string
  project?: string
  type?: string
  dryRun?: boolean
}

export function command(): Command {
  const imported = new Command('import')
    .description('Create cases from the tasks of another tool.')
    .argument(
      '<file or folder>',
      'Output of gh issue list --json, a project with Backlog.md, or a list in the JSON form of docs/exchange.md; - reads standard input.',
    )
    .option('--dry-run', 'Only show what would be created.')
    .option('--from <tool>', `The tool: ${TOOLS.join(', ')}. Default: recognised by the content.`)
    .option('--repo <owner/name>', 'Repository of GitHub issues without a url.')
    .option(
      '--project <name>',
      'Tells tasks apart if you import several projects with the same ids.',
    )
    .option('--type <type>', "Type of all cases. Default: the task's type or labels.")
    .action(async (named: string, options: Options) => {
      const input = await readList(named, options)
      if (options.dryRun) await withReader(options, (context) => preview(context, input, options))
      else await withService(options, (context) => importCases(context, input, options))
    })
  return explain(imported, {
    examples: [
      ['casefile import issues.json --dry-run', 'Look first.'],
      [
        'gh issue list --json number,title,body,url | casefile import -',
        'Import straight from gh.',
      ],
      ['casefile import .', 'Import the tasks of Backlog.md in this project.'],
    ],
    more: 'Tasks that have a case are skipped. docs/exchange.md says what becomes of each field.',
  })
}

/** What is to be imported. */
interface List {
  planned: readonly PlannedCase[]
  /** What is not imported. */
  warnings: readonly string[]
  /** The cases that are there. */
  known: Known
}

type Known = ReadonlyMap<string, TriageRowJson>

async function readList(named: string, options: Options): Promise<Input> {
  const { from, repo, project, type } = options
  if (from !== undefined && !TOOLS.includes(from)) {
    throw usageError(`--from is "${from}". Expected one of ${TOOLS.join(', ')}.`)
  }
  const { REPOSITORY } = await import('../../import/github.ts')
  if (repo !== undefined && !REPOSITORY.test(repo)) {
    throw usageError(`--repo is "${repo}". Expected owner/name, as in ada/shop.`)
  }
  if (project !== undefined && !PROJECT.test(project)) {
    throw usageError(`--project is "${project}". Expected a short name, as in shop or ada/shop.`)
  }
  if (type !== undefined && !SLUG.test(type)) {
    throw usageError(`--type is "${type}". Expected ${SLUG_RULE}.`)
  }
  await findWorkspace(options) // fails before a long list is read
  const { readInput } = await import('../import/input.ts')
  return await readInput(named, from)
}

/** Turns the tasks into cases. Rejects the whole list if anything in it is wrong. */
async function plannedCases(
  { client }: ReadContext,
  { importer, files }: Input,
  { repo, project, type }: Options,
): Promise<List> {
  const { planImport } = await import('../../import/plan.ts')
  const known = new Map<string, TriageRowJson>()
  for await (const row of itemsOf<TriageRowJson>(client, '/triage')) known.set(row.id, row)
  const now = new Date().toISOString()
  const read = importer.read(files, { repository: repo, project })
  return {
    planned: await planImport(read, importer, { type, now }),
    warnings: read.warnings,
    known,
  }
}

/** Here, so that the command's help loads no importer. */
const TOOLS: readonly string[] = ['backlog', 'github', 'json']
const PROJECT = /^[\p{L}\p{N}][\p{L}\p{N}._-]*(?:\/[\p{L}\p{N}._-]+)?$/u

async function preview(context: ReadContext, input: Input, options: Options): Promise<ExitCode> {
  const list = await plannedCases(context, input, options)
  const made = list.planned.filter(({ id }) => !list.known.has(id))
  report(context, list, { made, isDry: true })
  return EXIT.done
}

async function importCases(
  context: CommandContext,
  input: Input,
  options: Options,
): Promise<ExitCode> {
  const list = await plannedCases(context, input, options)
  const { planned, known } = list
  const made = new Set<PlannedCase>()
  const progress = progressLine(context.terminal)
  const began = Date.now()
  const onMade = (each: PlannedCase) => {
    made.add(each)
    if (made.size % 10 === 0) progress.show(`${made.size} of ${planned.length} cases`, began)
  }
  try {
    await makeCases(context.client, planned, { known: new Set(known.keys()), onMade })
  } finally {
    progress.end()
  }
  report(context, list, { made: planned.filter((each) => made.has(each)), isDry: false })
  return EXIT.done
}

interface Outcome {
  /** In the order of the list. */
  made: readonly PlannedCase[]
  isDry: boolean
}

function report(
  { terminal, json }: ReadContext,
  { planned, warnings: notImported, known }: List,
  { made, isDry }: Outcome,
): void {
  const warnings = [...warningsAbout(made), ...notImported, ...clashes(planned, known)]
  const present = planned.length - made.length
  if (json) {
    const cases = made.map(({ id, source, value }) => ({
      id,
      source,
      state: value.state,
      type: value.type,
      title: value.title,
    }))
    terminal.print(jsonText({ dry_run: isDry, made: made.length, present, warnings, cases }))
    return
  }
  if (isDry || made.length <= SHOWN) {
    const rows = made.map(({ id, name, value }) => [
      { text: id.slice(0, 8), paint: terminal.color.cyan },
      { text: value.state },
      { text: visibleText(name) },
      { text: visibleText(value.title) },
    ])
    terminal.print(table(rows, { width: terminal.width(), cuts: [[3, 12]] }))
  } else terminal.print(byState(made))
  const verb = isDry ? 'would be created' : made.length === 1 ? 'was created' : 'were created'
  const there = present === 0 ? '' : `; ${present} of the list ${isOrAre(present)} here already`
  terminal.say(`${cases(made.length)} ${verb}${there}`)
  for (const warning of warnings) terminal.say(visibleText(warning))
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

function warningsAbout(made: readonly PlannedCase[]): string[] {
  const done = made.filter(({ value }) => value.state === 'COMPRESSED').length
  const runs = made.filter(({ value }) => RUN_FENCE.test(value.description)).length
  return [
    ...(done > 0
      ? [`${done} done: these become COMPRESSED, because only verified proof makes a case RESOLVED`]
      : []),
    ...(runs > 0
      ? [`${runs} with code fences that the text marks run: a plan would run them as steps`]
      : []),
  ]
}

/** A task of another project with the same id would be left out silently. */
function clashes(planned: readonly PlannedCase[], known: Known): string[] {
  const others = planned.filter(({ id, created_at }) => {
    const present = known.get(id)?.created_at
    return present !== undefined && created_at !== null && present !== created_at
  })
  if (others.length === 0) return []
  const [first] = others
  return [
    `${others.length} skipped, but created at another time than the case with this id (${first!.name}): if they are from another project, import them with --project <name>`,
  ]
}

function cases(count: number): string {
  return `${count} case${count === 1 ? '' : 's'}`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
