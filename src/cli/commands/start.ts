import { Command, Option } from 'commander'
import type { ApiReader, Client } from '../../client/client.ts'
import { changeMemory } from '../../client/memory-change.ts'
import type { CaseJson } from '../../http/schemas/case.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import type { CaseSetupJson } from '../../http/schemas/setup.ts'
import type { StatusJson } from '../../http/schemas/status.ts'
import { AppError } from '../../model/app-error.ts'
import { isClosedState } from '../../model/attention.ts'
import { SESSION_TYPES, type SessionType, usualSessionType } from '../../model/case-state.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import { ISOLATIONS, OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../model/visible-text.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { followPlanning } from '../follow/follow.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { requirePersistentService } from '../persistent-service.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionsOf } from '../resolve/find-session.ts'

interface Options extends CommandOptions {
  type?: SessionType
  provider?: string
  note?: string
  isolation?: string
  /** The session that failed; true for the newest. */
  again?: string | true
  detach?: boolean
  runTests?: boolean
  intent?: string
  paths?: string[]
  commands?: string[]
  proof?: string[]
  yes?: boolean
}

export function command(): Command {
  const start = new Command('start')
    .description('Start a session: with an intent, or with a plan that it waits for.')
    .addArgument(caseArgument())
    .addOption(
      new Option('--type <type>', 'What it should do. Default: as the case needs.').choices(
        SESSION_TYPES,
      ),
    )
    .option('--provider <name>', 'Agent to use.')
    .option('--note <text>', 'Instructions for the agent.')
    .addOption(
      new Option('--isolation <word>', 'Default: as the case or casefile.md says.').choices(
        ISOLATIONS,
      ),
    )
    .option('--again [session]', 'Plan again after a failed session.')
    .option('--run-tests', 'Plan to run just the tests; writes a runbook.md.')
    .option('--intent <sentence>', 'What should be done; nothing plans.')
    .option('--paths <globs...>', 'With --intent: what may be written, in quotes.')
    .option('--commands <commands...>', 'With --intent: what may run besides reading.')
    .option('--proof <commands...>', 'With --intent: what proves it. Default: the tests.')
    .option('--yes', 'With --intent: approve it without asking.')
    .option('--detach', 'Do not wait. Needs a running service.')
    .action((name: string, options: Options) =>
      withService(options, (context) => run(context, name, options)),
    )
  return explain(start, {
    examples: [
      ['casefile start "sign-in"', 'Plan a change.'],
      [
        `casefile start c12d --intent "Reject old tokens" --paths 'src/login/**'`,
        'Approve what you want, and where.',
      ],
      ['casefile start c12d --type investigating --note "See the clock"', 'Plan an investigation.'],
      ['casefile start c12d --run-tests', 'Plan to run just the tests; no agent is needed.'],
      ['casefile start c12d --again', 'Plan again; the agent sees why it failed.'],
    ],
    more: `Without an agent, the plan is a runbook: text with code blocks that are marked run. It is
part of the case's description (casefile open <case> --edit), or runbook.md in its folder:

  Update the year, then run the tests.

  \`\`\`sh run id=update
  sed -i s/2025/2026/ LICENSE
  \`\`\`
  \`\`\`sh run id=test proof=test
  npm test
  \`\`\``,
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.notApproved, EXIT.interrupted],
  })
}

