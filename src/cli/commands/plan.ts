import { Command } from 'commander'
import type { PlanRevisionJson, SessionJson } from '../../http/schemas/session.ts'
import { explain, sessionArgument } from '../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { changeText } from '../output/plan-change.ts'
import { printPlan, printPlanned } from '../output/planned.ts'
import { shownLine } from '../output/shown-line.ts'
import { resolveOrChooseCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'

interface Options extends CommandOptions {
  edit?: boolean
  diff?: boolean
}

export function command(): Command {
  const plan = new Command('plan')
    .description('Show, edit or compare the plan of a session.')
    .argument('[case]', 'Its id, the start of its id, or part of its title. Default: choose one.')
    .addArgument(sessionArgument('the newest that waits for approval'))
    .option('--edit', 'Edit it with $VISUAL or $EDITOR.')
    .option('--diff', 'Show changes since the previous revision.')
    .action(async (name: string | undefined, word: string | undefined, options: Options) => {
      const { edit, diff } = options
      if (edit && diff) throw usageError('Choose one of --edit and --diff.')
      if (edit) {
        await withService(options, async (context) =>
          editPlan(context, await sessionOf(context, name, word)),
        )
      } else {
        await withReader(options, async (context) => {
          const session = await sessionOf(context, name, word)
          return diff ? showChange(context, session) : show(context, session)
        })
      }
    })
  return explain(plan, {
    examples: [
      ['casefile plan "sign-in"', 'Steps that would run are marked.'],
      ['casefile plan c12d 2 --edit', 'Change it before you approve it.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function sessionOf(
  context: ReadContext,
  name: string | undefined,
  word: string | undefined,
): Promise<SessionJson> {
  const id = await resolveOrChooseCase(context, name, {
    command: 'plan',
    needs: 'plan',
    what: 'a plan to approve',
  })
  return resolveSession(context.client, id, word, { waiting: true })
}

async function show(context: ReadContext, session: SessionJson): Promise<ExitCode> {
  const { terminal, json } = context
  if (json) terminal.print(jsonText(session))
  else if (session.state === 'plan_ready') await printPlanned(context, session)
  else await printPlan(context, session, null)
  return EXIT.done
}

/** Sends only a changed text, and only for the session that it was read from. */
async function editPlan(context: CommandContext, { case_id, id }: SessionJson): Promise<ExitCode> {
  const { client, terminal, json, signal } = context
  const path = sessionPath({ case_id, id })
  const { body: session, etag } = await client.request('GET', path)
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited(session.plan, { name: 'plan.md', signal, onSaved }, async (plan) => {
    if (plan === session.plan) {
      terminal.warn('the plan was not changed')
      if (json) terminal.print(jsonText(session))
      return
    }
    const headers = { 'if-match': etag ?? '*' }
    const answer = await client.request('PUT', `${path}/plan`, { body: { plan }, headers })
    if (json) terminal.print(jsonText(answer.body))
    else await printPlanned(context, answer.body)
  })
  return EXIT.done
}

/** Prints the changes since the revision before. */
async function showChange(context: ReadContext, session: SessionJson): Promise<ExitCode> {
  const { client, terminal, json } = context
  const { body } = await client.request('GET', `${sessionPath(session)}/plans`)
  const revisions: PlanRevisionJson[] = body
  if (json) {
    terminal.print(jsonText(revisions))
    return EXIT.done
  }
  const index = revisions.findIndex(({ current }) => current)
  const [now, before] = [revisions[index], earlierOf(revisions, index)]
  if (!now || !before) {
    terminal.warn('this plan has no earlier text: it is the first, or identical to those before it')
    return EXIT.done
  }
  if (now.text === null || before.text === null) {
    terminal.warn('the text of the earlier plan is not on this machine')
    return EXIT.done
  }
  if (now.note) terminal.print(`${shownLine(now.note)}\n\n`)
  terminal.print(changeText(terminal, before.text, now.text))
  return EXIT.done
}

/** Works for any order of the list. */
function earlierOf(
  revisions: readonly PlanRevisionJson[],
  index: number,
): PlanRevisionJson | undefined {
  const now = revisions[index]
  if (!now) return undefined
  return revisions
    .filter((each, at) => at !== index && each.at <= now.at)
    .sort((a, b) => (a.at < b.at ? 1 : -1))[0]
}
