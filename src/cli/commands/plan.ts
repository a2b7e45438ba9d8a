import type { Console, ConsoleOptions } from '../console.ts'
import { withEdited } from '../edited-text.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { type SessionJson, resolveSession, sessionPath } from '../resolve/session.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { wrongUsage } from '../usage.ts'
import { changeText } from './plan-change.ts'
import { printPlan, printPlanned } from './planned.ts'

export interface PlanOptions extends ConsoleOptions {
  edit?: boolean
  diff?: boolean
}

interface Revision {
  plan_sha256: string
  at: string
  by: string
  current: boolean
  note: string | null
  text: string | null
}

/** `casefile plan`: shows the plan of a session, what was changed in it, or has it edited. */
export async function plan(
  console: Console,
  name: string,
  word: string | undefined,
  { edit, diff }: PlanOptions,
): Promise<ExitCode> {
  const { client, terminal, json } = console
  if (edit && diff) throw wrongUsage('Choose one of --edit and --diff.')
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word, { waiting: true })
  if (edit) return editPlan(console, session)
  if (diff) return showChange(console, session)
  if (json) terminal.print(jsonText(session))
  else if (session.state === 'plan_ready') await printPlanned(console, session)
  else await printPlan(console, session)
  return EXIT.done
}

/** Only what was edited is sent, and only for the session that it was read from. */
async function editPlan(console: Console, { case_id, id }: SessionJson): Promise<ExitCode> {
  const { client, terminal, json, signal } = console
  const path = sessionPath({ case_id, id })
  const { body: session, etag } = await client.request('GET', path)
  const kept = (file: string) => terminal.warn(`what you wrote is kept in ${file}`)
  await withEdited(session.plan, { name: 'plan.md', signal, kept }, async (plan) => {
    if (plan === session.plan) {
      terminal.warn('the plan was left as it is')
      if (json) terminal.print(jsonText(session))
      return
    }
    const headers = { 'if-match': etag ?? '*' }
    const answer = await client.request('PUT', `${path}/plan`, { body: { plan }, headers })
    if (json) terminal.print(jsonText(answer.body))
    else await printPlanned(console, answer.body)
  })
  return EXIT.done
}

/** What the plan says that the revision before it did not. */
async function showChange(console: Console, session: SessionJson): Promise<ExitCode> {
  const { client, terminal, json } = console
  const { body } = await client.request('GET', `${sessionPath(session)}/plans`)
  const revisions = body as Revision[]
  if (json) {
    terminal.print(jsonText(revisions))
    return EXIT.done
  }
  const index = revisions.findIndex(({ current }) => current)
  const [now, before] = [revisions[index], earlierOf(revisions, index)]
  if (!now || !before) {
    terminal.warn('this is the first plan of the session: there is none before it')
    return EXIT.done
  }
  if (now.text === null || before.text === null) {
    terminal.warn('the text of the plan before is not kept on this machine')
    return EXIT.done
  }
  if (now.note) terminal.print(`${shownLine(now.note)}\n\n`)
  terminal.print(changeText(terminal, before.text, now.text))
  return EXIT.done
}

/** Whichever way the list is sorted. */
function earlierOf(revisions: readonly Revision[], index: number): Revision | undefined {
  const now = revisions[index]
  if (!now) return undefined
  return revisions
    .filter((each, at) => at !== index && each.at <= now.at)
    .sort((a, b) => (a.at < b.at ? 1 : -1))[0]
}
