import { Command, Option } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { SESSION_TYPES } from '../../model/case-state.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { followPlanning } from '../follow/follow.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { requirePersistentService } from '../persistent-service.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession } from '../resolve/session.ts'

interface Options extends CommandOptions {
  type?: string
  provider?: string
  note?: string
  /** The session that failed; true for the newest. */
  again?: string | true
  detach?: boolean
}

export function command(): Command {
  const start = new Command('start')
    .description('Start a session and wait for its plan.')
    .addArgument(caseArgument())
    .addOption(
      new Option(
        '--type <type>',
        'What the session should do. Default: implementing, or that of the failed session.',
      ).choices(SESSION_TYPES),
    )
    .option('--provider <name>', 'Agent to use.')
    .option('--note <text>', 'Instructions for the agent.')
    .option('--again [session]', 'Plan again after a failed session. Default: the newest.')
    .option('--detach', 'Do not wait for the plan. Needs a running service.')
    .action((name: string, options: Options) =>
      withService(options, (context) => run(context, name, options)),
    )
  return explain(start, {
    examples: [
      ['casefile start "sign-in"', 'Plan a change.'],
      [
        'casefile start c12d --type investigating --note "Look at the clock first"',
        'Plan an investigation.',
      ],
      ['casefile start c12d --again', 'Plan again; the agent sees why the newest session failed.'],
    ],
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted],
  })
}

async function run(
  context: CommandContext,
  name: string,
  { type, provider, note, again, detach }: Options,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  if (detach) requirePersistentService(context, 'plan')
  const id = await resolveCase(client, name)
  const body =
    again === undefined
      ? { type: type ?? 'implementing', provider, note }
      : { again: await failedSession(client, id, again), type, provider, note }
  const answer = await client.request('POST', `/cases/${id}/sessions`, { body })
  const session: SessionJson = answer.body
  if (!detach) return followPlanning(context, session)
  if (json) terminal.print(jsonText(session))
  else {
    const next = `casefile tail ${id.slice(0, 8)}`
    terminal.print(`session ${session.number} is planning. Follow it with: ${next}\n`)
  }
  return EXIT.done
}

async function failedSession(client: ApiReader, id: string, again: string | true): Promise<string> {
  return (await resolveSession(client, id, again === true ? undefined : again)).id
}
