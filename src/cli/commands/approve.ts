import { confirm } from '../../demo/question.ts'
import { Refusal } from '../../model/refusal.ts'
import { durationsText } from '../../model/session-durations.ts'
import { isArtifactOf } from '../../runners/output/artifacts.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { exitOf, follow, reread } from '../follow/follow.ts'
import { resolveCase } from '../resolve/case.ts'
import { type SessionJson, resolveSession, sessionPath } from '../resolve/session.ts'
import { jsonText } from '../output/json.ts'
import { wrongUsage } from '../usage.ts'
import { mustOutlast } from './detached.ts'
import { changeText } from './plan-change.ts'
import { printPlan, sayFailed } from './planned.ts'

export interface ApproveOptions extends ConsoleOptions {
  yes?: boolean
  sha?: string
  detach?: boolean
}

/**
 * `casefile approve`: shows the plan, asks, and approves exactly what was shown; a plan that changed
 * meanwhile is shown and asked for anew. Then the run is followed to its end.
 */
export async function approve(
  console: Console,
  name: string,
  word: string | undefined,
  options: ApproveOptions,
): Promise<ExitCode> {
  const { client, terminal, json } = console
  mustBeAnswerable(console, options)
  if (options.detach) mustOutlast(console, 'run')
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word, { waiting: true })
  mustWait(session)
  const approved = await decide(console, session, options)
  if (approved === null) {
    terminal.warn('not approved, so nothing runs')
    return EXIT.notApproved
  }
  if (options.detach) {
    if (json) terminal.print(jsonText(approved))
    else terminal.print(`session ${session.number} runs; casefile tail ${id.slice(0, 8)}\n`)
    return EXIT.done
  }
  const done = await follow(console, approved, { from: 'plan_approved', silent: json })
  if (json) terminal.print(jsonText(done))
  else if (done.state === 'complete') sayNext(console, done)
  else if (done.state === 'failed') sayFailed(terminal, done)
  return exitOf(done)
}

/** The session once it is approved; null where the answer was no. */
async function decide(
  console: Console,
  first: SessionJson,
  { yes, sha }: ApproveOptions,
): Promise<SessionJson | null> {
  const { client, terminal, json, signal } = console
  const approveText = async (session: SessionJson, plan_sha256: string | null) =>
    (await client.request('POST', `${sessionPath(session)}/approve`, { body: { plan_sha256 } })).body
  if (sha !== undefined) return approveText(first, sha)
  if (!json) await printPlan(console, first)
  for (let shown = first; ; ) {
    const question = `\nApprove this plan of session ${shown.number}? [y/N] `
    if (!yes && !(await confirm(question, signal))) return null
    try {
      return await approveText(shown, shown.plan_sha256)
    } catch (error) {
      if (yes || !(error instanceof Refusal) || error.code !== 'plan_changed') throw error
      const present = await reread(console, shown)
      mustWait(present)
      terminal.print(`\n${changeText(terminal, shown.plan, present.plan)}\n`)
      await printPlan(console, present)
      terminal.warn(
        'the plan changed while you read it, so it was not approved; this is the new one',
      )
      shown = present
    }
  }
}

function mustBeAnswerable({ terminal, json }: Console, { yes, sha }: ApproveOptions): void {
  if (yes || sha !== undefined || (terminal.canAsk && !json)) return
  throw wrongUsage(
    'Approving asks first, and there is no terminal to ask on. Say it in advance: --yes for the plan as it stands now, or --sha with the plan_sha256 that you have read (casefile plan … --json).',
  )
}

/** Also keeps an approval from reaching a plan that nobody has seen yet. */
function mustWait({ number, state, plan_sha256, case_id }: SessionJson): void {
  if (state === 'plan_ready' && plan_sha256 !== null) return
  const next =
    state === 'planning' || state === 'created'
      ? `Wait for its plan: casefile tail ${case_id.slice(0, 8)} ${number}`
      : `Start a new one: casefile start ${case_id.slice(0, 8)}`
  const code = state === 'approved' || state === 'executing' ? 'already_active' : 'wrong_state'
  throw new Refusal(
    code,
    `Session ${number} is ${state}, so it has no plan that waits for approval. ${next}`,
  )
}

/** The names of candidates come from a file, and these lines are for copying: any other name is left out. */
export function sayNext(
  { terminal }: Pick<Console, 'terminal'>,
  {
    case_id,
    number,
    candidates,
    durations,
  }: Pick<SessionJson, 'case_id' | 'number' | 'candidates' | 'durations'>,
): void {
  const id = case_id.slice(0, 8)
  const known = candidates.filter(({ artifact }) => isArtifactOf(artifact, number))
  const reports = known.filter(({ artifact }) => !artifact.endsWith('.log'))
  const took = durationsText(durations)
  terminal.say(`session ${number} is complete${took === '' ? '' : `: ${took}`}`)
  for (const { artifact } of (reports.length > 0 ? reports : known).slice(0, 3)) {
    terminal.say(`  casefile proof add ${id} --artifact ${artifact}`)
  }
  terminal.say(`  casefile resolve ${id}`)
}
