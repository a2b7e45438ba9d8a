import type { ApprovalViewJson } from '../../http/schemas/approval-view.ts'
import type { CaseJson } from '../../http/schemas/case.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { UNCHANGED_PLAN } from '../../model/history-acts.ts'
import { planViolationText } from '../../model/plan-violation.ts'
import { providerText } from '../../model/session.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { ReadContext } from '../context.ts'
import { approvalOf, printUncommitted } from './approval-text.ts'
import { shownLine } from './shown-line.ts'
import { sayStatus } from './status-text.ts'
import type { Terminal } from './terminal.ts'
import { wrapped } from './wrapped.ts'

type Speaking = Pick<ReadContext, 'client' | 'terminal' | 'workspace'>

/** Prints the plan of a session, and what comes next. */
export async function printPlanned(console: Speaking, session: SessionJson): Promise<void> {
  const { terminal } = console
  const { case_id, number, state, problems } = session
  const approval = state === 'plan_ready' ? await approvalOf(console, session) : null
  await printPlan(console, session, approval)
  if (approval) printUncommitted(console, approval, session)
  const place = `${case_id.slice(0, 8)} ${number}`
  for (const { message } of problems)
    terminal.print(`${terminal.color.red('!')} ${shownLine(message)}\n`)
  terminal.say('')
  await sayStatus(console, case_id, session)
  if (state === 'plan_ready')
    terminal.say(`Or: casefile revise ${place}, or casefile session comment, plan --edit, stop`)
}

function signatureText(
  { color }: Terminal,
  { state, signer, key, reason }: NonNullable<SessionJson['signature']>,
): string {
  const by = shownLine(`${signer ?? ''} ${key ?? ''}`.trim())
  if (state === 'valid') return color.green(`✓ approval signed by ${by}`)
  return color.red(`! approval signature ${state.replace('_', ' ')}: ${shownLine(reason ?? by)}`)
}

/** Prints hypothesis and plan, with marks on the steps that will run. `approval`: null unless the plan waits. */
export async function printPlan(
  console: Speaking,
  session: SessionJson,
  approval: ApprovalViewJson | null,
): Promise<void> {
  const { client, terminal } = console
  const { color } = terminal
  const { number, hypothesis, plan, case_id } = session
  const { title }: CaseJson = (await client.request('GET', `/cases/${case_id}`)).body
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
  const { plan_violation: violation } = session.findings
  if (violation) {
    const text = `${planViolationText(violation)}, perhaps by you. The diff has that too, and proof of this session needs a reason to count.`
    terminal.print(
      `\n${color.red('!')} ${wrapped(visibleText(text), terminal.width() - 2, '  ')}\n`,
    )
  }
  if (plan === '') return
  if (approval?.plan_unchanged) {
    terminal.print(`\n${color.yellow('!')} ${UNCHANGED_PLAN}\n`)
  }
  // loaded only when a plan is shown, because it loads all agents
  const { viewPlan } = await import('./plan-view.ts')
  const untrusted = approval?.objection ?? null
  const text = await viewPlan(console, session, { untrusted, comments: session.comments.list })
  terminal.print(`\n${color.bold('Plan')}\n${text}`)
}