async function run(context: CommandContext, name: string, options: Options): Promise<ExitCode> {
  const { client, terminal, json } = context
  const { type, provider: named, note, isolation, again, detach, runTests = false } = options
  const { intent, paths, commands = [], proof, yes } = options
  if (detach) requirePersistentService(context, 'plan')
  if (runTests && (again !== undefined || named !== undefined)) {
    throw usageError('--run-tests needs no agent: leave out --provider and --again.')
  }
  if (intent === undefined && (paths ?? options.commands ?? options.proof ?? yes) !== undefined) {
    throw usageError('--paths, --commands, --proof and --yes need --intent.')
  }
  if (intent !== undefined && (runTests || again !== undefined)) {
    throw usageError('--intent starts a new session: leave out --run-tests and --again.')
  }
  const id = await resolveCase(client, name)
  const { type: caseType, state }: CaseJson = (await client.request('GET', `/cases/${id}`)).body
  const chosen = type ?? usualSessionType(caseType)
  if (isClosedState(state))
    terminal.warn(
      `note: this case stays ${state}; to reopen it: casefile set ${id.slice(0, 8)} state=open`,
    )
  if (intent !== undefined) {
    const { startIntent } = await import('../follow/start-intent.ts')
    if (yes && paths === undefined)
      throw usageError('--yes needs --paths: nothing asks about them.')
    const { start }: StatusJson = (await client.request('GET', `/cases/${id}/status?intent=true`))
      .body
    const wanted = {
      intent,
      commands,
      ...(start?.intent ?? { paths: [], proof: [] }),
      ...(paths && { paths }),
      ...(proof && { proof }),
    }
    const how = { type: chosen, provider: named, note, isolation }
    return startIntent(context, id, { ...wanted, ...how }, { yes, detach })
  }
  const provider = runTests ? OWN_PROVIDER : named
  let planner = provider
  if (again === undefined && (provider === undefined || provider === OWN_PROVIDER)) {
    const { start }: StatusJson = (await client.request('GET', `/cases/${id}/status`)).body
    if (runTests) await writeTestsRunbook(client, id, start)
    else if (start?.plans_from === null) throw cannotPlan(id, start)
    planner ??= start?.provider
  }
  if (again === undefined && note === undefined && isolation === undefined)
    await requireNoneWaiting(client, id, { provider: planner, type: chosen })
  const body =
    again === undefined
      ? { type: chosen, provider, note, isolation }
      : { again: await failedSession(client, id, again), type, provider, note, isolation }
  const answer = await client.request('POST', `/cases/${id}/sessions`, { body })
  const session: SessionJson = answer.body
  if (!detach) return followPlanning(context, session)
  if (json) terminal.print(jsonText(session))
  else {
    const next = `casefile session watch ${id.slice(0, 8)}`
    terminal.print(`session ${session.number} is planning. Follow it with: ${next}\n`)
  }
  return EXIT.done
}

/** Throws if a plan waits that a new session would only repeat. */
async function requireNoneWaiting(
  client: ApiReader,
  id: string,
  { provider, type }: { provider: string | undefined; type: SessionType },
): Promise<void> {
  const all = (await sessionsOf(client, id)).filter(({ state }) => state === 'plan_ready')
  const waiting = all.find(
    (each) => each.type === type && each.provider === (provider ?? each.provider),
  )
  if (!waiting) return
  const name = `${id.slice(0, 8)} ${waiting.number}`
  const message = `No session was started: the plan of session ${waiting.number} waits already. To approve it: casefile approve ${name}. To plan it again: casefile revise ${name}. To start another: first casefile session stop ${name}`
  throw new AppError('already_exists', message)
}

/** Writes a runbook.md that runs the tests, if the case has none. */
async function writeTestsRunbook(
  client: Client,
  id: string,
  start: CaseSetupJson | null,
): Promise<void> {
  const path = `/cases/${id}/memory/${RUNBOOK_FILE}`
  if ((await client.rawRequest('GET', path)).status === 200) return
  const tests = start?.tests ?? null
  if (tests === null) {
    throw new AppError(
      'bad_request',
      'It is not known how the tests of this project are run. Say it once: casefile init --tests "make check"',
    )
  }
  await changeMemory(client, path, (present) => present ?? tests.runbook)
}

/** No session is made that could only say that there is nothing to plan with. */
function cannotPlan(id: string, { plans_from, tests }: CaseSetupJson): AppError {
  const name = id.slice(0, 8)
  const way =
    tests === null
      ? `casefile init --tests "make check"     say how the tests are run; then casefile start ${name} --run-tests`
      : `casefile start ${name} --run-tests     run just the tests of the project (${visibleText(tests.command)})`
  const text = `There is nothing to plan with: the case has no runbook.md and no run fences in its description,
casefile.md has no steps, and no agent is to plan. Choose one:

  casefile init --agent claude            let an agent plan; casefile doctor lists what is installed
  ${way}
  casefile open ${name} --edit           write a runbook into its description (casefile start --help shows one)`
  return new AppError('bad_request', text, { extra: { plans_from, tests } })
}

async function failedSession(client: ApiReader, id: string, again: string | true): Promise<string> {
  return (await resolveSession(client, id, again === true ? undefined : again)).id
}
