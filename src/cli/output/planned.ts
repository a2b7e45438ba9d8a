import type { CaseJson } from '../../http/schemas/case.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import { counted } from '../../model/amounts.ts'
import { UNCHANGED_PLAN } from '../../model/history-acts.ts'
import { planViolationText } from '../../model/plan-violation.ts'
import { providerText } from '../../model/session.ts'
import { durationsText } from '../../model/session-durations.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { ReadContext } from '../context.ts'
import { commentsOf } from '../resolve/comment.ts'
import { shownLine } from './shown-line.ts'
import type { Terminal } from './terminal.ts'
import { printUncommitted } from './uncommitted-text.ts'
import { wrapped } from './wrapped.ts'

type Speaking = Pick<ReadContext, 'client' | 'terminal' | 'workspace'>

/** Prints the plan of a session, and the next commands. */
export async function printPlanned(console: Speaking, session: SessionJson): Promise<void> {
  const { terminal } = console
  const objection = await printPlan(console, session)
  const { case_id, number, state, problems } = session
  if (state === 'plan_ready') await printUncommitted(console, session)
  const place = `${case_id.slice(0, 8)} ${number}`
  for (const { message } of problems)
    terminal.print(`${terminal.color.red('!')} ${shownLine(message)}\n`)
  if (state === 'failed') return sayFailed(terminal, session)
  if (state !== 'plan_ready') {
    terminal.say(`session ${number} is ${state}\nNext: casefile tail ${place}`)
    return
  }
  const canRun = (await readPlan(session.plan)).errors.length === 0
  const [how, first] = !canRun
    ? ['has a plan that cannot run', null]
    : objection === null
      ? ['needs your approval', [`casefile approve ${place}`, 'run exactly this plan']]
      : ['cannot be approved yet', ['casefile trust', 'review what is not trusted, and trust it']]
  terminal.say(`\nsession ${number} ${how}. Next, one of:`)
  for (const [command = '', what] of [
    ...(first === null ? [] : [first]),
    [`casefile plan ${place} --edit`, 'change it yourself'],
    [`casefile comment ${place} --line …`, 'comment on a line'],
    session.comments.draft === 0
      ? [`casefile revise ${place} -m "…"`, 'request another plan']
      : [
          `casefile revise ${place}`,
          `send ${counted(session.comments.draft, 'comment')}, and request another plan`,
        ],
    [`casefile abandon ${place}`, 'stop the session'],
  ]) {
    terminal.say(`  ${command.padEnd(36)} ${what}`)
  }
}

/** The next commands after a failed session. */
export function sayFailed(
  terminal: Terminal,
  {
    case_id,
    number,
    provider,
    durations,
    failure,
    origin,
  }: Pick<SessionJson, 'case_id' | 'number' | 'provider' | 'durations' | 'failure' | 'origin'>,
): void {
  const place = case_id.slice(0, 8)
  const took = durationsText(durations)
  const why = failure === null ? '' : `: ${shownLine(failure)}`
  const facts = took === '' ? '' : ` (${took})`
  terminal.say(`\nsession ${number} failed${why}${facts}. Next, one of:`)
  const again = `casefile start ${place} --again ${number}`
  const sees =
    provider === OWN_PROVIDER ? 'once its steps are right' : 'the agent sees this failure'
  for (const [command, what] of [
    // the next prompt in the terminal begins a session; the service does not start its agent
    ...(origin === 'terminal' ? [] : [[again, `plan again; ${sees}`] as const]),
    [`casefile show ${place} ${number}`, 'read its output and failed tests'],
    [`casefile state ${place} open`, 'leave it for later'],
  ] as const) {
    terminal.say(`  ${command.padEnd(34)} ${what}`)
  }
}

function signatureText(
  { color }: Terminal,
  { state, signer, key, reason }: NonNullable<SessionJson['signature']>,
): string {
  const by = shownLine(`${signer ?? ''} ${key ?? ''}`.trim())
  if (state === 'valid') return color.green(`✓ approval signed by ${by}`)
  return color.red(`! approval signature ${state.replace('_', ' ')}: ${shownLine(reason ?? by)}`)
}

/**
 * Prints hypothesis and plan, with marks on the steps that will run. Returns which missing trust prevents an approval.
 */
export async function printPlan(console: Speaking, session: SessionJson): Promise<string | null> {
  const { client, terminal } = console
  const { color } = terminal
  const { number, hypothesis, plan, case_id } = session
  const { title, workdir }: CaseJson = (await client.request('GET', `/cases/${case_id}`)).body
  const named = `${color.cyan(case_id.slice(0, 8))}  ${visibleText(title)}`
  terminal.print(`${wrapped(named, terminal.width(), ' '.repeat(10))}\n`)
  terminal.print(
    `${color.bold(`Session ${number}`)}  ${session.type} by ${shownLine(providerText(session))}\n`,
  )
  if (session.signature) terminal.print(`${signatureText(terminal, session.signature)}\n`)
  if (hypothesis.trim() !== '') {
    const lines = hypothesis
      .trim()
      .split(/\r\n|\n|\r/)
      .map((line) => wrapped(`  ${shownLine(line)}`, terminal.width()).trimEnd())
    terminal.print(`\n${color.bold('Hypothesis')}\n${lines.join('\n')}\n`)
  }
  if (session.plan_violation) {
    const text = `${planViolationText(session.plan_violation)}, perhaps by you. The diff has that too, and proof of this session needs a reason to count.`
    terminal.print(
      `\n${color.red('!')} ${wrapped(visibleText(text), terminal.width() - 2, '  ')}\n`,
    )
  }
  if (plan === '') return null
  if (session.plan_unchanged && session.state === 'plan_ready') {
    terminal.print(`\n${color.yellow('!')} ${UNCHANGED_PLAN}\n`)
  }
  // loaded only when a plan is shown, because it loads all agents
  const { viewPlan } = await import('./plan-view.ts')
  const comments = await commentsOf(client, session)
  const { text, objection } = await viewPlan(console, session, workdir, comments)
  terminal.print(`\n${color.bold('Plan')}\n${text}`)
  return objection
}
