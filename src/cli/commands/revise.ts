import { Command } from 'commander'
import type { SessionJson } from '../../http/schemas/session.ts'
import { counted } from '../../model/amounts.ts'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { followPlanning } from '../follow/follow.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/find-session.ts'

interface Options extends CommandOptions {
  note?: string
}

export function command(): Command {
  const revise = new Command('revise')
    .summary('Request a revised plan, with your note and comments.')
    .description('Request a revised plan, and wait for it. Sends your note and your comments.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('the newest that waits for approval'))
    .option(
      '-m, --note <text>',
      'What should change. Optional with comments that are not sent yet.',
    )
    .action((name: string, word: string | undefined, options: Options) =>
      withService(options, (context) => run(context, name, word, options)),
    )
  return explain(revise, {
    examples: [
      ['casefile revise "sign-in" -m "Leave the clock alone"', 'Request another plan.'],
      ['casefile revise "sign-in"', 'Send your comments (casefile session comment).'],
    ],
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted],
  })
}

async function run(
  context: CommandContext,
  name: string,
  word: string | undefined,
  { note }: Options,
): Promise<ExitCode> {
  const { client } = context
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word, { waiting: true })
  requireRequest(session, note)
  const path = `${sessionPath(session)}/revise`
  const answer = await client.request('POST', path, { body: { note } })
  sayWhatWasSent(context, session, note)
  if (session.provider === 'runbook' && !context.json) {
    const edit = `casefile session plan ${id.slice(0, 8)} ${session.number} --edit`
    context.terminal.warn(
      `a runbook plans this session, which does not read notes. Change the runbook, or edit the plan: ${edit}`,
    )
  }
  return followPlanning(context, answer.body)
}

/** Throws if there is nothing to send. */
function requireRequest(session: SessionJson, note: string | undefined): void {
  const { case_id, number, comments } = session
  if ((note !== undefined && note.trim() !== '') || comments.draft > 0) return
  const place = `${case_id.slice(0, 8)} ${number}`
  throw usageError(
    `Session ${number} has no comments to send. Say what should change with -m "…", or comment on the plan first: casefile session comment ${place} --line 1 -m "…"`,
  )
}

/** Reports how many comments went with a note. */
export function sayWhatWasSent(
  { terminal, json }: Pick<CommandContext, 'terminal' | 'json'>,
  { comments }: Pick<SessionJson, 'comments'>,
  note: string | undefined,
): void {
  if (json) return
  const parts = [
    ...(note === undefined || note.trim() === '' ? [] : ['your note']),
    ...(comments.draft === 0 ? [] : [counted(comments.draft, 'comment')]),
  ]
  if (parts.length > 0) terminal.say(`sent ${parts.join(' and ')}`)
}
