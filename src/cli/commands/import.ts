import { type PlannedCase, planImport } from '../../import/import-plan.ts'
import { issuesIn } from '../../import/issue-list.ts'
import { REPOSITORY } from '../../import/source.ts'
import { visibleText } from '../../model/visible-text.ts'
import { SLUG, SLUG_RULE } from '../../model/words.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { progressLine } from '../follow/progress-line.ts'
import { inputOf } from '../import/input.ts'
import { makeCases } from '../import/make-cases.ts'
import { findWorkspace } from '../find-workspace.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import { jsonText } from '../output/json.ts'
import { table } from '../output/table.ts'
import { wrongUsage } from '../usage.ts'

export interface ImportOptions extends ConsoleOptions {
  repo?: string
  type?: string
  dryRun?: boolean
}

/** What a list of GitHub issues makes, before anything is written: a wrong one refuses it as a whole. */
export async function plannedCases(file: string, options: ImportOptions): Promise<PlannedCase[]> {
  const { repo, type } = options
  if (repo !== undefined && !REPOSITORY.test(repo)) {
    throw wrongUsage(`--repo is "${repo}". Expected owner/name, as in ada/shop.`)
  }
  if (type !== undefined && !SLUG.test(type)) {
    throw wrongUsage(`--type is "${type}". Expected ${SLUG_RULE}.`)
  }
  await findWorkspace(options) // long lists take a while to be read
  const now = new Date().toISOString()
  return planImport(issuesIn(await inputOf(file)), { repository: repo, type, now })
}

/** `casefile import --dry-run`: says what an import would make. */
export async function previewImport(
  console: ReadingConsole,
  planned: readonly PlannedCase[],
): Promise<ExitCode> {
  const known = await knownIn(console)
  await tell(console, planned, { made: planned.filter(({ id }) => !known.has(id)), isDry: true })
  return EXIT.done
}

/** `casefile import`: makes a case of each issue that has none. */
export async function importCases(
  console: Console,
  planned: readonly PlannedCase[],
): Promise<ExitCode> {
  const made = new Set<PlannedCase>()
  const progress = progressLine(console.terminal)
  const began = Date.now()
  const onMade = (each: PlannedCase) => {
    made.add(each)
    if (made.size % 100 === 0) progress.show(`${made.size} of ${planned.length} cases`, began)
  }
  try {
    await makeCases(console.client, planned, { known: await knownIn(console), onMade })
  } finally {
    progress.end()
  }
  await tell(console, planned, { made: planned.filter((each) => made.has(each)), isDry: false })
  return EXIT.done
}

async function knownIn({ client }: ReadingConsole): Promise<Set<string>> {
  const { body } = await client.request('GET', '/triage')
  return new Set((body as { id: string }[]).map(({ id }) => id))
}

interface Outcome {
  /** In the order of the list. */
  made: readonly PlannedCase[]
  isDry: boolean
}

async function tell(
  { terminal, json }: ReadingConsole,
  planned: readonly PlannedCase[],
  { made, isDry }: Outcome,
): Promise<void> {
  const present = planned.length - made.length
  if (json) {
    const cases = made.map(({ id, source, value }) => ({
      ...{ id, source: source.url, state: value.state, type: value.type, title: value.title },
    }))
    terminal.print(jsonText({ dry_run: isDry, made: made.length, present, cases }))
    return
  }
  const rows = made.map(({ id, source, value }) => [
    { text: id.slice(0, 8), paint: terminal.color.cyan },
    { text: value.state },
    { text: source.name },
    { text: visibleText(value.title) },
  ])
  terminal.print(await table(rows, { width: terminal.width(), cuts: [[3, 12]] }))
  const verb = isDry ? 'would be made' : made.length === 1 ? 'was made' : 'were made'
  const there = present === 0 ? '' : `; ${present} of the list ${isOrAre(present)} here already`
  terminal.say(`${cases(made.length)} ${verb}${there}`)
  for (const warning of warnings(made)) terminal.say(warning)
}

/** A fence that is a step of a plan, see `markdown/plan-steps.ts`. */
const RUN_FENCE = /^ {0,3}(?:`{3,}|~{3,})[ \t]*[a-z]+[ \t]+run\b/m

function warnings(made: readonly PlannedCase[]): string[] {
  const done = made.filter(({ value }) => value.state === 'VERIFYING').length
  const runs = made.filter(({ value }) => RUN_FENCE.test(value.description)).length
  return [
    ...(done > 0
      ? [`${done} closed as completed: VERIFYING, as a case is RESOLVED by verified proof alone`]
      : []),
    ...(runs > 0
      ? [
          `${runs} with fences marked run, by whoever wrote the issue: they would be steps of a plan`,
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
